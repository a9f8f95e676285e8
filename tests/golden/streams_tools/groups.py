"""Streams groups in each state, made by members of tests.

No two partitions of the topics are in the same bucket of a Java hash table, so that a tool lists them in one order.
"""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import contextmanager

from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from fauxka.protocol.messages.streams_group_heartbeat import Topology

from ...reference.log_client import log_client
from ..raw_batches import batch
from ..streams_group_client import StreamsMember, settle, subtopology, topic, topology
from ..streams_group_recorder import StreamsGroupRecorder

VISITS, USERS = SOURCES = ("visits", "users")
PARTITIONS, RECORDS = 2, 10
# 14 November 2023, 22:13:20 UTC. A partition has a record each second.
FIRST_MS = 1_700_000_000_000
# Members need no heartbeats while the tools run.
SESSION_MS = "600000"
CONFIG = {
    "auto.create.topics.enable": "false",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.max.session.timeout.ms": SESSION_MS,
    "group.streams.session.timeout.ms": SESSION_MS,
}


@contextmanager
def group_maker(bootstrap: str) -> Generator[GroupMaker, None, None]:
    """Yield what makes the groups, on a fresh broker that gets the topics."""
    recorder = StreamsGroupRecorder(bootstrap, io.StringIO())
    _fill_topics(bootstrap)
    recorder.settle()
    recorder.expect_coordinator(0, "group")
    recorder.expect_loaded()
    yield GroupMaker(recorder)
    recorder.connection.close()


def _fill_topics(bootstrap: str) -> None:
    with log_client(bootstrap) as client:
        for name in SOURCES:
            client.create_topic(name, PARTITIONS, {"retention.ms": "-1"})
            for partition in range(PARTITIONS):
                client.wait_until_led(name, partition)
                for number in range(RECORDS):
                    client.append(name, batch(1, FIRST_MS + 1000 * number), partition)


def counts(group_id: str) -> Topology:
    """Return a topology of two subtopologies: the second one joins what the first one repartitions, and has a store."""
    repartition = f"{group_id}-by-customer-repartition"
    store = topic(f"{group_id}-store-changelog", cleanup_policy="compact")
    joined = subtopology("1", USERS, repartition=[topic(repartition)], changelogs=[store], joined=[([0], [0])])
    return topology(subtopology("0", VISITS, sinks=[repartition]), joined)


class GroupMaker:
    """Makes groups on one broker."""

    def __init__(self, recorder: StreamsGroupRecorder) -> None:
        self._recorder = recorder

    def with_tasks(self, group_id: str, *names: str) -> list[StreamsMember]:
        """Return the members of a group, each of which joined when those before it had their tasks."""
        members: list[StreamsMember] = []

        def have_tasks() -> bool:
            settle(*members, rounds=2)
            return self._recorder.described_streams(group_id).group_state == "Stable"

        for name in names:
            members.append(StreamsMember(self._recorder, group_id, name, counts(group_id)))
            members[-1].join()
            self._recorder.expect_that(have_tasks, f"the tasks of {group_id}")
        return members

    def without_source(self, group_id: str) -> None:
        """Have a member join whose source topic is missing."""
        StreamsMember(self._recorder, group_id, "d", topology(subtopology("0", "missing"))).join()

    def delete(self, group_id: str) -> None:
        """Delete a group without members."""
        response = self._recorder.call(DeleteGroupsRequest(groups_names=[group_id]), 2, DeleteGroupsResponse)
        assert [each.error_code for each in response.results] == [0], response

    def commit(self, group_id: str, member: StreamsMember | None = None) -> None:
        """Commit offset 3 of the first partitions, and offset 5 of the others."""
        topics = [
            OffsetCommitRequestTopic(
                name=name,
                partitions=[
                    OffsetCommitRequestPartition(partition_index=index, committed_offset=3 + 2 * index)
                    for index in range(PARTITIONS)
                ],
            )
            for name in SOURCES
        ]
        request = OffsetCommitRequest(group_id=group_id, topics=topics)
        if member is not None:
            request.member_id, request.generation_id_or_member_epoch = member.name, member.member_epoch
        response = self._recorder.call(request, 9, OffsetCommitResponse)
        errors = {partition.error_code for each in response.topics for partition in each.partitions}
        assert errors == {0}, response
