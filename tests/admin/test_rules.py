"""Fault rules over HTTP: add, get, replace, remove and await."""

import threading
import time

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

LOST_ACK = {
    "name": "lose an acknowledgement",
    "match": {"api": "Produce", "topic": TOPIC, "partition": 0},
    "when": {"times": 2},
    "point": "applied",
    "action": {"kind": "close"},
}
COUNTED = {"match": {"api": "Produce"}, "when": {"times": None}, "point": "received", "action": {"kind": "observe"}}


def test_rule_is_answered_with_its_id_and_all_defaults(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/rules", LOST_ACK)

    rule = answer.json
    assert answer.status == 201
    assert rule["name"] == "lose an acknowledgement"
    assert rule["match"] == LOST_ACK["match"]
    assert (rule["when"]["times"], rule["when"]["skip"], rule["when"]["every"]) == (2, 0, 1)
    assert (rule["hits"], rule["matched"], rule["remaining"], rule["last_hit_ms"]) == (0, 0, 2, None)
    assert admin.get(f"/v1/rules/{rule['id']}") == rule


def test_rule_response_can_be_posted_as_a_rule(admin: AdminClient) -> None:
    response = admin.post("/v1/rules", LOST_ACK)

    again = admin.post("/v1/rules", response)

    assert {**again, "id": 0} == {**response, "id": 0}


def test_invalid_combination_is_400_with_the_reason(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/rules", {"point": "accepted", "action": {"kind": "error", "error": 6}})

    assert answer.status == 400
    assert (answer.error["field"], answer.error["value"]) == ("action.kind", "error")
    assert "sent no request yet" in answer.error["message"]


def test_rules_are_listed_in_order_in_pages(admin: AdminClient) -> None:
    ids = [admin.post("/v1/rules", COUNTED)["id"] for _ in range(3)]

    first = admin.get("/v1/rules", limit=2)
    second = admin.get("/v1/rules", limit=2, since=first["next"])

    assert [rule["id"] for rule in first["items"]] == ids[:2]
    assert [rule["id"] for rule in second["items"]] == ids[2:]
    assert second["next"] is None


def test_page_starts_after_a_removed_rule(admin: AdminClient) -> None:
    ids = [admin.post("/v1/rules", COUNTED)["id"] for _ in range(3)]
    page = admin.get("/v1/rules", limit=2)

    admin.delete(f"/v1/rules/{ids[1]}")

    assert [rule["id"] for rule in admin.get("/v1/rules", since=page["next"])["items"]] == ids[2:]


def test_rule_is_replaced_under_its_id(admin: AdminClient) -> None:
    rule_id = admin.post("/v1/rules", LOST_ACK)["id"]

    replaced = admin.put(f"/v1/rules/{rule_id}", COUNTED)

    assert (replaced["id"], replaced["action"]) == (rule_id, {"kind": "observe"})
    assert admin.get("/v1/rules")["items"] == [replaced]


def test_removed_rule_is_returned_with_its_counts(admin: AdminClient, broker: Serving) -> None:
    rule_id = admin.post("/v1/rules", COUNTED)["id"]
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    removed = admin.delete(f"/v1/rules/{rule_id}")

    assert removed["hits"] == 1
    assert admin.call("GET", f"/v1/rules/{rule_id}").status == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_unknown_rule_is_404(admin: AdminClient, method: str) -> None:
    answer = admin.call(method, "/v1/rules/123456", COUNTED if method == "PUT" else None)

    assert (answer.status, answer.error["value"]) == (404, 123456)


def test_rule_hits_and_counts(admin: AdminClient, broker: Serving) -> None:
    rule_id = admin.post("/v1/rules", LOST_ACK)["id"]

    with TopicClient(broker.bootstrap) as client, pytest.raises(ConnectionError):
        client.produce(0)

    rule = admin.get(f"/v1/rules/{rule_id}")
    assert (rule["hits"], rule["matched"], rule["remaining"]) == (1, 1, 1)
    assert abs(rule["last_hit_ms"] - time.time() * 1000) < 60_000


def test_rule_that_never_hit_has_near_misses(admin: AdminClient, broker: Serving) -> None:
    match = {"api": "Produce", "topic": TOPIC, "partition": 7}
    rule_id = admin.post("/v1/rules", {**LOST_ACK, "match": match})["id"]

    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    (miss,) = admin.get(f"/v1/rules/{rule_id}")["near_misses"]
    assert (miss["field"], miss["wanted"], miss["count"]) == ("partition", 7, 1)
    assert miss["message"] == "first differed at partition: 0, not 7"


def test_timeout_has_the_near_misses_with_the_furthest_first(admin: AdminClient, broker: Serving) -> None:
    rule_id = admin.post("/v1/rules", {**LOST_ACK, "match": {"api": "Produce", "topic": "payments"}})["id"]
    with TopicClient(broker.bootstrap) as client:
        client.list_offset(-1)
        client.list_offset(-1)
        client.produce(0)

    answer = admin.call("GET", f"/v1/rules/{rule_id}/await", timeout_ms=1)

    assert answer.status == 408
    assert [(miss["field"], miss["count"]) for miss in answer.json["near_misses"]] == [("topic", 1), ("api", 2)]
    assert answer.error["message"].split("; ") == [
        "0 of 1 hits within 1 ms",
        f"1 request first differed at topic: {TOPIC}, not payments",
        "2 requests first differed at api: ListOffsets, not Produce",
    ]


@pytest.mark.parametrize("value", ["order-1", {"text": "order-1"}, {"base64": "/wA="}])
def test_bytes_of_a_rule_response_read_back_to_the_same_rule(admin: AdminClient, value: object) -> None:
    match = {"api": "Produce", "key": ["a", value], "header": {"name": "id", "value": value}}
    first = admin.post("/v1/rules", {**LOST_ACK, "match": match})

    again = admin.post("/v1/rules", first)

    assert (first["match"], again["match"]) == (match, match)


def test_wait_for_earlier_hits_ends_at_once(admin: AdminClient, broker: Serving) -> None:
    rule_id = admin.post("/v1/rules", COUNTED)["id"]
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    assert admin.get(f"/v1/rules/{rule_id}/await", hits=1) == {"id": rule_id, "hits": 1}


def test_wait_ends_at_the_last_hit(admin: AdminClient, broker: Serving) -> None:
    rule_id = admin.post("/v1/rules", COUNTED)["id"]
    answers: list[object] = []
    waiting = threading.Thread(
        target=lambda: answers.append(admin.get(f"/v1/rules/{rule_id}/await", hits=2, timeout_ms=20_000))
    )
    waiting.start()

    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        client.produce(0)
    waiting.join(20)

    assert answers == [{"id": rule_id, "hits": 2}]


def test_timeout_is_408_with_the_hits_so_far(admin: AdminClient, broker: Serving) -> None:
    rule_id = admin.post("/v1/rules", COUNTED)["id"]
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    answer = admin.call("GET", f"/v1/rules/{rule_id}/await", hits=2, timeout_ms=20)

    assert (answer.status, answer.json["hits"]) == (408, 1)


def test_wait_for_an_unknown_rule_is_404(admin: AdminClient) -> None:
    assert admin.call("GET", "/v1/rules/123456/await").status == 404


def test_broker_serves_other_calls_during_a_wait(admin: AdminClient, broker: Serving) -> None:
    rule_id = admin.post("/v1/rules", LOST_ACK)["id"]
    path = f"/v1/rules/{rule_id}/await"
    waiting = threading.Thread(target=lambda: admin.call("GET", path, hits=1, timeout_ms=300))
    waiting.start()

    assert admin.call("GET", "/healthz").status == 200

    assert waiting.is_alive()
    waiting.join(20)
