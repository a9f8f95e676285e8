"""A broker without the streams protocol."""

from __future__ import annotations

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse
from fauxka.testing import Broker

from ....wire.message_client import MessageClient


def test_log_names_what_serves_a_refused_application(caplog: pytest.LogCaptureFixture) -> None:
    with Broker({"group.coordinator.rebalance.protocols": "classic,consumer"}) as broker:
        client = MessageClient(broker.bootstrap_servers)
        request = StreamsGroupHeartbeatRequest(group_id="app", member_id="a", member_epoch=1)
        answer = client.call(request, 1, StreamsGroupHeartbeatResponse)
        client.close()

    assert (answer.error_code, answer.error_message) == (ErrorCode.UNSUPPORTED_VERSION, None)
    assert any("group.protocol=classic" in record.getMessage() for record in caplog.records)
