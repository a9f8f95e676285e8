"""Nodes, partitions and replicas of three nodes over HTTP: what is listed, and what each call refuses."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fauxka.testing import CallError
from fauxka.testing.remote_broker import RemoteBroker

from ..serving_process import Serving, run, serving
from ..wire.wire_connection import still_serves
from .admin_client import AdminClient

SOME_SURROUNDINGS = "a list with 1 to 3 of clients, controller or nodes"
SOME_NODES = "integer >= 0, an object with from, to, a list with 1 to 1000 of these or null"
PARTITION = {"topic": "orders", "partition": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nodes")


@pytest.fixture(scope="module")
def three(folder: Path) -> Iterator[Serving]:
    options = ("--admin-port", "0", "--nodes", "3", "--racks", "a,b,c", "-c", "default.replication.factor=2")
    exports = ("--export-dir", str(folder / "exports"))
    with serving(folder, *options, *exports, "--seed-topic", "orders:4") as started:
        yield started


@pytest.fixture
def nodes(three: Serving) -> AdminClient:
    assert three.admin is not None
    return AdminClient(three.admin)


def partition(nodes: AdminClient) -> dict[str, Any]:
    (found,) = nodes.get("/v1/partitions", **PARTITION)["items"]
    return dict(found)


def test_nodes_are_listed_with_their_state(nodes: AdminClient, three: Serving) -> None:
    listed = nodes.get("/v1/nodes")

    assert listed["next"] is None
    assert [each["node"] for each in listed["items"]] == [1, 2, 3]
    assert ",".join(each["bootstrap"] for each in listed["items"]) == three.bootstrap
    assert listed["items"][1] == {
        "node": 2,
        "state": "running",
        "as_version": "4.4",
        "bootstrap": three.bootstrap.split(",")[1],
        "rack": "b",
        "is_controller": False,
        "isolated_from": [],
        "leads": listed["items"][1]["leads"],
        "connections": 0,
    }
    assert sum(each["leads"] for each in listed["items"]) == 4


def test_partition_has_its_replicas_with_their_offsets(nodes: AdminClient) -> None:
    nodes.post("/v1/topics/orders/records", {"records": [{"value": "x", "partition": 0}]})

    found = partition(nodes)

    assert sorted(found["replicas"]) == sorted(found["isr"])
    assert found["leader"] == found["replicas"][0]
    assert (found["leader_epoch"], found["elr"], found["offline"]) == (0, [], [])
    assert (found["high_watermark"], found["log_start_offset"]) == (1, 0)
    assert found["replica_states"] == [
        {"node": node, "log_start_offset": 0, "log_end_offset": 1, "last_epoch": 0, "is_paused": False}
        for node in found["replicas"]
    ]


def test_partitions_are_listed_in_pages_and_by_topic(nodes: AdminClient) -> None:
    first = nodes.get("/v1/partitions", limit=3)
    second = nodes.get("/v1/partitions", limit=3, since=first["next"])

    assert [each["partition"] for each in [*first["items"], *second["items"]]] == [0, 1, 2, 3]
    assert (first["next"], second["next"]) == ("orders/2", None)
    assert len(nodes.get("/v1/partitions", topic="orders")["items"]) == 4


@pytest.mark.parametrize(
    ("query", "status", "field", "message"),
    [
        ({"topic": "ordres"}, 404, "topic", "there is no topic 'ordres'; did you mean orders?"),
        ({"topic": "orders", "partition": 4}, 404, "partition", "there is no partition 4 of orders"),
        ({"partition": -1}, 400, "partition", 'partition cannot be "-1"; allowed: integer 0..2147483647 or null'),
        ({"since": "orders"}, 400, "since", "since cannot be 'orders'"),
    ],
)
def test_partitions_that_do_not_exist_are_an_error(
    nodes: AdminClient, query: dict[str, object], status: int, field: str, message: str
) -> None:
    answer = nodes.call("GET", f"/v1/partitions?{urlencode(query)}")

    assert (answer.status, answer.error["field"], answer.error["message"]) == (status, field, message)


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("/v1/nodes/4/stop", {}, (404, "id", "1, 2, 3")),
        ("/v1/nodes/x/stop", {}, (400, "id", "integer 0..2147483647")),
        ("/v1/nodes/1/stop", {"controlled": "no"}, (400, "controlled", "true or false")),
        ("/v1/nodes/1/stop", {"noticed": True}, (400, "noticed", "false")),
        ("/v1/nodes/1/stop", {"notice": True}, (400, "notice", "the fields controlled, noticed")),
        ("/v1/nodes/4/start", None, (404, "id", "1, 2, 3")),
        ("/v1/nodes/1/start", None, (409, "id", None)),
        ("/v1/nodes/4/isolate", {"from": ["nodes"]}, (404, "id", "1, 2, 3")),
        ("/v1/nodes/1/isolate", {"from": []}, (400, "from", SOME_SURROUNDINGS)),
        ("/v1/nodes/1/isolate", {"from": ["node"]}, (400, "from[0]", "clients, controller or nodes")),
        ("/v1/nodes/1/isolate", {"from": ["nodes"] * 4}, (400, "from", SOME_SURROUNDINGS)),
        ("/v1/nodes/1/isolate", {}, (400, "from", SOME_SURROUNDINGS)),
        ("/v1/nodes/4/rejoin", None, (404, "id", "1, 2, 3")),
        ("/v1/crash", {}, (400, "node", "1, 2, 3")),
        ("/v1/crash", {"node": 4}, (404, "node", "1, 2, 3")),
        ("/v1/crash", {"node": 1, "noticed": 1}, (400, "noticed", "true or false")),
        ("/v1/restart", {}, (400, "node", "1, 2, 3")),
        ("/v1/restart", {"node": 2}, (409, "node", None)),
        ("/v1/partitions/leader", {"topic": "orders", "partition": 0}, (400, "node", "integer 0..2147483647 or null")),
        (
            "/v1/partitions/leader",
            {"topic": "ordres", "partition": 0, "node": 1},
            (404, "topic", "the name of a topic"),
        ),
        ("/v1/partitions/leader", {"topic": "orders", "partition": 9, "node": 1}, (404, "partition", "0 to 3")),
        ("/v1/partitions/leader", {**PARTITION, "node": 4}, (404, "node", "1, 2, 3")),
        ("/v1/replication/pause", {"node": 4}, (404, "node", "1, 2, 3")),
        ("/v1/replication/pause", {"node": 1, "partition": 0}, (400, "partition", "nothing without topic")),
        ("/v1/replication/pause", {"node": 1, "topic": "ordres"}, (404, "topic", "the name of a topic")),
        ("/v1/replication/resume", {"node": 1, "topic": "orders", "partition": 9}, (404, "partition", "0 to 3")),
        ("/v1/replication/resume", {}, (400, "node", "integer 0..2147483647")),
        ("/v1/coordinators/move", {"node": 1}, (400, "", "an object with either group_id or transactional_id")),
        (
            "/v1/coordinators/move",
            {"node": 1, "group_id": "g", "transactional_id": "t"},
            (400, "", "an object with either group_id or transactional_id"),
        ),
        (
            "/v1/coordinators/move",
            {"node": 1, "group_id": ""},
            (400, "group_id", "text of 1 to 32767 characters or null"),
        ),
        ("/v1/coordinators/move", {"node": 1, "group_id": "g"}, (409, "group_id", None)),
        ("/v1/coordinators/move", {"node": 1, "transactional_id": "t"}, (409, "transactional_id", None)),
        (
            "/v1/rules",
            {"match": {"node": "2"}, "point": "received", "action": {"kind": "close"}},
            (400, "match.node", SOME_NODES),
        ),
        ("/v1/files", {"node": -1, "action": "fail"}, (400, "node", SOME_NODES)),
    ],
)
def test_wrong_call_is_an_error_with_the_field_and_what_is_allowed(
    nodes: AdminClient, path: str, body: object, error: tuple[int, str, str | None]
) -> None:
    answer = nodes.call("POST", path, body)

    assert (answer.status, answer.error["field"], answer.error["allowed"]) == error


def test_leader_without_a_replica_is_a_conflict(nodes: AdminClient) -> None:
    found = partition(nodes)
    other = next(node for node in (1, 2, 3) if node not in found["replicas"])

    moved = nodes.call("POST", "/v1/partitions/leader", {**PARTITION, "node": other})
    paused = nodes.call("POST", "/v1/replication/pause", {**PARTITION, "node": other})

    replicas = ", ".join(map(str, found["replicas"]))
    assert (moved.status, moved.error["message"]) == (
        409,
        f"node {other} has no replica of orders-0; its replicas are on {replicas}",
    )
    assert (paused.status, paused.error["message"]) == (409, f"node {other} has no replica of orders-0")


def test_move_to_the_node_that_leads_changes_nothing(nodes: AdminClient) -> None:
    before = partition(nodes)

    assert nodes.post("/v1/partitions/leader", {**PARTITION, "node": before["leader"]}) == before


def test_remote_broker_has_the_nodes_and_partitions_as_objects(three: Serving) -> None:
    assert three.admin is not None
    remote = RemoteBroker(three.admin)

    assert [(each.node, each.rack) for each in remote.nodes()] == [(1, "a"), (2, "b"), (3, "c")]
    assert [each.partition for each in remote.partitions("orders")] == [0, 1, 2, 3]
    with pytest.raises(CallError, match="there is no node 4"):
        remote.stop_node(4, controlled=False)
    with pytest.raises(CallError, match="node 1 is running"):
        remote.start_node(1)
    with pytest.raises(CallError, match="there is no node 4"):
        remote.rejoin(4)
    with pytest.raises(CallError, match="there is no node 4"):
        remote.isolate(4, ["clients"])
    with pytest.raises(CallError, match="there is no node 4"):
        remote.pause_replication(4)
    with pytest.raises(CallError, match="there is no node 4"):
        remote.resume_replication(4)
    with pytest.raises(CallError, match="there is no node 4"):
        remote.move_leader("orders", 0, 4)
    with pytest.raises(CallError, match="no coordinator yet"):
        remote.move_coordinator(1, group_id="g")


def test_metrics_have_each_node_and_the_offsets_of_the_leaders(nodes: AdminClient) -> None:
    text = nodes.call("GET", "/metrics").content.decode()

    assert [f'node="{node}"' in text for node in (1, 2, 3, 4)] == [True, True, True, False]
    assert text.count("fauxka_log_end_offset{") == 4


def test_journal_is_filtered_by_the_node_that_got_the_request(nodes: AdminClient, three: Serving) -> None:
    for address in three.bootstrap.split(","):
        assert still_serves(address)

    found = nodes.get("/v1/journal", node=2, limit=1000)["items"]
    listed = run("journal", "--node", "2", "--json", "--ready-file", str(three.ready_file))

    assert {entry["node"] for entry in found} == {2}
    assert nodes.get("/v1/journal/count", node=2)["count"] == len(found) > 0
    assert len(json.loads(listed.output)["items"]) == len(found)


def test_export_has_the_partitions_of_all_leaders(nodes: AdminClient, folder: Path) -> None:
    nodes.post("/v1/export", {"dir": "out"})

    assert sorted(path.name for path in (folder / "exports" / "out").glob("orders-*")) == [
        f"orders-{index}" for index in range(4)
    ]
