"""A broker in another process, called through its admin API with the objects of a broker in process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from fauxka.admin.client.admin_client import Unreachable
from fauxka.testing import CallError, RuleError, WaitTimeoutError
from fauxka.testing.remote_broker import RemoteBroker

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, serving


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("remote"), "--admin-port", "0", "--seed-topic", TOPIC) as started:
        yield started


@pytest.fixture
def remote(broker: Serving) -> RemoteBroker:
    assert broker.admin is not None
    remote = RemoteBroker(broker.admin)
    remote.reset()
    return remote


def test_recipe_arms_a_rule_that_counts_its_hits(broker: Serving, remote: RemoteBroker) -> None:
    lost = remote.faults.lost_ack(topic=TOPIC, name="lose it")

    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        assert client.wire.is_closed()

    assert lost.name == "lose it"
    assert lost.await_hits() == lost.hits == 1
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
    verdict = remote.verdict(TOPIC)
    verdict.assert_exactly_once()
    assert verdict.batches.duplicates_recognised == 1


def test_verdict_on_a_lost_record_fails_its_assertion(broker: Serving, remote: RemoteBroker) -> None:
    remote.faults.add({"match": {"api": "Produce"}, "point": "received", "action": {"kind": "error", "error": "NONE"}})
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    with pytest.raises(AssertionError, match="1 acknowledged batch lost"):
        remote.verdict(TOPIC).assert_exactly_once()


def test_rule_is_removed_at_the_end_of_its_block(remote: RemoteBroker) -> None:
    with remote.faults.observed(api="Fetch") as rule:
        assert rule.hits == 0

    assert rule.hits == 0
    assert remote.faults.rules == []


def test_clear_removes_all_rules(remote: RemoteBroker) -> None:
    remote.faults.observed(api="Fetch")

    remote.faults.clear()

    assert remote.call("GET", "/v1/rules")["items"] == []


def test_wait_without_enough_hits_says_why(broker: Serving, remote: RemoteBroker) -> None:
    rule = remote.faults.lost_ack(topic="other")
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    with pytest.raises(WaitTimeoutError, match="0 of 1 hits after 10 ms") as caught:
        rule.await_hits(timeout_ms=10)

    assert caught.value.hits == 0
    assert [miss.field for miss in caught.value.near_misses] == ["topic"]


def test_wrong_calls_are_the_errors_of_a_broker_in_process(remote: RemoteBroker) -> None:
    with pytest.raises(CallError, match="there is no topic 'oders'") as caught:
        remote.verdict("oders")
    assert caught.value.status == 404
    with pytest.raises(RuleError, match="did you mean topic"):
        remote.faults.lost_ack(topik=TOPIC)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(RuleError, match="did you mean all"):
        remote.reset(cast("Any", "al"))


def test_nobody_at_the_address_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="no response from the admin API at"):
        RemoteBroker("http://127.0.0.1:1").reset()
