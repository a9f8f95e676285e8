"""A broker whose clock is ahead of its clients' clocks, or behind them: what that changes, and what it does not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from fauxka.testing import AsyncBroker, Broker, InvalidValueError

from ..broker.blocking_client import BlockingClient, batch
from ..broker.transactional_client import TransactionalClient

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
INVALID_TIMESTAMP, NOT_LEADER_OR_FOLLOWER = 32, 6
DENIED = {"kind": "error", "error": "NOT_LEADER_OR_FOLLOWER"}
TOPIC = "events"
# More than a test takes.
SOME_MS = 120_000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def client(broker: Broker) -> Iterator[BlockingClient]:
    with BlockingClient(broker.bootstrap_servers) as client:
        yield client


def is_about(time_ms: int, *, ahead_ms: int) -> bool:
    """Whether a time is that of the machine's clock plus ahead_ms."""
    return abs(time_ms - time.time_ns() // 1_000_000 - ahead_ms) < SOME_MS


@pytest.mark.parametrize("skew_ms", [DAY_MS, -DAY_MS])
def test_the_clock_shows_the_skew_until_it_ends(broker: Broker, skew_ms: int) -> None:
    broker.clock.skew(skew_ms)
    skewed = broker.clock.skew_ms, broker.clock.now_ms
    broker.clock.skew(0)

    assert skewed[0] == skew_ms
    assert is_about(skewed[1], ahead_ms=skew_ms)
    assert is_about(broker.clock.now_ms, ahead_ms=0)


def test_a_reset_of_the_data_ends_the_skew(broker: Broker) -> None:
    broker.clock.skew(DAY_MS)

    broker.reset("data")

    assert broker.clock.skew_ms == 0


def test_a_skew_is_a_number_of_ms_that_the_clock_can_show(broker: Broker) -> None:
    with pytest.raises(InvalidValueError) as raised:
        broker.clock.skew(-(2**62))

    assert raised.value.field == "skew_ms"


@pytest.mark.parametrize("skew_ms", [DAY_MS, -DAY_MS])
def test_log_append_time_is_skewed(broker: Broker, client: BlockingClient, skew_ms: int) -> None:
    client.create_topic(TOPIC, 1, {"message.timestamp.type": "LogAppendTime"})
    broker.clock.skew(skew_ms)

    client.produce(TOPIC, batch(b"1"))

    [record] = broker.records(TOPIC)
    assert is_about(record.timestamp, ahead_ms=skew_ms)


def test_the_time_of_a_client_is_too_late_for_a_broker_that_is_behind(broker: Broker, client: BlockingClient) -> None:
    client.create_topic(TOPIC, 1, {"message.timestamp.after.max.ms": str(HOUR_MS)})

    accepted = client.produce(TOPIC, batch(b"1")).error_code
    broker.clock.skew(-2 * HOUR_MS)
    refused = client.produce(TOPIC, batch(b"2")).error_code

    assert (accepted, refused) == (0, INVALID_TIMESTAMP)


def test_the_time_of_a_client_is_too_early_for_a_broker_that_is_ahead(broker: Broker, client: BlockingClient) -> None:
    client.create_topic(TOPIC, 1, {"message.timestamp.before.max.ms": str(HOUR_MS)})

    accepted = client.produce(TOPIC, batch(b"1")).error_code
    broker.clock.skew(2 * HOUR_MS)
    refused = client.produce(TOPIC, batch(b"2")).error_code

    assert (accepted, refused) == (0, INVALID_TIMESTAMP)


def test_an_advance_adds_to_a_skew_and_alone_changes_no_age(broker: Broker, client: BlockingClient) -> None:
    client.create_topic(TOPIC, 1, {"message.timestamp.before.max.ms": str(HOUR_MS)})
    broker.clock.skew(HOUR_MS // 2)

    broker.clock.advance(3 * DAY_MS)

    assert client.produce(TOPIC, batch(b"1")).error_code == 0
    assert is_about(broker.clock.now_ms, ahead_ms=3 * DAY_MS + HOUR_MS // 2)


@pytest.mark.parametrize(("skew_ms", "kept"), [(8 * DAY_MS, 0), (6 * DAY_MS, 1), (-8 * DAY_MS, 1)])
def test_retention_goes_by_the_skewed_clock(broker: Broker, client: BlockingClient, skew_ms: int, kept: int) -> None:
    client.create_topic(TOPIC, 1)
    client.produce(TOPIC, batch(b"1"))

    broker.clock.skew(skew_ms)
    broker.topics.apply_retention()

    assert len(broker.records(TOPIC)) == kept


def test_a_broker_that_is_behind_keeps_records_for_longer(broker: Broker, client: BlockingClient) -> None:
    client.create_topic(TOPIC, 1)
    client.produce(TOPIC, batch(b"1"))
    broker.clock.skew(-2 * DAY_MS)

    broker.clock.advance(8 * DAY_MS)
    kept = len(broker.records(TOPIC))
    broker.clock.advance(2 * DAY_MS)

    assert (kept, len(broker.records(TOPIC))) == (1, 0)


@pytest.mark.parametrize("skew_ms", [DAY_MS, -DAY_MS])
def test_a_transaction_begins_on_the_skewed_clock_and_its_timeout_does_not_change(broker: Broker, skew_ms: int) -> None:
    broker.topics.create(TOPIC)
    with TransactionalClient(broker.bootstrap_servers) as client:
        client.begin()
        broker.clock.skew(skew_ms)
        # Longer than the interval of the check, shorter than the timeout of the transaction.
        open_still = broker.clock.advance(30_000).ended.transactions.count
        started_ms = client.state().transaction_start_time_ms
        timed_out = broker.clock.advance(60_000).ended.transactions.count

    assert is_about(started_ms, ahead_ms=skew_ms)
    assert (open_still, timed_out) == (0, 1)


def test_the_window_of_a_rule_does_not_move(broker: Broker, client: BlockingClient) -> None:
    client.create_topic(TOPIC, 1)
    rule = {"match": {"api": "Produce"}, "when": {"until_ms": HOUR_MS}, "point": "received", "action": DENIED}
    broker.faults.add(rule)

    broker.clock.skew(DAY_MS)

    assert client.produce(TOPIC, batch(b"1")).error_code == NOT_LEADER_OR_FOLLOWER


def test_an_async_broker_has_a_skew_too() -> None:
    async def skewed() -> int:
        async with AsyncBroker() as broker:
            await broker.clock.skew(DAY_MS)
            return await broker.clock.skew_ms

    assert asyncio.run(skewed()) == DAY_MS
