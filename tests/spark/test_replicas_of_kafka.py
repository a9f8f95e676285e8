"""The replicas of three real brokers: equal after a clean stop, and over elections; a cut replica diverges."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.cluster.spark_session import register
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.checkpoints.checkpoint_files import LEADER_EPOCH_CHECKPOINT, decode_leader_epochs

from ..reference.kafka_cluster import kafka_cluster
from ..reference.log_client import LogClient, log_client

pytestmark = [pytest.mark.spark, pytest.mark.reference, pytest.mark.timeout(900)]

NODES = (1, 2, 3)
BATCHES = 10
SECONDS_MAX = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder of a cluster whose leader was killed, came back, and was stopped cleanly with all others."""
    folder = tmp_path_factory.mktemp("replicas")
    with kafka_cluster(folder, {"unclean.leader.election.enable": "false"}, ["a", "b", "c"]) as cluster:
        with log_client(cluster.address(1)) as client:
            client.create_topic("orders", replication_factor=3)
        leader = append(cluster.address, BATCHES)
        cluster.kill(leader)
        append(cluster.address, BATCHES, nodes=tuple(node for node in NODES if node != leader))
        cluster.start(leader)
        append(cluster.address, BATCHES)
        wait_until_equal(folder)
        for node in NODES:
            cluster.stop(node)
    yield folder


def append(address: Callable[[int], str], count: int, nodes: tuple[int, ...] = NODES) -> int:
    """Append batches at the leader, whichever of the nodes that is, and return the node that appended the last one."""
    deadline = time.monotonic() + SECONDS_MAX
    left = count
    while True:
        for node in nodes:
            with log_client(address(node)) as client:
                left -= appended_by(client, left)
            if not left:
                return node
        assert time.monotonic() < deadline
        time.sleep(0.2)


def appended_by(client: LogClient, count: int) -> int:
    """Return how many of the batches a node appended: none if it does not lead the partition."""
    for number in range(count):
        record = Record(b"tea", timestamp=round(time.time() * 1000))
        if client.produce("orders", build_batch([record], BatchOptions())).error_code:
            return number
    return count


def log_of(folder: Path, node: int) -> Path:
    (found,) = folder.glob(f"node-{node}/orders-0/{0:020d}.log")
    return found


def wait_until_equal(folder: Path) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while len({log_of(folder, node).read_bytes() for node in NODES}) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.5)


def found_in(spark: SparkSession, folder: Path) -> list[tuple[str, int, int]]:
    register(spark)
    replicas = tuple(str(folder / f"node-{node}") for node in NODES[1:])
    request = AuditRequest({"path": str(folder / "node-1"), "topics": "orders"}, replicas=replicas)
    return sorted((row["kind"], row["offset"], row["count"]) for row in audit(spark, request).collect())


def test_the_replicas_are_equal_over_elections(spark: SparkSession, folder: Path) -> None:
    epochs = decode_leader_epochs((log_of(folder, 1).parent / LEADER_EPOCH_CHECKPOINT).read_bytes())

    assert len(epochs) > 1
    assert found_in(spark, folder) == []


def test_a_cut_replica_diverges_from_both_others_and_is_truncated(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "cut")
    log = log_of(tmp_path / "cut", 1)
    content = log.read_bytes()
    # A follower gets the high watermark one fetch later, so its own one can lack the last record.
    log.write_bytes(content[: len(content) // 2])
    end = 3 * BATCHES // 2
    missing = 3 * BATCHES - end

    assert found_in(spark, tmp_path / "cut") == [
        ("replica_divergence", end, missing),
        ("replica_divergence", end, missing),
        ("truncated_log", end, missing),
    ]
