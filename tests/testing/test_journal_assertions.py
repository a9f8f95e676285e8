"""Assertions on the journal of a broker in process, and what their failures list."""

from collections.abc import Iterator
from typing import Any

import pytest

from fauxka.faults.rule_error import RuleError

from ..broker.topic_client import TopicClient
from .transports import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A broker that has received two batches, and the second one again."""
    with Broker() as running:
        with TopicClient(running.bootstrap_servers) as client:
            client.create_topic("events")
            client.produce(0)
            client.produce(1)
            client.produce(1)
        yield running


def failure_of(broker: Broker, **arguments: Any) -> list[str]:
    with pytest.raises(AssertionError) as raised:
        broker.journal.assert_requests(**arguments)
    return str(raised.value).splitlines()


def test_matching_requests_are_returned(broker: Broker) -> None:
    first, second, third = broker.journal.assert_requests(api="Produce", topic="events", count=3)

    assert [entry.batches[0].decision for entry in (first, second, third)] == ["appended", "appended", "duplicate"]


def test_without_a_count_one_request_is_enough(broker: Broker) -> None:
    broker.journal.assert_requests(api="Produce")

    assert failure_of(broker, api="Fetch")[0] == "expected at least 1 request with api='Fetch', found 0"


def test_count_0_asserts_that_there_is_none(broker: Broker) -> None:
    assert broker.journal.assert_requests(api="Fetch", count=0) == []
    assert failure_of(broker, api="Produce", count=0)[0] == "expected 0 requests with api='Produce', found 3"


def test_failure_lists_what_matched_others_of_the_api_and_all_apis(broker: Broker) -> None:
    lines = failure_of(broker, api="Produce", base_sequence=1, count=1)

    assert lines == [
        "expected 1 request with api='Produce', base_sequence=1, found 2",
        "    request 3: Produce v9, connection 1, events-0 appended at offset 1",
        "    request 4: Produce v9, connection 1, events-0 duplicate at offset 1",
        "others of the same API:",
        "    request 2: Produce v9, connection 1, events-0 appended at offset 0",
        "requests by API: 1 CreateTopics, 3 Produce",
    ]


def test_failure_shows_the_first_requests_and_counts_the_others(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        for sequence in range(2, 7):
            client.produce(sequence)

    lines = failure_of(broker, api="Produce", count=1)

    assert lines[6] == "    and 3 more"


def test_failure_shows_a_refused_batch_with_its_error_and_the_fault_of_a_request(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        client.produce(9)
        with broker.faults.lost_ack(topic="events"), pytest.raises(ConnectionError):
            client.produce(2)

    lines = failure_of(broker, api="Produce", count=0, since=4)

    assert lines[1].endswith("events-0 refused with OUT_OF_ORDER_SEQUENCE_NUMBER")
    assert lines[2].endswith("events-0 appended at offset 2, response not written, rule 1: close at applied")


def test_failure_says_how_many_requests_are_no_longer_kept() -> None:
    with Broker({"fauxka.journal.requests.max": "1"}) as broker:
        with TopicClient(broker.bootstrap_servers) as client:
            client.create_topic("events")
            client.produce(0)

        lines = failure_of(broker, api="Fetch")

    limits = "fauxka.journal.requests.max, fauxka.journal.bytes.max"
    assert lines[-1] == f"older requests that are no longer kept ({limits}): 1"


@pytest.mark.parametrize(("fields", "message"), [({"api": "Prodduce"}, "did you mean Produce"), ({"key": "a"}, "key")])
def test_filter_that_no_request_can_fulfil_is_an_error(broker: Broker, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RuleError, match=message):
        broker.journal.assert_requests(count=0, **fields)


def test_cleared_journal_has_no_requests(broker: Broker) -> None:
    before = broker.journal.clear()

    assert (before.count, broker.journal.count()) == (4, 0)
