"""The lag of a group is the end of the log less the committed offset, as Kafka's tool says it."""

from __future__ import annotations

import pytest

from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

from ..wire.message_client import MessageClient
from .transports import Broker


@pytest.mark.parametrize(("offset", "lag"), [(0, 3), (3, 0), (10, -7)])
def test_lag_is_negative_for_an_offset_after_the_end(offset: int, lag: int) -> None:
    with Broker() as broker:
        broker.topics.create("t")
        broker.topics.seed("t", [{"value": str(number)} for number in range(3)])
        connection = MessageClient(broker.bootstrap_servers)
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        topic = OffsetCommitRequestTopic(name="t", partitions=[partition])
        connection.call(OffsetCommitRequest(group_id="g", topics=[topic]), 8)
        connection.close()

        assert [each.lag for each in broker.groups.get("g").offsets] == [lag]
