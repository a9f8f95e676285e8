"""Each fault recipe: an idempotent producer still stores its record once."""

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException

from fauxka.faults.rules import recipes
from fauxka.faults.rules.fault_rules import FaultRule

from .producing import NO_OFFSET, send
from .transports import Broker

pytestmark = pytest.mark.clients

# The recipes that a client survives without waiting for its request timeout.
RULES = (
    recipes.lost_ack("close", topic="orders"),
    recipes.lost_ack("reset", topic="orders"),
    recipes.lost_request("close", topic="orders"),
    recipes.lost_request("reset", topic="orders"),
    recipes.slow_answers(20, api="Produce"),
    recipes.slow_requests(20, api="Metadata"),
    recipes.refuse("NOT_LEADER_OR_FOLLOWER", topic="orders", partition=0),
    recipes.refuse("NOT_ENOUGH_REPLICAS", scope="request", api="Produce"),
    recipes.false_error("REQUEST_TIMED_OUT", key="order-1"),
    recipes.overtaken(20, topic="orders"),
    recipes.delivered_twice(topic="orders"),
    recipes.throttled(20, topic="orders"),
    recipes.cut_answers(6, api="Produce"),
    recipes.dripping_answers(16, every_ms=1, api="Produce"),
    recipes.closed_connection(api="InitProducerId"),
    recipes.reset_connection(api="InitProducerId"),
    recipes.refused_connections(),
    recipes.crash_after_append(topic="orders"),
    recipes.crash_before_append(20, topic="orders"),
    recipes.observed(topic="orders", times=1),
)


@pytest.fixture(scope="module")
def running() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_record_is_in_the_log_once(running: Broker, rule: FaultRule) -> None:
    running.reset()

    with running.faults.add(rule) as armed:
        offset = send(running.bootstrap_servers)

    assert (offset, armed.hits) == (0, 1)
    assert running.verdict("orders").records.in_log == 1


def test_a_false_success_is_an_acknowledged_loss(running: Broker) -> None:
    running.reset()
    send(running.bootstrap_servers)

    with running.faults.false_success(topic="orders"):
        offset = send(running.bootstrap_servers)

    batches = running.verdict("orders").batches
    assert (offset, batches.appended_once, batches.acknowledged_lost) == (NO_OFFSET, 1, 1)


def test_a_client_rejects_a_corrupt_response_size(running: Broker) -> None:
    running.reset()

    with running.faults.corrupt_answers(0, 4, api="Produce"), pytest.raises(KafkaException, match="_BAD_MSG"):
        send(running.bootstrap_servers)
