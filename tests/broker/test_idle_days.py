"""Expiry of sessions, producers, records and offsets by the cluster's clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fauxka.broker.replica.producer_faults import known_producers
from fauxka.client.broker_connection import BrokerConnection
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)

from .blocking_client import batch
from .running_node import Node, wait_until

HOUR_MS = 3600 * 1000
DAY_MS = 24 * HOUR_MS


@pytest.fixture(params=["in memory", "on disk"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    """A hundred partitions, a record, a producer, a group with a member, and a committed offset of another group."""
    data_dir = None if request.param == "in memory" else tmp_path / "data"
    with Node(data_dir, config={"group.initial.rebalance.delay.ms": "0"}) as node:
        with node.client() as client:
            client.create_topic("events", 100)
            client.produce("events", batch(b"1", producer_id=5, sequence=0))
        host, _, port = node.address.rpartition(":")
        with closing(BrokerConnection(host, int(port), timeout_seconds=10, response_bytes_max=1 << 16)) as connection:
            assert connection.send_request(ApiKey.JOIN_GROUP, 3, join_request(), JoinGroupResponse.read).error_code == 0
            answer = connection.send_request(ApiKey.OFFSET_COMMIT, 7, commit_request(), OffsetCommitResponse.read)
            assert answer.topics[0].partitions[0].error_code == 0
            yield node


def advance(node: Node, by_ms: int) -> None:
    node.call(lambda: node.cluster.clock.advance(by_ms))


def groups(node: Node) -> dict[str, str]:
    return {
        group.group_id: group.group_state
        for group in node.call(lambda: node.cluster.node.coordinators.groups.list_groups((), ()))
    }


def test_nothing_expires_within_seconds(node: Node) -> None:
    advance(node, 5_000)

    assert groups(node) == {"members": "CompletingRebalance", "committers": "Empty"}
    assert len(known_producers(node.cluster.node.replicas.partitions())) == 1


def test_session_expires_after_its_timeout(node: Node) -> None:
    advance(node, 20_000)

    assert groups(node)["members"] == "Empty"


def test_producer_expires_after_a_day_and_nothing_else(node: Node) -> None:
    advance(node, DAY_MS + 20 * 60_000)

    assert known_producers(node.cluster.node.replicas.partitions()) == []
    assert node.cluster.node.replicas.partition_of("events", 0).log.log_start_offset == 0
    assert node.cluster.node.coordinators.groups.offsets.find("committers", "events", 0) is not None


def test_records_and_offsets_expire_within_eight_days(node: Node) -> None:
    advance(node, 8 * DAY_MS)

    assert node.cluster.node.replicas.partition_of("events", 0).log.log_start_offset == 1
    assert groups(node) == {}
    assert node.cluster.node.coordinators.groups.offsets.find("committers", "events", 0) is None
    with node.client() as client:
        assert client.fetch("events", 1).high_watermark == 1


def test_a_record_and_a_producer_of_after_eight_days_are_kept(node: Node) -> None:
    advance(node, 8 * DAY_MS)
    with node.client() as client:
        written = client.produce("events", batch(b"2", producer_id=5, sequence=1))

    advance(node, HOUR_MS)

    log = node.cluster.node.replicas.partition_of("events", 0).log
    assert (written.error_code, written.base_offset) == (0, 1)
    assert (log.log_start_offset, log.log_end_offset) == (1, 2)
    assert [known.entry.last_sequence for known in known_producers(node.cluster.node.replicas.partitions())] == [1]

    advance(node, 8 * DAY_MS)
    assert log.log_start_offset == 2
    assert known_producers(node.cluster.node.replicas.partitions()) == []


def test_a_record_of_after_eight_days_is_kept_by_a_crash_and_a_restored_snapshot(node: Node) -> None:
    advance(node, 8 * DAY_MS)
    with node.client() as client:
        client.produce("events", batch(b"2", producer_id=5, sequence=1))
    snapshot = None if node.cluster.node.replicas.is_on_disk else node.take_snapshot()
    node.crash()
    node.restart()

    advance(node, HOUR_MS)
    after_crash = kept(node)
    if snapshot is not None:
        node.restore(snapshot)
    advance(node, HOUR_MS)

    assert after_crash == kept(node) == ([5], 1, 2)


def kept(node: Node) -> tuple[list[int], int, int]:
    """Return the producer ids and the bounds of the log."""
    log = node.cluster.node.replicas.partition_of("events", 0).log
    producers = [known.entry.producer_id for known in known_producers(node.cluster.node.replicas.partitions())]
    return producers, log.log_start_offset, log.log_end_offset


def test_a_record_with_bounded_timestamps_is_accepted_after_eight_days(node: Node) -> None:
    with node.client() as client:
        client.create_topic("bounded", 1, {"message.timestamp.before.max.ms": str(HOUR_MS)})
    advance(node, 8 * DAY_MS)

    with node.client() as client:
        assert client.produce("bounded", batch(b"1")).error_code == 0


def test_files_of_deleted_segments_are_deleted_within_the_same_advance(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node:
        with node.client() as client:
            client.create_topic("events", 1)
            client.produce("events", batch(b"1"))

        advance(node, 9 * DAY_MS)

        wait_until(lambda: not list((tmp_path / "data" / "events-0").glob("*.deleted")))
        names = sorted(path.name for path in (tmp_path / "data" / "events-0").glob("*.log"))
        assert names == [f"{1:020d}.log"]


def join_request() -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="members",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


def commit_request() -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = OffsetCommitRequestTopic(name="events", partitions=[partition])
    return OffsetCommitRequest(group_id="committers", topics=[topic])
