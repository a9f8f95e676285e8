"""A record that is sent as a Produce: fault rules apply to it, and its result is what a client saw."""

from collections.abc import Iterator

import pytest

from fauxka.testing import CallError

from .transports import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"num.partitions": 2}) as running:
        running.topics.create("orders")
        yield running


def test_record_is_produced_and_its_request_is_in_the_journal(broker: Broker) -> None:
    produced = broker.topics.produce(
        "orders", {"partition": 1, "key": b"\xff", "headers": [("a", "1"), ("a", None)]}, client_id="till"
    )

    assert (produced.partition, produced.outcome, produced.error, produced.base_offset) == (1, "responded", None, 0)
    (record,) = broker.records("orders")
    assert (record.partition, record.key, record.value, record.headers) == (
        1,
        b"\xff",
        None,
        (("a", b"1"), ("a", None)),
    )
    (entry,) = broker.journal.entries(api="Produce")
    assert entry.client_id == "till"


def test_lost_acknowledgement_is_a_closed_connection_and_the_record_is_in_the_log(broker: Broker) -> None:
    broker.faults.lost_ack(topic="orders")

    produced = broker.topics.produce("orders", "one")

    assert (produced.outcome, produced.error, produced.base_offset) == ("closed", None, None)
    assert [each.value for each in broker.records("orders")] == [b"one"]


def test_refused_request_has_the_error_of_the_response(broker: Broker) -> None:
    broker.faults.refuse("NOT_ENOUGH_REPLICAS", topic="orders")

    produced = broker.topics.produce("orders", "one")

    assert (produced.outcome, produced.error, produced.base_offset) == ("responded", "NOT_ENOUGH_REPLICAS", None)
    assert broker.records("orders") == []


def test_held_request_is_a_timeout(broker: Broker) -> None:
    broker.faults.add({"match": {"api": "Produce"}, "point": "received", "action": {"kind": "hold"}})

    assert broker.topics.produce("orders", "one", timeout_ms=50).outcome == "timeout"


def test_record_without_acknowledgement_is_sent(broker: Broker) -> None:
    assert broker.topics.produce("orders", "one", acks=0).outcome == "sent"

    assert broker.wait_for_records("orders") == 1


def test_unknown_partition_is_refused(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no partition 2 of orders"):
        broker.topics.produce("orders", {"partition": 2, "value": "one"})
