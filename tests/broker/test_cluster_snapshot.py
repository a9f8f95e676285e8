"""Snapshots of a cluster: take, restore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.broker.coordinators.group.group import OffsetCommitter
from fauxka.broker.coordinators.group.group_offsets import OffsetToCommit
from fauxka.broker.lifecycle.cluster_snapshot import SnapshotError
from fauxka.broker.replica.producer_faults import ProducerChange, change_producer, known_producers
from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.error_codes import ErrorCode

from ..storage.logs import records_in
from .blocking_client import BROKER, TOPIC, BlockingClient, batch
from .running_node import Node

COMMITTED = OffsetToCommit(topic_name="events", partition=0, offset=3, leader_epoch=0, metadata="here")


@pytest.fixture
def node() -> Iterator[Node]:
    """Producer 5 has written sequences 0 to 6 to events-0."""
    with Node() as node:
        with node.client() as client:
            client.create_topic("events", 2, {"retention.ms": "1234567"})
            write(client, range(7))
        yield node


def write(client: BlockingClient, sequences: range) -> None:
    for sequence in sequences:
        answer = client.produce("events", batch(b"%d" % sequence, producer_id=5, sequence=sequence))
        assert (answer.error_code, answer.base_offset) == (0, sequence)


def values(client: BlockingClient) -> list[bytes | None]:
    return [record.value for record in records_in(bytes(client.fetch("events").records or b""))]


def test_each_restore_drops_the_later_records(node: Node) -> None:
    snapshot = node.take_snapshot()
    for round_number in range(3):
        with node.client() as client:
            write(client, range(7, 10 + round_number))

        node.restore(snapshot)

        with node.client() as client:
            assert values(client) == [b"%d" % sequence for sequence in range(7)]


def test_restoring_an_earlier_snapshot_does_not_change_a_later_one(node: Node) -> None:
    earlier = node.take_snapshot()
    with node.client() as client:
        write(client, range(7, 9))
    later = node.take_snapshot()

    node.restore(earlier)
    with node.client() as client:
        client.produce("events", batch(b"other"))
    node.restore(later)

    with node.client() as client:
        assert values(client) == [b"%d" % sequence for sequence in range(9)]


def test_the_last_five_batches_are_detected_as_duplicates_after_a_restore(node: Node) -> None:
    snapshot = node.take_snapshot()
    with node.client() as client:
        write(client, range(7, 12))

    node.restore(snapshot)

    with node.client() as client:
        for sequence in range(2, 7):
            again = client.produce("events", batch(b"again", producer_id=5, sequence=sequence))
            assert (again.error_code, again.base_offset) == (0, sequence)
        write(client, range(7, 8))


def test_injected_changes_of_producer_state_are_in_the_snapshot(node: Node) -> None:
    node.call(
        lambda: change_producer(node.cluster.node.replicas.partitions(), ProducerChange.EVICT_CACHE, producer_id=5)
    )
    evicted = node.take_snapshot()
    node.call(lambda: change_producer(node.cluster.node.replicas.partitions(), ProducerChange.FORGET, producer_id=5))
    forgotten = node.take_snapshot()

    node.restore(evicted)
    with node.client() as client:
        assert client.produce("events", batch(b"6", producer_id=5, sequence=6)).error_code == (
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        )
    node.restore(forgotten)
    assert node.call(lambda: known_producers(node.cluster.node.replicas.partitions())) == []


def test_topics_and_configs_are_restored_and_producer_ids_continue(node: Node) -> None:
    with node.client() as client:
        ids = client.topic_ids()
        client.set_config(BROKER, "1", "message.max.bytes", "7654321")
        snapshot = node.take_snapshot()
        client.delete_topic("events")
        client.create_topic("others", 3)
        latest = client.producer_id()
        client.set_config(BROKER, "1", "message.max.bytes", "8654321")

    node.restore(snapshot)

    with node.client() as client:
        assert (client.topic_ids(), client.partition_counts()) == (ids, {"events": 2})
        assert client.config(TOPIC, "events", "retention.ms") == "1234567"
        assert client.config(BROKER, "1", "message.max.bytes") == "7654321"
        assert client.producer_id() == latest + 1


def test_committed_offsets_are_unchanged_and_their_groups_are_empty(node: Node) -> None:
    node.call(
        lambda: node.cluster.node.coordinators.groups.offsets.commit(
            OffsetCommitter(group_id="group", api_version=9), [COMMITTED]
        )
    )
    committed = node.cluster.node.coordinators.groups.offsets.find("group", "events", 0)
    snapshot = node.take_snapshot()
    node.call(lambda: node.cluster.node.coordinators.groups.delete_group("group"))

    node.restore(snapshot)

    (group,) = node.call(lambda: node.cluster.node.coordinators.groups.list_groups((), ()))
    assert (group.group_id, group.group_state) == ("group", "Empty")
    assert node.cluster.node.coordinators.groups.offsets.find("group", "events", 0) == committed
    assert committed is not None
    assert (committed.offset, committed.leader_epoch, committed.metadata) == (3, 0, "here")


def test_restore_brings_back_the_log_start_offset(node: Node) -> None:
    log = node.cluster.node.replicas.partition_of("events", 0).log
    node.call(lambda: log.delete_records_before(2))
    snapshot = node.take_snapshot()
    node.call(lambda: log.delete_records_before(5))

    node.restore(snapshot)

    assert node.cluster.node.replicas.partition_of("events", 0).log.log_start_offset == 2


def test_restore_closes_connections_and_begins_a_higher_leader_epoch(node: Node) -> None:
    snapshot = node.take_snapshot()
    epochs: list[int] = []
    for _ in range(3):
        with node.client() as client:
            epochs.append(client.metadata().topics[0].partitions[0].leader_epoch)

            node.restore(snapshot)

            with pytest.raises(ConnectionFailed):
                client.metadata()

    assert epochs == sorted(set(epochs))


def test_a_node_that_crashed_after_the_snapshot_is_restarted(node: Node) -> None:
    snapshot = node.take_snapshot()
    node.crash()

    node.restore(snapshot)

    with node.client() as client:
        assert values(client) == [b"%d" % sequence for sequence in range(7)]


def test_a_cluster_with_a_data_folder_has_no_snapshots(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node, pytest.raises(SnapshotError, match="in memory"):
        node.take_snapshot()
