"""OffsetFetch: an offset belongs to the topic that it was committed for, and not to a later one of the same name."""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.group.group import OffsetCommitter
from fauxka.broker.coordinators.group.group_offsets import OffsetToCommit
from fauxka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from fauxka.testing import Broker

from ...wire.message_client import MessageClient

BY_NAME, BY_ID = 9, 10
OTHER_ID = bytes(range(16))


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
@pytest.mark.parametrize(("is_of_this_topic", "expected"), [(True, 7), (False, -1)])
def test_only_offsets_of_the_topic_itself_are_returned(*, is_of_this_topic: bool, expected: int, version: int) -> None:
    with Broker() as broker:
        topic = broker.call(lambda: broker.cluster.controller.create_topic("events", 1))
        topic_id = topic.topic_id if is_of_this_topic else OTHER_ID
        committed = OffsetToCommit(topic_name="events", topic_id=topic_id, partition=0, offset=7)
        broker.call(
            lambda: broker.cluster.node.coordinators.groups.offsets.commit(
                OffsetCommitter(group_id="g", api_version=9), [committed]
            )
        )
        asked = OffsetFetchRequestTopics(name="events", topic_id=topic.topic_id, partition_indexes=[0])
        connection = MessageClient(broker.bootstrap_servers)

        answer = connection.call(
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=[asked])]), version
        )

        connection.close()
    assert isinstance(answer, OffsetFetchResponse)
    (told,) = answer.groups[0].topics[0].partitions
    assert (told.error_code, told.committed_offset) == (0, expected)
