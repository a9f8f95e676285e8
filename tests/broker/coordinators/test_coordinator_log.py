"""The log of a coordinator: appends, replay, and the wait for a flush."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.coordinator_log import CoordinatorLog, CoordinatorRecord, ReplayedRecord
from fauxka.broker.coordinators.internal_topics import CoordinatorType, partition_index_of_key
from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.log_flush import FlushState
from fauxka.storage.log_loader import LoadState, LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ...manual_clock import manual_clock

NOW_MS = 1_700_000_000_000
PARTITIONS = 50


def cluster_with(config: dict[str, str] | None = None) -> Cluster:
    return Cluster(BrokerConfig.from_entries(config or {}), clock=manual_clock(NOW_MS), file_system=MemoryFileSystem())


def replayed(log: CoordinatorLog) -> list[tuple[int, bytes | None, bytes | None]]:
    found: list[tuple[int, bytes | None, bytes | None]] = []

    def apply(partition: int, record: ReplayedRecord) -> None:
        found.append((partition, record.key, record.value))

    log.replay(apply)
    return found


def test_records_are_replayed_in_order_from_the_partition_of_their_key() -> None:
    log = cluster_with().node.coordinators.coordinator_log(CoordinatorType.TRANSACTION)

    log.append("tx", [CoordinatorRecord(b"k", b"1"), CoordinatorRecord(b"k", None)])
    log.append("tx", [CoordinatorRecord(b"k", b"2")])

    partition = partition_index_of_key("tx", PARTITIONS)
    assert replayed(log) == [(partition, b"k", b"1"), (partition, b"k", None), (partition, b"k", b"2")]


def test_records_of_one_append_are_one_batch_without_a_producer_at_the_time_of_the_clock() -> None:
    cluster = cluster_with()
    cluster.node.coordinators.coordinator_log(CoordinatorType.GROUP).append(
        "g", [CoordinatorRecord(b"k", b"1"), CoordinatorRecord(b"l", b"2")]
    )

    partition = cluster.node.replicas.partition_of("__consumer_offsets", partition_index_of_key("g", PARTITIONS))
    fetched = partition.log.read(0, 1000, upper_offset=2, min_one_batch=True)

    header = parse_header(b"".join(fetched.views))
    assert header.size == fetched.size
    assert (header.records_count, header.producer_id, header.base_sequence) == (2, -1, 0)
    assert (header.base_timestamp, header.attributes) == (NOW_MS, 0)


def test_a_log_larger_than_one_read_is_replayed_completely() -> None:
    log = cluster_with().node.coordinators.coordinator_log(CoordinatorType.GROUP)
    values = [b"%d" % number * 50_000 for number in range(60)]

    for value in values:
        log.append("g", [CoordinatorRecord(b"k", value)])

    assert [value for _, _, value in replayed(log)] == values


def test_records_after_a_damaged_segment_are_replayed(caplog: pytest.LogCaptureFixture) -> None:
    cluster = cluster_with()
    log = cluster.node.coordinators.coordinator_log(CoordinatorType.GROUP)
    log.append("g", [CoordinatorRecord(b"k", b"0")])
    partition = cluster.node.replicas.partition_of("__consumer_offsets", partition_index_of_key("g", PARTITIONS))
    partition.log.config = replace(partition.log.config, segment_bytes=150)
    for value in (b"1", b"2", b"3", b"4"):
        log.append("g", [CoordinatorRecord(b"k", value)])
    files, folder = cluster.node.replicas.file_system, partition.log.topic_partition
    partition.log.close()
    path = f"{folder}/{2:020d}.log"
    files.replace(path, bytes(files.open(path).read(0, 30)))
    location = LogLocation(files, "__consumer_offsets", partition.index, EmulatedVersion.latest())
    state = LoadState(is_clean=True, recovery_point=5)
    loaded = PartitionLog(location, partition.log.config, now_ms=NOW_MS, state=state)
    partition.set_log(loaded)

    values = [value for _, _, value in replayed(log)]

    assert values == [b"0", b"1", b"4"]
    assert "offsets 2 to 3 are skipped" in caplog.text


def test_a_log_is_empty_before_the_first_append() -> None:
    cluster = cluster_with()
    log = cluster.node.coordinators.coordinator_log(CoordinatorType.GROUP)
    assert log.is_empty

    log.append("g", [CoordinatorRecord(b"k", b"v")])

    assert not log.is_empty
    assert cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION).is_empty


def test_a_failed_append_raises_not_coordinator() -> None:
    cluster = cluster_with()
    log = cluster.node.coordinators.coordinator_log(CoordinatorType.GROUP)
    log.append("g", [CoordinatorRecord(b"k", b"v")])
    cluster.node.replicas.partition_of("__consumer_offsets", partition_index_of_key("g", PARTITIONS)).log.fail_flush()

    with pytest.raises(KafkaError) as refused:
        log.append("g", [CoordinatorRecord(b"k", b"w")])

    assert refused.value.code == ErrorCode.NOT_COORDINATOR
    assert [value for _, _, value in replayed(log)] == [b"v"]


def test_too_large_records_raise_unknown_server_error() -> None:
    log = cluster_with({"offsets.topic.segment.bytes": "2000000"}).node.coordinators.coordinator_log(
        CoordinatorType.GROUP
    )

    with pytest.raises(KafkaError) as refused:
        log.append("g", [CoordinatorRecord(b"k", bytes(3_000_000))])

    assert refused.value.code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert log.is_empty or not replayed(log)


def test_without_flushes_the_response_is_returned_at_once() -> None:
    log = cluster_with().node.coordinators.coordinator_log(CoordinatorType.GROUP)

    log.append("g", [CoordinatorRecord(b"k", b"v")])

    assert log.flushed().response() is ErrorCode.NONE


def append_durably(folder: Path, spoil: Callable[[Cluster], None]) -> ErrorCode:
    """Append one record in a cluster with flush.messages=1, and return how its flush ended."""

    async def settle() -> ErrorCode:
        cluster = Cluster(
            BrokerConfig.from_entries({"log.flush.interval.messages": "1", "offsets.topic.num.partitions": "1"}),
            file_system=OsFileSystem(folder),
        )
        log = cluster.node.coordinators.coordinator_log(CoordinatorType.GROUP)
        log.append("g", [CoordinatorRecord(b"k", b"v")])
        spoil(cluster)
        delivered: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        flushed = log.flushed()
        assert not flushed.is_done, "it was not flushed yet"
        flushed.deliver_to(delivered.set_result)
        settled = await asyncio.wait_for(delivered, 10)
        await cluster.node.stop_disk_executor()
        return settled

    return asyncio.run(settle())


def test_the_response_is_completed_when_the_records_are_flushed(tmp_path: Path) -> None:
    offsets: list[int] = []

    def look(cluster: Cluster) -> None:
        offsets.append(cluster.node.replicas.partition_of("__consumer_offsets", 0).log.recovery_point)

    assert append_durably(tmp_path, look) is ErrorCode.NONE
    assert offsets == [0]


def test_a_failed_flush_gives_the_error_of_a_failed_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(_cluster: Cluster) -> None:
        def refuse(*_args: object) -> None:
            raise OSError("no more disk")

        monkeypatch.setattr(FlushState, "begin", refuse)

    assert append_durably(tmp_path, spoil) is ErrorCode.NOT_COORDINATOR
