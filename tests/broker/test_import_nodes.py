"""Imported folders of several brokers: each becomes the logs of one node, and the best replica of a partition leads."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from fauxka.broker.lifecycle.data_directory import DataDirectoryError
from fauxka.protocol.error_codes import ErrorCode
from fauxka.testing import Broker

from ..serving_process import run, serving
from .blocking_client import BlockingClient, batch
from .data_dir_scene import end
from .running_cluster import RunningCluster
from .test_import_logs import content_of

NODES = (1, 2, 3)
# Those of `folders` that were killed.
KILLED = (1, 3)
ALL_VALUES = [b"a", b"b", b"c", b"d"]
CAUGHT_UP_SECONDS_MAX = 120.0


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """The folders of three nodes. Node 1 has led orders-0, and then node 2; late-0 is on node 3 alone."""
    data = tmp_path / "cluster"
    with RunningCluster(data_dir=str(data)) as cluster:
        create = cluster.cluster.controller.create_topic
        cluster.call(lambda: create("orders", 2, assignments=[[1, 2, 3], [2, 3]]))
        cluster.call(lambda: create("late", 1, assignments=[[3]]))
        produce(cluster, 1, "orders", b"a")
        produce(cluster, 2, "orders", b"p", 1)
        produce(cluster, 3, "late", b"l")
        cluster.kill(1)
        produce(cluster, 2, "orders", b"b")
        produce(cluster, 2, "orders", b"c")
        cluster.kill(3)
        produce(cluster, 2, "orders", b"d")
    return [data / f"node-{node_id}" for node_id in NODES]


def produce(cluster: RunningCluster, node_id: int, topic: str, value: bytes, partition: int = 0) -> None:
    with cluster.client(node_id) as client:
        answer = client.produce(topic, batch(value), partition)
    assert answer.error_code == ErrorCode.NONE, answer


def values(address: str, topic: str, partition: int, expected: list[bytes]) -> list[bytes]:
    """Return the values on a node, as soon as they are the expected ones."""
    deadline = time.monotonic() + CAUGHT_UP_SECONDS_MAX
    with BlockingClient(address) as client:
        while (read := client.read_values(topic, partition)) != expected and time.monotonic() < deadline:
            time.sleep(0.02)
    return read


def test_every_node_serves_what_the_best_replica_has_and_nothing_is_written(
    folders: list[Path], tmp_path: Path
) -> None:
    before = [content_of(folder) for folder in folders]
    # The folders tell their nodes, so that their order does not matter.
    words = [word for folder in reversed(folders) for word in ("--import-logs", str(folder))]

    with serving(tmp_path, "--nodes", "3", *words) as broker:
        addresses = broker.bootstrap.split(",")
        assert [values(address, "orders", 0, ALL_VALUES) for address in addresses] == [ALL_VALUES] * 3
        assert [values(address, "orders", 1, [b"p"]) for address in addresses[1:]] == [[b"p"]] * 2
        assert values(addresses[2], "late", 0, [b"l"]) == [b"l"]
        with BlockingClient(addresses[1]) as client:
            assert client.produce("orders", batch(b"e"), 0).base_offset == 4

    assert [content_of(folder) for folder in folders] == before


def test_records_that_the_best_replica_does_not_have_are_truncated(folders: list[Path]) -> None:
    unknown = bytearray(batch(b"never replicated"))
    # After the record that node 1 has, in its leader epoch; node 2 has led since.
    unknown[:8], unknown[12:16] = (1).to_bytes(8, "big"), bytes(4)
    log = folders[0] / "orders-0/00000000000000000000.log"
    log.write_bytes(log.read_bytes() + unknown)
    assert not (folders[0] / ".kafka_cleanshutdown").exists()

    with Broker(nodes=3, import_logs=folders) as broker:
        addresses = broker.bootstrap_servers.split(",")
        assert values(addresses[0], "orders", 0, ALL_VALUES) == ALL_VALUES


def test_a_reset_loads_the_folders_again(folders: list[Path]) -> None:
    with Broker(nodes=3, import_logs=folders) as broker:
        addresses = broker.bootstrap_servers.split(",")
        values(addresses[0], "orders", 0, ALL_VALUES)
        with BlockingClient(addresses[1]) as client:
            assert client.produce("orders", batch(b"e"), 0).error_code == ErrorCode.NONE
        broker.reset()

        assert [values(address, "orders", 0, ALL_VALUES) for address in addresses] == [ALL_VALUES] * 3


def test_folders_without_meta_properties_are_those_of_the_nodes_in_order(folders: list[Path]) -> None:
    for folder in folders:
        (folder / "meta.properties").unlink()

    with Broker({"node.id": 7}, nodes=3, import_logs=folders) as broker:
        last = broker.bootstrap_servers.split(",")[2]
        assert values(last, "late", 0, [b"l"]) == [b"l"]


def test_folders_of_other_nodes_are_refused(folders: list[Path], tmp_path: Path) -> None:
    twice = tmp_path / "twice"
    shutil.copytree(folders[0], twice)
    wrong: list[tuple[int, list[Path], str]] = [
        (0, folders, f"{folders[2]} is of node 3, and the nodes are 0 to 2; set node.id to that of the first one"),
        (1, [*folders[:2], twice], f"{folders[0]} and {twice} are both of node 1"),
        (1, [folders[0], folders[0], folders[1]], "a folder is given twice"),
    ]
    for first, given, message in wrong:
        with pytest.raises(DataDirectoryError) as refused:
            Broker({"node.id": first}, nodes=3, import_logs=given)

        assert str(refused.value) == f"--import-logs: {message}"


def test_no_folder_is_locked_after_a_refusal(folders: list[Path]) -> None:
    with pytest.raises(DataDirectoryError):
        Broker({"node.id": 2}, nodes=3, import_logs=folders)

    with RunningCluster(data_dir=str(folders[0].parent)) as cluster:
        assert cluster.partition("orders").leader_id == 2


def options_of(folders: list[Path], data: Path) -> list[str]:
    imported = [word for folder in folders for word in ("--import-logs", str(folder))]
    return ["--nodes", "3", *imported, "--data-dir", str(data)]


def all_values(addresses: list[str]) -> dict[str, list[bytes]]:
    """Return the values on the nodes, as soon as every replica has caught up."""
    return {
        **{f"orders-0 of {node}": values(addresses[node - 1], "orders", 0, ALL_VALUES) for node in NODES},
        **{f"orders-1 of {node}": values(addresses[node - 1], "orders", 1, [b"p"]) for node in (2, 3)},
        "late-0 of 3": values(addresses[2], "late", 0, [b"l"]),
    }


IMPORTED = {
    **{f"orders-0 of {node}": ALL_VALUES for node in NODES},
    **{f"orders-1 of {node}": [b"p"] for node in (2, 3)},
    "late-0 of 3": [b"l"],
}


def test_logs_copied_into_a_data_folder_survive_a_kill(folders: list[Path], tmp_path: Path) -> None:
    before, data = [content_of(folder) for folder in folders], tmp_path / "data"
    with serving(tmp_path, *options_of(folders, data)) as broker:
        imported = all_values(broker.bootstrap.split(","))
        with BlockingClient(broker.bootstrap.split(",")[1]) as client:
            assert client.produce("orders", batch(b"e"), 0).base_offset == 4
        end(broker, signal.SIGKILL)

    with serving(tmp_path, "--nodes", "3", "--data-dir", str(data)) as broker:
        addresses = broker.bootstrap.split(",")
        after = [values(address, "orders", 0, [*ALL_VALUES, b"e"]) for address in addresses]
        late = values(addresses[2], "late", 0, [b"l"])

    assert imported == IMPORTED
    assert (after, late) == ([[*ALL_VALUES, b"e"]] * 3, [b"l"])
    assert [content_of(folder) for folder in folders] == before


def test_producers_of_copied_logs_get_ids_above_theirs(folders: list[Path], tmp_path: Path) -> None:
    with Broker(nodes=3, data_dir=folders[0].parent) as broker, BlockingClient(leader_of(broker)) as client:
        producer_id = client.producer_id()
        assert client.produce("orders", batch(b"e", producer_id=producer_id, sequence=0), 0).base_offset == 4

    with (
        Broker(nodes=3, data_dir=tmp_path / "data", import_logs=folders) as broker,
        BlockingClient(leader_of(broker)) as client,
    ):
        assert client.produce("orders", batch(b"f", producer_id=producer_id, sequence=1), 0).base_offset == 5
        assert client.producer_id() > producer_id


def leader_of(broker: Broker) -> str:
    """Return the address of the leader of orders-0."""
    return broker.bootstrap_servers.split(",")[broker.partitions("orders", 0)[0].leader - 1]


@pytest.mark.parametrize("is_clean", [True, False])
def test_topics_are_added_to_those_of_the_data_folder(folders: list[Path], tmp_path: Path, is_clean: bool) -> None:
    if is_clean:
        for folder in folders:
            (folder / ".kafka_cleanshutdown").touch()
    with Broker({"default.replication.factor": 3}, nodes=3, data_dir=tmp_path / "data") as broker:
        broker.topics.create("events", partitions=2)
        events = broker.partitions("events")
    # The logs of a killed node need recovery, and with them those of the node that they are copied to, which may lead.
    recovered = () if is_clean else KILLED
    expected = [
        replace(each, leader_epoch=each.leader_epoch + 1, partition_epoch=each.partition_epoch + 1)
        if each.leader in recovered
        else each
        for each in events
    ]

    with Broker(nodes=3, data_dir=tmp_path / "data", import_logs=folders) as broker:
        assert all_values(broker.bootstrap_servers.split(",")) == IMPORTED
        assert broker.partitions("events") == expected


def test_existing_topic_is_refused_before_anything_is_copied(folders: list[Path], tmp_path: Path) -> None:
    with Broker(nodes=3, data_dir=tmp_path / "data") as broker:
        broker.topics.create("late", partitions=1)
    before = content_of(tmp_path / "data")

    refused = run("serve", "--port", "0", *options_of(folders, tmp_path / "data"))

    assert refused.exit_code == 2
    assert f"--import-logs: {tmp_path / 'data'} has a topic late already" in refused.log
    topics = {name: content for name, content in content_of(tmp_path / "data").items() if "-0/" in name}
    assert topics == {name: content for name, content in before.items() if "-0/" in name}


@pytest.mark.parametrize("folder", ["0.importing", "orders-0"], ids=["while copying", "while renaming"])
def test_interrupted_import_is_repeated(folders: list[Path], tmp_path: Path, folder: str) -> None:
    with Broker(nodes=3, data_dir=tmp_path / "data"):
        pass
    unfinished = tmp_path / "data/node-2" / folder
    shutil.copytree(folders[1] / "orders-0", unfinished)

    with Broker(nodes=3, data_dir=tmp_path / "data", import_logs=folders) as broker:
        assert all_values(broker.bootstrap_servers.split(",")) == IMPORTED

    assert not list((tmp_path / "data").glob("*/*.importing"))
