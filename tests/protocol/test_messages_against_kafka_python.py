"""Every message of kafka-python 3 in every version: each side reads what the other writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.messages.api_versions import ApiVersionsResponse

from ..each_case import each_case
from . import kafka_python_messages
from .kio_entities import as_message, entities
from .message_catalog import MessageVersion
from .test_messages_against_kio import FEW


@pytest.mark.deep
@pytest.mark.slice
@each_case(kafka_python_messages.KAFKA_PYTHON_VERSIONS)
@FEW
@given(data=st.data())
def test_values_pass_to_kafka_python_and_back(message_version: MessageVersion, data: st.DataObject) -> None:
    message = as_message(data.draw(entities(message_version.entity_class)), message_version.message_class)
    if isinstance(message, ApiVersionsResponse):
        # kafka-python reads a response with an error as version 0, whatever its version.
        message.error_code = 0

    ours = message_version.encoded(message)
    theirs = kafka_python_messages.encoded(message_version, message)

    assert kafka_python_messages.decoded(message_version, ours) == message
    assert message_version.decoded(theirs) == message
