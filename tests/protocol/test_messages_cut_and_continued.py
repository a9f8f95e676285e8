"""Every message in every version: whole, truncated, with bytes after it, and with unknown tagged fields."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..each_case import each_case
from .decoder_checks import check_decoder
from .kio_entities import as_message, entities
from .message_catalog import MESSAGE_VERSIONS, MessageVersion
from .test_messages_against_kio import FEW

# The first drawn value is the simplest, all empty; the second one is not.
FEWER = settings(FEW, max_examples=2)

# One field: tag 1000, three bytes.
UNKNOWN_TAGGED_FIELD = b"\x01\xe8\x07\x03abc"


@pytest.mark.deep
@pytest.mark.slice
@each_case(MESSAGE_VERSIONS)
@FEWER
@given(data=st.data())
def test_whole_frame_alone_gives_the_message(message_version: MessageVersion, data: st.DataObject) -> None:
    entity = data.draw(entities(message_version.entity_class))
    message = as_message(entity, message_version.message_class)

    check_decoder(message_version.read, message_version.encoded(message), message)


@each_case(MESSAGE_VERSIONS)
def test_default_message_can_be_written_and_read(message_version: MessageVersion) -> None:
    default = message_version.message_class()

    assert message_version.decoded(message_version.encoded(default)) == default


def flexible_versions() -> list[MessageVersion]:
    return [each for each in MESSAGE_VERSIONS if each.entity_class.__flexible__]


@each_case(flexible_versions)
def test_unknown_tagged_field_is_skipped(message_version: MessageVersion) -> None:
    default = message_version.message_class()
    encoded = message_version.encoded(default)
    assert encoded.endswith(b"\x00"), "a default message has no tagged fields"

    assert message_version.decoded(encoded[:-1] + UNKNOWN_TAGGED_FIELD) == default
