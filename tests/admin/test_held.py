"""Held requests over HTTP: list and release."""

from typing import Any

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

HOLD = {
    "match": {"api": "Produce", "topic": TOPIC},
    "when": {"times": 2},
    "point": "received",
    "action": {"kind": "hold"},
}


@pytest.fixture
def rule(admin: AdminClient) -> Any:
    return admin.post("/v1/rules", HOLD)


def test_held_request_is_listed_with_its_batches(admin: AdminClient, broker: Serving, rule: Any) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        admin.get(f"/v1/rules/{rule['id']}/await")

        (held,) = admin.get("/v1/held")["items"]
        admin.post(f"/v1/held/{held['id']}/release")

    assert (held["rule"], held["point"], held["api"], held["topics"]) == (rule["id"], "received", "Produce", [TOPIC])
    assert [(batch["partition"], batch["producer_id"], batch["base_sequence"]) for batch in held["batches"]] == [
        (0, 1, 0)
    ]


def test_held_request_of_a_client_that_has_closed_its_connection_says_so(
    admin: AdminClient, broker: Serving, rule: Any
) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        admin.get(f"/v1/rules/{rule['id']}/await")
        (held,) = admin.get("/v1/held")["items"]
        assert held["client_closed"] is False

    while not admin.get("/v1/held")["items"][0]["client_closed"]:
        pass
    (entry,) = admin.get("/v1/journal")["items"]
    admin.post(f"/v1/held/{held['id']}/release")

    assert (entry["answer"], entry["client_closed"]) == ("not_written", True)


def test_released_request_is_applied(admin: AdminClient, broker: Serving, rule: Any) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        admin.get(f"/v1/rules/{rule['id']}/await")
        (held,) = admin.get("/v1/held")["items"]

        released = admin.post(f"/v1/held/{held['id']}/release")

        assert released == {"ids": [held["id"]]}
        assert client.receive_produced()[0].error_code == 0
        assert admin.get("/v1/held")["items"] == []


def test_requests_are_released_in_the_given_order(admin: AdminClient, broker: Serving, rule: Any) -> None:
    with TopicClient(broker.bootstrap) as first, TopicClient(broker.bootstrap) as second:
        first.send_produce(10)
        admin.get(f"/v1/rules/{rule['id']}/await", hits=1)
        second.send_produce(11)
        admin.get(f"/v1/rules/{rule['id']}/await", hits=2)
        ids = [held["id"] for held in admin.get("/v1/held")["items"]]

        released = admin.post("/v1/held/release", {"ids": ids[::-1]})
        first.receive_produced()
        second.receive_produced()

    assert released == {"ids": ids[::-1]}
    sequences = [entry["batches"][0]["base_sequence"] for entry in admin.get("/v1/journal", api="Produce")["items"]]
    assert sorted(sequences) == [10, 11]


def test_unknown_request_is_404_and_none_is_released(admin: AdminClient, broker: Serving, rule: Any) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        admin.get(f"/v1/rules/{rule['id']}/await")
        (held,) = admin.get("/v1/held")["items"]

        answer = admin.call("POST", "/v1/held/release", {"ids": [held["id"], 987_654]})

        assert (answer.status, answer.error["value"]) == (404, 987_654)
        assert [each["id"] for each in admin.get("/v1/held")["items"]] == [held["id"]]
        admin.post(f"/v1/held/{held['id']}/release")


def test_id_that_is_given_twice_is_400(admin: AdminClient) -> None:
    assert admin.call("POST", "/v1/held/release", {"ids": [1, 1]}).status == 400
