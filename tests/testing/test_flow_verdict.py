"""The verdict on what an application makes of one topic in another, over every transport."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fauxka.admin.errors import CallError
from fauxka.faults.flow.flow_verdict import FlowVerdict
from fauxka.faults.rule_error import RuleError
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

from ..wire.message_client import MessageClient
from .transports import Broker

GROUP = "billing"


def fill(broker: Broker, inputs: Sequence[int], outputs: Sequence[int]) -> None:
    """Write events to both topics, each with one partition."""
    for topic, numbers in (("orders", inputs), ("invoices", outputs)):
        broker.topics.create(topic, partitions=1)
        if numbers:
            broker.topics.seed(topic, [{"value": topic, "headers": {"id": f"A-{number}"}} for number in numbers])


def commit(broker: Broker, offset: int, group: str = GROUP) -> None:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
    with MessageClient(broker.bootstrap_servers) as client:
        client.call(OffsetCommitRequest(group_id=group, topics=[topic]), 8)


def verdict_of(broker: Broker, group: str | None = None) -> FlowVerdict:
    return broker.verdict(from_topic="orders", to_topic="invoices", event_id="header:id", group=group)


def found_in(verdict: FlowVerdict) -> list[tuple[str, str, list[str]]]:
    return [(each.kind, each.cause, [event.event for event in each.events]) for each in verdict.findings]


def test_verdict_names_events_with_their_places_and_the_reason() -> None:
    with Broker() as broker:
        fill(broker, range(7), [0, 2, 1, 3, 3, 9])
        commit(broker, 5)

        verdict = verdict_of(broker, GROUP)

        assert found_in(verdict) == [
            ("lost", "committed", ["A-4"]),
            ("lost", "not_read", ["A-5", "A-6"]),
            ("doubled", "delivered_once", ["A-3"]),
            ("out_of_order", "overtaken", ["A-1"]),
            ("unexpected", "no_input", ["A-9"]),
        ]
        (doubled,) = verdict.findings[2].events
        assert [(each.partition, each.offset) for each in (*doubled.input, *doubled.output)] == [(0, 3), (0, 3), (0, 4)]
        counts = "input 7, output 5, once 3, lost 3, doubled 1, out of order 1, unexpected 1"
        assert repr(verdict) == f"<verdict on 'orders' to 'invoices': {counts}>"
        with pytest.raises(AssertionError) as failure:
            verdict.assert_exactly_once()
        assert str(failure.value).splitlines()[:2] == [
            "orders to invoices: expected exactly once, found 3 lost, 1 doubled, 1 unexpected",
            "    lost: A-4 (0@4 to nowhere): group billing has committed them, and their output was never written",
        ]
        with pytest.raises(AssertionError, match="invoices has A-2 before them, which orders has behind them at 0@2"):
            verdict.assert_in_order()
        with pytest.raises(AssertionError, match="expected no duplicates, found 1 doubled"):
            verdict.assert_no_duplicates()
        with pytest.raises(AssertionError, match="expected nothing lost, found 3 lost"):
            verdict.assert_nothing_lost()


def test_clean_flow_passes_every_assertion() -> None:
    with Broker() as broker:
        fill(broker, range(3), range(3))
        commit(broker, 3)

        verdict = verdict_of(broker)

        assert (verdict.group, verdict.findings, verdict.notes) == (GROUP, [], [])
        verdict.assert_exactly_once()
        verdict.assert_in_order()


def test_events_that_the_application_reported_and_did_not_write_are_named() -> None:
    with Broker() as broker:
        fill(broker, range(3), [2])
        commit(broker, 3)
        broker.processed("orders", 0, 0, group=GROUP)
        broker.processed("orders", event="A-1", event_id="header:id", group=GROUP)

        assert found_in(verdict_of(broker, GROUP)) == [("lost", "processed", ["A-0", "A-1"])]


def test_several_groups_that_read_the_input_give_no_reason_without_a_name() -> None:
    with Broker() as broker:
        fill(broker, range(1), [])
        commit(broker, 1)
        commit(broker, 1, "shipping")

        verdict = verdict_of(broker)

        assert (verdict.group, found_in(verdict)) == (None, [("lost", "unknown", ["A-0"])])
        assert verdict.notes == ["2 groups read orders, such as billing, shipping: give that of the application"]


def test_records_without_the_event_id_are_counted_in_a_note() -> None:
    with Broker() as broker:
        fill(broker, [], [])
        broker.topics.seed("orders", [{"value": "v"}])

        with pytest.raises(AssertionError) as failure:
            verdict_of(broker).assert_exactly_once()

        assert str(failure.value).splitlines() == [
            "orders has no events by header:id, so there is nothing to judge",
            "    orders has 1 records without header:id, which are not judged",
        ]


def test_deleted_records_leave_what_they_would_show_unjudged() -> None:
    with Broker() as broker:
        broker.topics.create("invoices", partitions=1, configs={"cleanup.policy": "compact"})
        broker.topics.seed("invoices", [{"key": "k", "value": "v", "headers": {"id": "A-1"}}])
        broker.topics.create("orders", partitions=1)
        broker.topics.seed("orders", [{"value": "v", "headers": {"id": f"A-{number}"}} for number in range(2)])

        verdict = verdict_of(broker)

        assert (verdict.unjudged, verdict.findings) == (["lost"], [])
        with pytest.raises(AssertionError, match="invoices is compacted: which events are lost cannot be told"):
            verdict.assert_nothing_lost()


@pytest.mark.parametrize("missing", ["from", "to"])
def test_topic_that_does_not_exist_is_named(missing: str) -> None:
    with Broker() as broker, pytest.raises(CallError, match="there is no topic") as error:
        broker.topics.create("invoices" if missing == "from" else "orders")
        verdict_of(broker)

    assert error.value.detail.field == missing


def test_group_that_was_never_seen_is_an_error() -> None:
    with Broker() as broker, pytest.raises(CallError, match="there is no group 'billing'"):
        fill(broker, [], [])
        verdict_of(broker, GROUP)


def test_topic_is_no_output_of_itself() -> None:
    with Broker() as broker, pytest.raises(RuleError, match="from and to are both 'orders'"):
        fill(broker, [], [])
        broker.verdict(from_topic="orders", to_topic="orders", event_id="key")


def test_event_id_is_required() -> None:
    with Broker() as broker, pytest.raises(RuleError, match="give either a topic or a group, or from and to"):
        fill(broker, [], [])
        broker.verdict(from_topic="orders", to_topic="invoices")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
