"""The verdict over HTTP, after a lost acknowledgement."""

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

LOST_ACK = {
    "match": {"api": "Produce", "topic": TOPIC, "partition": 0},
    "point": "applied",
    "action": {"kind": "close"},
}


@pytest.fixture(autouse=True)
def from_the_start(admin: AdminClient) -> None:
    admin.post("/v1/reset", {"scope": "all"})


def test_batch_with_a_lost_acknowledgement_is_stored_unacknowledged(admin: AdminClient, broker: Serving) -> None:
    admin.post("/v1/rules", LOST_ACK)
    with TopicClient(broker.bootstrap) as client, pytest.raises(ConnectionError):
        client.produce(0)

    verdict = admin.get("/v1/verdict", topic=TOPIC)

    assert (verdict["batches"]["appended_once"], verdict["batches"]["stored_unacknowledged"]) == (1, 1)
    assert verdict["records"] == {"in_log": 1, "distinct": 1, "duplicates": 0, "deleted": 0}
    (finding,) = verdict["findings"]
    assert (finding["partition"], finding["producer_id"], finding["base_sequence"]) == (0, 1, 0)


def test_recognised_retry_is_appended_once(admin: AdminClient, broker: Serving) -> None:
    admin.post("/v1/rules", LOST_ACK)
    with TopicClient(broker.bootstrap) as client, pytest.raises(ConnectionError):
        client.produce(0)
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    batches = admin.get("/v1/verdict", topic=TOPIC)["batches"]

    assert (batches["appended_once"], batches["appended_twice"]) == (1, 0)
    assert (batches["duplicates_recognised"], batches["stored_unacknowledged"]) == (1, 0)


def test_topic_without_records_has_a_verdict_of_zeros(admin: AdminClient) -> None:
    verdict = admin.get("/v1/verdict", topic=TOPIC)

    assert set(verdict["batches"].values()) == {0}
    assert verdict["records"] == {"in_log": 0, "distinct": 0, "duplicates": 0, "deleted": 0}


def test_verdict_on_a_topic_that_does_not_exist_is_404_with_a_similar_name(admin: AdminClient) -> None:
    answer = admin.call("GET", "/v1/verdict", topic=TOPIC[:-1])

    assert (answer.status, answer.error["field"], answer.error["value"]) == (404, "topic", TOPIC[:-1])
    assert answer.error["message"] == f"there is no topic {TOPIC[:-1]!r}; did you mean {TOPIC}?"


@pytest.mark.parametrize("event_id", ["value", "key", "header:id", "json:order.id"])
def test_event_id_is_a_place_in_the_record(admin: AdminClient, event_id: str) -> None:
    assert admin.call("GET", f"/v1/verdict?topic={TOPIC}&event_id={event_id}").status == 200


@pytest.mark.parametrize("event_id", ["", "values", "header:", "headers:id", "json:", "json:a..b"])
def test_other_event_id_is_400(admin: AdminClient, event_id: str) -> None:
    answer = admin.call("GET", "/v1/verdict", topic=TOPIC, event_id=event_id)

    assert (answer.status, answer.error["field"]) == (400, "event_id")


def test_verdict_needs_a_topic(admin: AdminClient) -> None:
    answer = admin.call("GET", "/v1/verdict")

    assert (answer.status, answer.error["field"]) == (400, "topic")


def test_records_that_a_client_deletes_are_a_finding(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        client.produce(1)
        client.delete_records(1)

    verdict = admin.get("/v1/verdict", topic=TOPIC)

    assert verdict["records"] == {"in_log": 1, "distinct": 1, "duplicates": 0, "deleted": 1}
    assert [(each["kind"], each["offsets"]) for each in verdict["findings"]] == [("deleted", [0, 0])]


def test_records_that_retention_deletes_are_a_finding(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    # Kafka checks every five minutes. The records of this client are from 1970.
    admin.post("/v1/clock", {"advance_ms": 600_000})

    (finding,) = admin.get("/v1/verdict", topic=TOPIC)["findings"]
    assert (finding["kind"], finding["offsets"], finding["records"]) == ("deleted", [0, 0], 1)


def test_verdicts_on_all_topics_are_listed_with_their_counts_and_kinds_of_findings(
    admin: AdminClient, broker: Serving
) -> None:
    admin.post("/v1/topics", {"name": "verdicts-clean"})
    admin.post("/v1/rules", LOST_ACK)
    with TopicClient(broker.bootstrap) as client, pytest.raises(ConnectionError):
        client.produce(0)

    verdicts = {item["topic"]: item for item in admin.get("/v1/verdicts")["items"]}

    whole = admin.get("/v1/verdict", topic=TOPIC)
    assert (verdicts[TOPIC]["findings"], verdicts[TOPIC]["kinds"]) == (1, {"stored_unacknowledged": 1})
    assert (verdicts[TOPIC]["batches"], verdicts[TOPIC]["records"]) == (whole["batches"], whole["records"])
    assert (verdicts["verdicts-clean"]["findings"], verdicts["verdicts-clean"]["error"]) == (0, None)
    assert "__consumer_offsets" not in verdicts


def test_a_page_of_verdicts_goes_on_after_the_last_topic_of_the_one_before(admin: AdminClient) -> None:
    for number in range(3):
        admin.post("/v1/topics", {"name": f"verdicts-{number}"})
    topics = [item["topic"] for item in admin.get("/v1/verdicts")["items"]]

    first = admin.get("/v1/verdicts", limit=2)
    rest = admin.get("/v1/verdicts", since=first["next"])

    assert [item["topic"] for item in (*first["items"], *rest["items"])] == topics
    assert (first["next"], rest["next"]) == (topics[1], None)


def test_list_of_verdicts_is_not_refused_while_the_node_is_down(admin: AdminClient) -> None:
    admin.post("/v1/crash", {})

    of_topic = admin.call("GET", "/v1/verdict", topic=TOPIC)
    of_all = admin.call("GET", "/v1/verdicts")

    assert (of_topic.status, of_all.status) == (409, 200)
    admin.post("/v1/restart", {})
