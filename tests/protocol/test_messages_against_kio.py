"""Every message in every version, compared with kio: the same bytes for the same values, in both directions."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.serial import entity_reader, entity_writer

from ..each_case import each_case
from ..run_counts import count
from .kio_entities import as_message, entities
from .message_catalog import MESSAGE_VERSIONS, MessageVersion

# A few drawn values of each of about 560 messages, the same in every run.
FEW = settings(
    max_examples=count(5, in_slice=3),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def kio_bytes(entity: Any, entity_class: type[Any]) -> bytes:
    buffer = io.BytesIO()
    entity_writer(entity_class)(buffer, entity)
    return buffer.getvalue()


@pytest.mark.deep
@pytest.mark.slice
@each_case(MESSAGE_VERSIONS)
@FEW
@given(data=st.data())
def test_kio_writes_and_reads_the_same_bytes(message_version: MessageVersion, data: st.DataObject) -> None:
    entity = data.draw(entities(message_version.entity_class))
    message = as_message(entity, message_version.message_class)

    ours = message_version.encoded(message)
    theirs = kio_bytes(entity, message_version.entity_class)

    assert ours == theirs
    assert entity_reader(message_version.entity_class)(ours, 0) == (entity, len(ours))
    assert message_version.decoded(theirs) == message
