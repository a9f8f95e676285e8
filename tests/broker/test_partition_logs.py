"""Logs in memory are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.replica.partition import Partition
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem

NOW_MS = 1_700_000_000_000


class RefusingFiles(MemoryFileSystem):
    def open(self, path: str) -> None:  # type: ignore[override]
        raise OSError(28, "No space left on device")


def new_topic(file_system: MemoryFileSystem | None = None) -> tuple[Cluster, Sequence[Partition]]:
    cluster = Cluster(BrokerConfig.from_entries({}), file_system=file_system)
    topic = cluster.controller.create_topic("events", 3)
    return cluster, cluster.node.replicas.partitions_of(topic)


def made(partitions: Sequence[Partition]) -> list[int]:
    return [partition.index for partition in partitions if partition.find_log() is not None]


def test_log_is_made_for_the_partition_that_is_written_to_alone() -> None:
    _, partitions = new_topic()

    partitions[1].append(memoryview(build_batch([Record(b"1", timestamp=NOW_MS)])), NOW_MS)

    assert made(partitions) == [1]
    assert partitions[1].log is partitions[1].find_log()


def test_log_that_was_asked_for_late_keeps_to_the_configs_of_that_time() -> None:
    cluster, partitions = new_topic()
    early = partitions[0].log

    cluster.controller.alter_topic_configs(cluster.image.topics["events"], {"segment.bytes": "1048576"})

    assert (early.config.segment_bytes, partitions[1].log.config.segment_bytes) == (1048576, 1048576)


def test_log_of_a_deleted_topic_is_not_reused() -> None:
    cluster, partitions = new_topic()

    cluster.controller.delete_topics([cluster.image.topics["events"]])
    cluster.controller.create_topic("events", 3)

    assert partitions[0].log is not cluster.node.replicas.partition_of("events", 0).log
    assert [log.topic_partition for log in cluster.node.replicas.logs] == ["events-0"]


def test_log_whose_files_cannot_be_made_is_a_storage_error_each_time() -> None:
    _, partitions = new_topic(RefusingFiles())

    for _ in range(2):
        with pytest.raises(KafkaError) as raised:
            partitions[0].append(memoryview(build_batch([Record(b"1")])), NOW_MS)
        assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def test_partition_has_no_other_attributes() -> None:
    _, partitions = new_topic()

    with pytest.raises(AttributeError, match="log_end"):
        partitions[0].log_end  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] # noqa: B018
