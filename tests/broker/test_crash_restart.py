"""Crash and restart of a node: effects on clients, lost state and recovered state."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import ClassVar, cast

import pytest

from fauxka.broker.lifecycle.crash_restart import LogEndOffsets, SnapshotFault
from fauxka.broker.replica.replication import Replication
from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.partition_log import PartitionLog

from ..manual_clock import manual_clock
from ..storage.logs import records_in
from .blocking_client import TOPIC, BlockingClient, batch
from .running_node import Node, wait_until
from .steered_file_system import HELD_SECONDS_MAX, SteeredFileSystem
from .topic_client import TopicClient

RESTART_MS = 5_000


@pytest.fixture(params=["in memory", "on disk", "on disk, flushed"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    """A node with the topic "events" of two partitions."""
    is_in_memory = request.param == "in memory"
    config = {"log.flush.interval.messages": "1"} if request.param.endswith("flushed") else {}
    with Node(None if is_in_memory else tmp_path / "data", config=config) as node:
        with node.client() as client:
            client.create_topic("events", 2)
        yield node


def values(client: BlockingClient, partition: int = 0) -> list[bytes | None]:
    """Return the values of all records of a partition."""
    found: list[bytes | None] = []
    while part := records_in(bytes(client.fetch("events", len(found), partition).records or b"")):
        found += [record.value for record in part]
    return found


def crash_and_restart(node: Node, snapshots: SnapshotFault | None = None) -> None:
    node.crash()
    node.restart(snapshots)


def test_crashed_node_refuses_connections_and_accepts_them_on_the_same_port_after_the_restart(node: Node) -> None:
    address = node.address

    node.crash()
    is_refusing, is_running = node.is_refusing(), node.server.is_running
    node.restart()

    assert (is_refusing, is_running) == (True, False)
    assert (node.is_refusing(), node.server.is_running, node.address) == (False, True, address)


def test_port_of_a_stopped_node_stays_reserved(node: Node) -> None:
    node.crash()
    port = int(node.address.rpartition(":")[2])

    with socket.socket() as taker, pytest.raises(OSError, match="in use"):
        taker.bind(("127.0.0.1", port))


def test_acknowledged_batch_is_in_the_log_once_and_its_retry_is_recognised(node: Node) -> None:
    with node.client() as client:
        for sequence in range(7):
            client.produce("events", batch(b"%d" % sequence, producer_id=5, sequence=sequence))

    crash_and_restart(node)

    with node.client() as client:
        again = client.produce("events", batch(b"6", producer_id=5, sequence=6))
        assert (again.error_code, again.base_offset) == (0, 6)
        assert client.produce("events", batch(b"7", producer_id=5, sequence=7)).base_offset == 7
        assert values(client) == [b"%d" % sequence for sequence in range(8)]


def test_topics_and_configs_survive_a_crash_and_no_producer_id_is_allocated_twice(node: Node) -> None:
    with node.client() as client:
        client.set_config(TOPIC, "events", "retention.ms", "1234567")
        ids, producer_id = client.topic_ids(), client.producer_id()

    crash_and_restart(node)

    with node.client() as client:
        assert (client.topic_ids(), client.partition_counts()) == (ids, {"events": 2})
        assert client.config(TOPIC, "events", "retention.ms") == "1234567"
        assert client.producer_id() == producer_id // 1000 * 1000 + 1000


def test_a_new_leader_epoch_begins_so_that_clients_check_for_truncation(node: Node) -> None:
    with node.client() as client:
        client.produce("events", batch(b"1"))
        before = client.metadata().topics[0].partitions[0].leader_epoch

    crash_and_restart(node)

    with node.client() as client:
        assert client.metadata().topics[0].partitions[0].leader_epoch == before + 1


def test_a_node_may_crash_repeatedly(node: Node) -> None:
    for life in range(4):
        with node.client() as client:
            assert client.produce("events", batch(b"%d" % life, producer_id=5, sequence=life)).base_offset == life
        crash_and_restart(node)

    with node.client() as client:
        assert values(client) == [b"0", b"1", b"2", b"3"]


def test_pending_response_is_dropped_when_the_node_crashes(node: Node) -> None:
    with TopicClient(node.address) as waiting, node.client() as client:
        waiting.send_fetch(max_wait_ms=60_000)
        wait_until(lambda: node.call(lambda: node.cluster.node.replicas.partition_of("events", 0).has_waiting))

        node.crash()

        with pytest.raises(ConnectionError):
            waiting.receive_fetched()
        with pytest.raises(ConnectionFailed):
            client.metadata()


def test_groups_and_fetch_sessions_are_deleted(node: Node) -> None:
    node.call(lambda: node.cluster.node.coordinators.groups.offsets)
    groups = node.call(lambda: node.cluster.node.coordinators.groups)

    crash_and_restart(node)

    assert node.call(lambda: node.cluster.node.coordinators.groups) is not groups
    assert len(node.cluster.node.fetch_sessions) == 0


def test_log_ends_before_and_after_are_reported_for_every_partition(node: Node) -> None:
    with node.client() as client:
        client.produce("events", batch(b"1"))
        client.produce("events", batch(b"2"), partition=1)
        client.produce("events", batch(b"3"), partition=1)

    crash_and_restart(node)

    assert node.ends == [LogEndOffsets("events", 0, 1, 1), LogEndOffsets("events", 1, 2, 2)]


def test_batch_that_was_damaged_on_the_disk_is_reported_as_lost(node: Node) -> None:
    with node.client() as client:
        client.produce("events", batch(b"1"))
        client.produce("events", batch(b"2"))
    node.crash()
    node.call(lambda: cut_last_byte(node, "events-0"))

    node.restart()

    assert node.ends[0] == LogEndOffsets("events", 0, 2, 1)
    with node.client() as client:
        assert values(client) == [b"1"]


def test_deleted_records_do_not_come_back_in_memory() -> None:
    with Node() as node:
        with node.client() as client:
            client.create_topic("events", 1)
            for each in range(3):
                client.produce("events", batch(b"%d" % each))
        node.call(lambda: node.cluster.node.replicas.partition_of("events", 0).log.delete_records_before(2))

        crash_and_restart(node)

        assert node.cluster.node.replicas.partition_of("events", 0).log.log_start_offset == 2


def test_timers_of_a_crashed_node_never_fire() -> None:
    clock = manual_clock()
    fired: list[str] = []
    with Node(clock=clock) as node:
        node.call(lambda: clock.call_later(10, lambda: fired.append("of the dead")))

        crash_and_restart(node)
        node.call(lambda: clock.call_later(20, lambda: fired.append("of the living")))
        node.call(lambda: clock.advance(100))

        assert fired == ["of the living"]


def test_retention_continues_after_a_restart() -> None:
    with Node(config={"log.retention.check.interval.ms": "1000"}) as node:
        with node.client() as client:
            client.create_topic("events", 1, {"retention.ms": "5000"})
            client.produce("events", batch(b"1"))
        crash_and_restart(node)

        node.call(lambda: node.cluster.clock.advance(10_000))

        assert log_of(node).log_start_offset == 1


def test_node_is_restarted_after_restart_after_ms_of_the_clusters_clock(node: Node) -> None:
    node.call(lambda: node.server.crash(RESTART_MS))
    node.call(lambda: node.cluster.clock.advance(RESTART_MS - 1_000))
    is_refusing = node.is_refusing()

    node.call(lambda: node.cluster.clock.advance(1_000))
    node.run(node.server.wait_restarted)

    assert (is_refusing, node.is_refusing()) == (True, False)


def test_crash_of_a_crashed_node_and_restart_of_a_running_node_have_no_effect(node: Node) -> None:
    node.restart()
    node.crash()
    node.crash()
    node.restart()
    node.restart()

    assert node.server.is_running


def test_crashed_node_can_be_stopped_and_the_next_start_up_recovers_its_folder(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node:
        with node.client() as client:
            client.create_topic("events", 1)
            client.produce("events", batch(b"1"))
        node.crash()

    with Node(tmp_path / "data") as node, node.client() as client:
        assert values(client) == [b"1"]


def test_another_node_of_the_process_is_not_affected(node: Node) -> None:
    with Node() as other, other.client() as client:
        client.create_topic("theirs", 1)
        node.crash()
        assert client.produce("theirs", batch(b"1")).error_code == 0
        node.restart()
        assert client.partition_counts() == {"theirs": 1}


def test_requests_behind_the_one_that_crashes_the_node_are_neither_applied_nor_answered(node: Node) -> None:
    """Five Produce requests in one write; the node crashes during the third, before its append."""
    appended = count_appends(node, dies_at=3)

    with TopicClient(node.address) as client:
        client.send_produce(0, 1, 2, 3, 4)
        answered = 0
        with pytest.raises(ConnectionError):
            while True:
                client.receive_produced()
                answered += 1
    node.restart()

    # A busy node may write the responses of those before.
    assert answered <= 2
    assert len(appended) == 3
    assert node.ends[0] == LogEndOffsets("events", 0, 2, 2)


def test_crash_drops_the_response_of_a_flush_and_keeps_the_written_batch() -> None:
    """The flush runs during the crash, and ends while the node is down."""
    files = SteeredFileSystem(MemoryFileSystem())
    with Node(file_system=files, config={"log.flush.interval.messages": "1"}) as node:
        with node.client() as client:
            client.create_topic("events", 1)
        files.hold_syncs()
        with TopicClient(node.address) as waiting:
            waiting.send_produce(0)
            assert files.sync_began.wait(HELD_SECONDS_MAX)
            node.crash()
            with pytest.raises(ConnectionError):
                waiting.receive_produced()
        files.release_syncs()

        node.restart()

        assert node.ends == [LogEndOffsets("events", 0, 1, 1)]
        with TopicClient(node.address) as client:
            assert client.fetch().high_watermark == 1


def test_imported_logs_are_served_with_the_records_written_later(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node, node.client() as client:
        client.create_topic("events", 1)
        client.produce("events", batch(b"imported"))
    with Node(import_logs=tmp_path / "data") as node:
        with node.client() as client:
            client.produce("events", batch(b"written"))

        crash_and_restart(node)

        with node.client() as client:
            assert values(client) == [b"imported", b"written"]


def test_unused_partition_is_not_created_by_a_crash() -> None:
    with Node() as node:
        with node.client() as client:
            client.create_topic("events", 3)
            client.produce("events", batch(b"1"), partition=1)

        crash_and_restart(node)

        partitions = list(node.cluster.node.replicas.partitions())
        assert [partition.find_log() is not None for partition in partitions] == [False, True, False]
        assert [partition.leader_epoch for partition in partitions] == [1, 1, 1]


@pytest.mark.parametrize("snapshots", SnapshotFault)
def test_producers_are_restored_with_any_damage_to_their_snapshots(node: Node, snapshots: SnapshotFault) -> None:
    """The batches in the log are enough to rebuild the state."""
    with node.client() as client:
        for sequence in range(3):
            client.produce("events", batch(b"%d" % sequence, producer_id=5, sequence=sequence))
    node.call(lambda: roll(node))
    with node.client() as client:
        client.produce("events", batch(b"3", producer_id=5, sequence=3))

    crash_and_restart(node, snapshots)

    with node.client() as client:
        assert client.produce("events", batch(b"3", producer_id=5, sequence=3)).base_offset == 3


@pytest.mark.parametrize(
    ("snapshots", "error"),
    [(SnapshotFault.KEEP, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER), (SnapshotFault.DROP, ErrorCode.NONE)],
)
def test_producer_state_without_batches_is_recovered_from_its_snapshot_only(
    node: Node, snapshots: SnapshotFault, error: ErrorCode
) -> None:
    with node.client() as client:
        client.produce("events", batch(b"0", producer_id=5, sequence=0))
        node.call(lambda: roll(node))
        client.produce("events", batch(b"other", producer_id=6, sequence=0))
        client.produce("events", batch(b"other", producer_id=6, sequence=1))
    node.call(lambda: delete_oldest(node))

    crash_and_restart(node, snapshots)

    with node.client() as client:
        assert client.produce("events", batch(b"far ahead", producer_id=5, sequence=9)).error_code == error


@pytest.mark.parametrize("seed", range(6))
def test_every_acknowledged_batch_is_stored_once_and_the_newest_is_detected_as_duplicate(node: Node, seed: int) -> None:
    """Random rounds of produce, crash, and retry of the last acknowledged batch."""
    draw = Random(seed)
    acknowledged: dict[int, list[bytes]] = {0: [], 1: []}
    for _ in range(4):
        with node.client() as client:
            for partition, sent in acknowledged.items():
                if sent:
                    again = client.produce("events", own(partition, len(sent) - 1), partition)
                    assert (again.error_code, again.base_offset) == (0, len(sent) - 1)
                for _ in range(draw.randrange(9)):
                    assert client.produce("events", own(partition, len(sent)), partition).error_code == 0
                    sent.append(b"%d" % len(sent))
        if draw.random() < 0.5:
            node.call(lambda: roll(node))
        crash_and_restart(node, draw.choice(list(SnapshotFault)))

    with node.client() as client:
        assert {partition: values(client, partition) for partition in acknowledged} == acknowledged


def own(partition: int, sequence: int) -> bytes:
    return batch(b"%d" % sequence, producer_id=5 + partition, sequence=sequence)


def log_of(node: Node) -> PartitionLog:
    return node.cluster.node.replicas.partition_of("events", 0).log


def roll(node: Node) -> None:
    """Begin a new segment of events-0 with its next batch."""
    log = log_of(node)
    # The minimum: any batch fills a segment.
    log.config = LogConfig(segment_bytes=14)
    log._roll(node.cluster.clock.now_ms())  # pyright: ignore[reportPrivateUsage]
    log.config = LogConfig()


def delete_oldest(node: Node) -> None:
    log = log_of(node)
    log.delete_records_before(1)
    log.enforce_retention(node.cluster.clock.now_ms())
    assert log.segments.first_base_offset == 1


def cut_last_byte(node: Node, folder: str) -> None:
    file = node.cluster.node.replicas.file_system.open(f"{folder}/{0:020d}.log")
    file.truncate(file.size - 1)
    file.close()


class CrashingReplication:
    """The replication of a partition without followers, which crashes the node at a batch with acks=all."""

    followers: ClassVar[Mapping[int, object]] = {}

    def __init__(self, crash: Callable[[], object], dies_at: int) -> None:
        self._crash = crash
        self._dies_at = dies_at
        self.asked: list[int] = []

    def check_min_isr(self) -> None:
        """Crash before the append of that number."""
        self.asked.append(len(self.asked))
        if len(self.asked) == self._dies_at:
            self._crash()

    def must_wait(self, end_offset: int) -> bool:
        return False

    def appended(self, result: object, now_ms: int) -> None:
        pass


def count_appends(node: Node, *, dies_at: int) -> list[int]:
    """Crash the node at the append of that number. Return the growing list of appends."""
    partition = node.cluster.node.replicas.partition_of("events", 0)
    replication = CrashingReplication(node.server.crash, dies_at)
    partition.replication = cast(Replication, replication)
    return replication.asked
