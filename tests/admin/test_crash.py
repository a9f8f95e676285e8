"""Crash, restart, reset and snapshots over HTTP."""

from collections.abc import Iterator

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from ..wire.wire_connection import still_serves
from .admin_client import AdminClient

HUNG = {"match": {"api": "Produce"}, "when": {"times": None}, "point": "received", "action": {"kind": "hang"}}


@pytest.fixture(autouse=True)
def runs_again(admin: AdminClient) -> Iterator[None]:
    yield
    admin.post("/v1/reset", {"scope": "all"})


def test_api_is_available_while_the_node_is_down(admin: AdminClient, broker: Serving) -> None:
    crashed = admin.post("/v1/crash", {})

    assert crashed == {"node": 1, "running": False}
    assert admin.call("GET", "/readyz").status == 503
    assert admin.call("GET", "/healthz").status == 200
    with pytest.raises(ConnectionRefusedError):
        still_serves(broker.bootstrap)


def test_restarted_node_has_the_data_of_its_files(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
    admin.post("/v1/crash", {})

    restarted = admin.post("/v1/restart", {})

    assert restarted == {"node": 1, "running": True}
    assert still_serves(broker.bootstrap)
    (topic,) = admin.get("/v1/topics")["items"]
    assert topic["partitions"][0]["log_end_offset"] == 1


def test_node_is_restarted_by_the_clock(admin: AdminClient) -> None:
    admin.post("/v1/clock", {"mode": "manual"})
    admin.post("/v1/crash", {"restart_after_ms": 60_000})
    before = admin.call("GET", "/readyz").status

    admin.post("/v1/clock", {"advance_ms": 60_000})

    assert before == 503
    assert admin.call("GET", "/readyz").status == 200


def test_crash_of_a_node_that_is_down_is_409(admin: AdminClient) -> None:
    admin.post("/v1/crash", {})

    assert admin.call("POST", "/v1/crash", {}).status == 409


def test_restart_of_a_running_node_is_409(admin: AdminClient) -> None:
    assert admin.call("POST", "/v1/restart", {}).status == 409


@pytest.mark.parametrize("path", ["/v1/crash", "/v1/restart"])
def test_unknown_node_is_404(admin: AdminClient, path: str) -> None:
    answer = admin.call("POST", path, {"node": 7})

    assert (answer.status, answer.error["field"], answer.error["allowed"]) == (404, "node", "1")


def test_reset_of_all_leaves_the_seed_topic_empty_and_no_rule(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.create_topic("another")
        client.produce(0)
        admin.post("/v1/rules", HUNG)
        admin.post("/v1/files", {"action": "slow", "ms": 1})

        assert admin.post("/v1/reset", {"scope": "all"}) == {"scope": "all"}

    assert [topic["name"] for topic in admin.get("/v1/topics")["items"]] == [TOPIC]
    assert admin.get("/v1/topics")["items"][0]["partitions"][0]["log_end_offset"] == 0
    assert (admin.get("/v1/rules")["items"], admin.get("/v1/files")["items"]) == ([], [])
    assert admin.get("/v1/journal/count") == {"count": 0, "dropped": 0}


def test_reset_of_faults_closes_hanging_connections_and_keeps_the_data(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        rule = admin.post("/v1/rules", HUNG)
        client.send_produce(1)
        admin.get(f"/v1/rules/{rule['id']}/await")

        admin.post("/v1/reset", {"scope": "faults"})

        with pytest.raises(ConnectionError):
            client.receive_produced()
    assert admin.get("/v1/topics")["items"][0]["partitions"][0]["log_end_offset"] == 1


def test_reset_of_the_journal_keeps_rules_and_data(admin: AdminClient, broker: Serving) -> None:
    admin.post("/v1/rules", {**HUNG, "action": {"kind": "observe"}})
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    admin.post("/v1/reset", {"scope": "journal"})

    assert admin.get("/v1/journal")["items"] == []
    assert admin.get("/v1/rules")["items"][0]["hits"] == 1
    assert admin.get("/v1/topics")["items"][0]["partitions"][0]["log_end_offset"] == 1


def test_reset_restarts_a_node_that_is_down(admin: AdminClient, broker: Serving) -> None:
    admin.post("/v1/crash", {})

    admin.post("/v1/reset", {"scope": "all"})

    assert still_serves(broker.bootstrap)


def test_restart_with_failing_files_is_409_until_the_rules_are_removed(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
    admin.post("/v1/crash", {})
    admin.post("/v1/files", {"action": "read_only"})

    refused = admin.call("POST", "/v1/restart", {})
    admin.delete("/v1/files")
    admin.post("/v1/restart", {})

    assert (refused.status, "cannot be started" in refused.error["message"]) == (409, True)
    assert still_serves(broker.bootstrap)


def test_snapshot_is_restored_more_than_once(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
    snapshot = admin.post("/v1/snapshot")

    ends: list[int] = []
    for _ in range(2):
        with TopicClient(broker.bootstrap) as client:
            client.produce(1)
        admin.post("/v1/restore", {"id": snapshot["id"]})
        ends.append(admin.get("/v1/topics")["items"][0]["partitions"][0]["log_end_offset"])

    assert ends == [1, 1]
    (producer,) = admin.get("/v1/producers")["items"]
    assert producer["next_sequence"] == 1


def test_restore_closes_connections(admin: AdminClient, broker: Serving) -> None:
    snapshot = admin.post("/v1/snapshot")
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

        admin.post("/v1/restore", {"id": snapshot["id"]})

        with pytest.raises(ConnectionError):
            client.produce(1)


def test_snapshots_are_listed_and_deleted(admin: AdminClient) -> None:
    snapshot = admin.post("/v1/snapshot")

    assert snapshot in admin.get("/v1/snapshot")["items"]
    assert admin.delete(f"/v1/snapshot/{snapshot['id']}") == snapshot
    assert admin.call("POST", "/v1/restore", {"id": snapshot["id"]}).status == 404


def test_unknown_snapshot_is_404(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/restore", {"id": 98765})

    assert (answer.status, answer.error["value"]) == (404, 98765)
