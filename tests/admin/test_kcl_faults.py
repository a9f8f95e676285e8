"""Rules in kcl's format over HTTP."""

import threading
from typing import Any

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

NOT_LEADER = 6
UNKNOWN_SERVER_ERROR = -1


def add(admin: AdminClient, **rule: object) -> Any:
    return admin.post("/faults", {"rules": [rule]})


def test_rule_is_listed_with_its_defaults(admin: AdminClient) -> None:
    added = add(admin, keys=["produce"], topic=TOPIC)

    assert added["rules"] == [{"keys": ["produce"], "topic": TOPIC, "error": "UNKNOWN_SERVER_ERROR", "count": 1}]
    assert (added["hits"], added["left"]) == (0, 1)
    assert admin.get("/faults")["faults"] == [added]


def test_faulted_partition_is_answered_with_the_error_and_not_appended(admin: AdminClient, broker: Serving) -> None:
    add(admin, keys=["Produce"], topic=TOPIC, partitions=[0], error="NOT_LEADER_OR_FOLLOWER")

    with TopicClient(broker.bootstrap) as client:
        refused = client.produce(30)
        appended = client.produce(30)

    assert (refused.error_code, appended.error_code) == (NOT_LEADER, 0)
    assert admin.get("/faults")["faults"][0]["left"] == 0


@pytest.mark.parametrize("error", ["not_leader_for_partition", "6"])
def test_error_may_have_its_former_name_or_be_a_code(admin: AdminClient, broker: Serving, error: str) -> None:
    add(admin, keys=["0"], error=error)

    with TopicClient(broker.bootstrap) as client:
        assert client.produce(40).error_code == NOT_LEADER


def test_rule_without_limit_has_left_minus_one(admin: AdminClient, broker: Serving) -> None:
    fault = add(admin, keys=["produce"], count=-1)

    with TopicClient(broker.bootstrap) as client:
        codes = [client.produce(50).error_code for _ in range(3)]
        admin.delete(f"/faults/{fault['id']}")
        codes.append(client.produce(50).error_code)

    assert fault["left"] == -1
    assert codes == [UNKNOWN_SERVER_ERROR] * 3 + [0]


def test_observing_rule_counts_and_does_nothing(admin: AdminClient, broker: Serving) -> None:
    fault = add(admin, keys=["produce"], observe=True, count=5)

    with TopicClient(broker.bootstrap) as client:
        code = client.produce(60).error_code

    assert code == 0
    assert admin.post(f"/faults/{fault['id']}/wait", {"hits": 1, "timeout": "10s"}) == {"hits": 1}


def test_rules_of_one_id_are_awaited_and_removed_together(admin: AdminClient, broker: Serving) -> None:
    rules = [{"keys": ["produce"], "partitions": [0]}, {"keys": ["fetch"], "topic": TOPIC}]
    fault = admin.post("/faults", {"rules": rules})
    answers: list[object] = []
    path, body = f"/faults/{fault['id']}/wait", {"hits": 2, "timeout": "20s"}
    waiting = threading.Thread(target=lambda: answers.append(admin.post(path, body)))
    waiting.start()

    with TopicClient(broker.bootstrap) as client:
        client.produce(70)
        client.fetch()
    waiting.join(20)

    assert answers == [{"hits": 2}]
    assert admin.delete(f"/faults/{fault['id']}") == {"removed": 1}
    assert admin.get("/v1/rules")["items"] == []


def test_timeout_of_a_wait_is_408(admin: AdminClient) -> None:
    fault = add(admin, keys=["produce"])

    answer = admin.call("POST", f"/faults/{fault['id']}/wait", {"timeout": "20ms"})

    assert (answer.status, answer.json["hits"]) == (408, 0)


def test_faults_are_removed_without_other_rules(admin: AdminClient) -> None:
    other = admin.post("/v1/rules", {"point": "received", "action": {"kind": "observe"}})
    add(admin, group="g")
    add(admin, txn_id="t")

    removed = admin.delete("/faults")

    assert removed == {"removed": 2}
    assert [rule["id"] for rule in admin.get("/v1/rules")["items"]] == [other["id"]]


def test_topic_may_be_given_by_its_id(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(80)
        (topic,) = [topic for topic in admin.get("/v1/topics")["items"] if topic["name"] == TOPIC]
        add(admin, keys=["produce"], topic_id=topic["topic_id"])
        code = client.produce(81).error_code

    assert code == UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"key": ["produce"]}, "rules[0].key"),
        ({"keys": ["produse"]}, "rules[0].keys[0]"),
        ({"error": "NO_SUCH_ERROR"}, "rules[0].error"),
        ({"observe": True, "error": "6"}, "rules[0].error"),
        ({"topic_id": "x"}, "rules[0].topic_id"),
        ({"partitions": 0}, "rules[0].partitions"),
        ({"count": -2}, "rules[0].count"),
        ({"top_level": True}, "rules[0].top_level"),
    ],
)
def test_invalid_rule_is_400(admin: AdminClient, rule: object, field: str) -> None:
    answer = admin.call("POST", "/faults", {"rules": [rule]})

    assert (answer.status, answer.error["field"]) == (400, field)
    assert admin.get("/faults")["faults"] == []


@pytest.mark.parametrize("timeout", ["", "30", "s", "1 s", "2h", "-1s"])
def test_invalid_duration_is_400(admin: AdminClient, timeout: str) -> None:
    fault = add(admin, keys=["produce"])

    answer = admin.call("POST", f"/faults/{fault['id']}/wait", {"timeout": timeout})

    assert (answer.status, answer.error["field"]) == (400, "timeout")


@pytest.mark.parametrize("method_and_path", [("DELETE", "/faults/99999"), ("POST", "/faults/99999/wait")])
def test_unknown_fault_is_404(admin: AdminClient, method_and_path: tuple[str, str]) -> None:
    method, path = method_and_path

    assert admin.call(method, path, {} if method == "POST" else None).status == 404
