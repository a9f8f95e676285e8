"""Three nodes on disk: each has a folder in Kafka's format, and all of them start again from there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fauxka.broker.isolation import Isolation
from fauxka.broker.lifecycle.data_directory import DataDirectoryError
from fauxka.broker.lifecycle.node_directories import NodeDirectories
from fauxka.protocol.error_codes import ErrorCode

from .blocking_client import batch
from .running_cluster import RunningCluster

NODES = (1, 2, 3)
LAG_MS, RETRY_MS = 30_000, 1_000


def create(cluster: RunningCluster) -> None:
    layout = [[1, 2, 3], [2, 3, 1]]
    cluster.call(lambda: cluster.cluster.controller.create_topic("orders", 2, assignments=layout))


def produce(cluster: RunningCluster, node_id: int, value: bytes, partition: int = 0) -> int:
    with cluster.client(node_id) as client:
        answer = client.produce("orders", batch(value), partition)
    assert answer.error_code == ErrorCode.NONE, answer
    return answer.base_offset


def values(cluster: RunningCluster, node_id: int, partition: int = 0) -> list[bytes]:
    with cluster.client(node_id) as client:
        return client.read_values("orders", partition)


def test_each_node_has_its_folder_and_starts_again_from_it(tmp_path: Path) -> None:
    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        create(cluster)
        produce(cluster, 1, b"a")
        produce(cluster, 2, b"b", 1)

    assert sorted(os.listdir(tmp_path)) == ["controller", "node-1", "node-2", "node-3"]
    logs = [(tmp_path / f"node-{node_id}/orders-0/00000000000000000000.log").read_bytes() for node_id in NODES]
    assert logs[0] == logs[1] == logs[2] != b""
    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        assert (cluster.partition("orders").leader_id, cluster.partition("orders").leader_epoch) == (1, 0)
        assert [values(cluster, node_id) for node_id in NODES] == [[b"a"]] * 3
        assert [values(cluster, node_id, 1) for node_id in NODES] == [[b"b"]] * 3
        assert produce(cluster, 1, b"c") == 1


def test_leaders_and_isrs_outlive_the_process(tmp_path: Path) -> None:
    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        create(cluster)
        produce(cluster, 1, b"a")
        cluster.kill(1)
        produce(cluster, 2, b"b")

    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        partition = cluster.partition("orders")
        assert (partition.leader_id, partition.leader_epoch, partition.isr) == (2, 1, [1, 2, 3])
        assert values(cluster, 1) == [b"a", b"b"]


def test_a_node_that_was_killed_recovers_its_files_and_fetches_the_rest(tmp_path: Path) -> None:
    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        create(cluster)
        produce(cluster, 1, b"a")
        cluster.kill(1)
        produce(cluster, 2, b"b")
        cluster.restart(1)
        assert cluster.partition("orders").isr == [1, 2, 3]
        cluster.shut_down(2)
        cluster.restart(2)
        assert produce(cluster, 3 if cluster.partition("orders").leader_id == 3 else 1, b"c") == 2
        assert values(cluster, 2) == [b"a", b"b", b"c"]


def test_a_replica_whose_files_cannot_be_created_does_not_stop_the_rejoin_of_its_node(tmp_path: Path) -> None:
    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        cluster.isolate(3, list(Isolation))
        create(cluster)
        cluster.call(lambda: cluster.cluster.controller.create_topic("payments", 1, assignments=[[1, 2, 3]]))
        obstacle = tmp_path / "node-3" / "orders-0"
        obstacle.write_text("not a folder")

        cluster.rejoin(3)

        assert cluster.partition("payments").isr == [1, 2, 3]
        assert cluster.partition("orders", 1).isr == [2, 3, 1]
        cluster.advance(LAG_MS + LAG_MS // 2)
        assert cluster.partition("orders").isr == [1, 2]
        produce(cluster, 1, b"a")
        obstacle.unlink()
        cluster.advance(RETRY_MS)
        assert cluster.partition("orders").isr == [1, 2, 3]
        assert produce(cluster, 1, b"b") == 1
        assert values(cluster, 3) == [b"a", b"b"]
        assert cluster.cluster.nodes[2].replicas.partition_of("orders", 0).flusher is not None


def test_a_folder_of_another_number_of_nodes_is_refused(tmp_path: Path) -> None:
    NodeDirectories(str(tmp_path), 1, 3, None).close()

    with pytest.raises(DataDirectoryError, match="nodes 1, 2, 3, not 1 to 2"):
        NodeDirectories(str(tmp_path), 1, 2, None)


def test_a_folder_of_one_node_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\n")

    with pytest.raises(DataDirectoryError, match=r"of 3 nodes: it has 'meta.properties'"):
        NodeDirectories(str(tmp_path), 1, 3, None)


@pytest.mark.parametrize("existing", [[], ["node-1"], ["node-1", "node-2"]])
def test_a_first_start_that_was_interrupted_is_completed(tmp_path: Path, existing: list[str]) -> None:
    NodeDirectories(str(tmp_path), 1, 3, None).close()
    for name in {"node-1", "node-2", "node-3"}.difference(existing):
        shutil.rmtree(tmp_path / name)

    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        create(cluster)
        produce(cluster, 1, b"a")

    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        assert [values(cluster, node_id) for node_id in NODES] == [[b"a"]] * 3


@pytest.mark.parametrize("missing", [["node-2"], ["node-1", "node-2", "node-3"]])
def test_a_folder_that_has_lost_nodes_is_refused(tmp_path: Path, missing: list[str]) -> None:
    with RunningCluster(data_dir=str(tmp_path)) as cluster:
        create(cluster)
    for name in missing:
        shutil.rmtree(tmp_path / name)

    with pytest.raises(DataDirectoryError, match=r"has the folders of nodes (1, 3|none), not 1 to 3"):
        NodeDirectories(str(tmp_path), 1, 3, None)
