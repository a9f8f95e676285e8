"""The logs of a cluster, batch by batch."""

import pytest

from fauxka.admin.operations import topic_logs
from fauxka.admin.operations.topic_logs import ClusterLogs
from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.batches.records import Record, build_batch


def new_cluster(*, batches: int) -> Cluster:
    """Return a cluster with a topic of two partitions; the second has batches of two records."""
    cluster = Cluster(BrokerConfig.from_entries({}))
    cluster.controller.create_topic("orders", 2)
    for number in range(batches):
        batch = build_batch([Record(b"a", timestamp=number), Record(b"b", timestamp=number)])
        cluster.node.replicas.partition_of("orders", 1).append(memoryview(batch), 0)
    return cluster


def offsets(cluster: Cluster, partition: int, from_offset: int = 0) -> list[int]:
    return [parse_header(batch).base_offset for batch in ClusterLogs(cluster).batches("orders", partition, from_offset)]


def test_each_batch_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_logs, "READ_BYTES_MAX", 200)
    cluster = new_cluster(batches=20)

    assert offsets(cluster, 1) == list(range(0, 40, 2))
    assert offsets(cluster, 1, 11) == list(range(10, 40, 2))


def test_batches_larger_than_a_read_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_logs, "READ_BYTES_MAX", 1)

    assert offsets(new_cluster(batches=3), 1) == [0, 2, 4]


def test_deleted_records_are_not_read() -> None:
    cluster = new_cluster(batches=5)
    cluster.node.replicas.partition_of("orders", 1).log.delete_records_before(6)

    assert offsets(cluster, 1) == [6, 8]


def test_unused_partition_has_no_batches() -> None:
    cluster = new_cluster(batches=1)

    assert offsets(cluster, 0) == []
    assert cluster.node.replicas.partition_of("orders", 0).find_log() is None


def test_unknown_topic_has_no_partitions() -> None:
    logs = ClusterLogs(new_cluster(batches=0))

    assert (logs.partitions("orders"), logs.partitions("nowhere")) == ([0, 1], [])
    assert list(logs.batches("nowhere", 0, 0)) == []
