"""flush.messages and groups: responses wait for the flush of their records, and a failed flush gives an error."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.testing import Broker

from ...golden.group_client import JOIN_LATEST, SYNC_LATEST, protocols_of
from ...wire.message_client import MessageClient
from ..steered_file_system import SteeredFileSystem, os_error

CONFIG = {
    "log.flush.interval.messages": "1",
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}
COMMIT_VERSION = 9


@pytest.fixture
def files() -> SteeredFileSystem:
    return SteeredFileSystem(MemoryFileSystem())


@pytest.fixture
def broker(files: SteeredFileSystem) -> Iterator[Broker]:
    with Broker(CONFIG, file_system=files) as broker:
        broker.call(lambda: broker.cluster.controller.create_topic("events", 1))
        yield broker


@pytest.fixture
def connection(broker: Broker) -> Iterator[MessageClient]:
    """A client whose first commit has created __consumer_offsets."""
    connection = MessageClient(broker.bootstrap_servers)
    assert commit(connection, "first", 1) == ErrorCode.NONE
    yield connection
    connection.close()


def commit(connection: MessageClient, group_id: str, offset: int) -> int:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    request = OffsetCommitRequest(
        group_id=group_id, topics=[OffsetCommitRequestTopic(name="events", partitions=[partition])]
    )
    response = connection.call(request, COMMIT_VERSION, OffsetCommitResponse)
    return response.topics[0].partitions[0].error_code


def joined(connection: MessageClient) -> JoinGroupResponse:
    """Return the response to a static member, which needs no second request."""
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        group_instance_id="i",
        protocol_type="consumer",
        protocols=protocols_of("range"),
    )
    return connection.call(request, JOIN_LATEST, JoinGroupResponse)


def assignment(connection: MessageClient, member: JoinGroupResponse) -> SyncGroupResponse:
    request = SyncGroupRequest(
        group_id="g",
        generation_id=member.generation_id,
        member_id=member.member_id,
        group_instance_id="i",
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=member.member_id, assignment=b"part")],
    )
    return connection.call(request, SYNC_LATEST, SyncGroupResponse)


def test_a_commit_is_flushed_before_its_response(connection: MessageClient, files: SteeredFileSystem) -> None:
    before = files.syncs

    error_code = commit(connection, "g", 1)

    assert (error_code, files.syncs - before) == (ErrorCode.NONE, 1)


def test_a_commit_that_cannot_be_flushed_gets_an_error(connection: MessageClient, files: SteeredFileSystem) -> None:
    files.sync_error = os_error(errno.EIO)

    assert commit(connection, "g", 1) == ErrorCode.NOT_COORDINATOR


def test_an_assignment_is_flushed_before_any_response(connection: MessageClient, files: SteeredFileSystem) -> None:
    member = joined(connection)
    before = files.syncs

    told = assignment(connection, member)

    assert (told.error_code, told.assignment, files.syncs - before) == (ErrorCode.NONE, b"part", 1)


def test_an_assignment_that_cannot_be_flushed_is_not_sent(connection: MessageClient, files: SteeredFileSystem) -> None:
    member = joined(connection)
    files.sync_error = os_error(errno.EIO)

    told = assignment(connection, member)

    assert (told.error_code, told.assignment) == (ErrorCode.NOT_COORDINATOR, b"")
