"""The verdict on a group, over every transport, as a command and in the report of a failed test."""

from __future__ import annotations

import pytest

from fauxka.admin.errors import CallError
from fauxka.faults.rule_error import RuleError
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

from ..wire.message_client import MessageClient
from .transports import Broker


def commit(broker: Broker, *offsets: int) -> None:
    with MessageClient(broker.bootstrap_servers) as client:
        for offset in offsets:
            partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
            topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
            client.call(OffsetCommitRequest(group_id="billing", topics=[topic]), 8)


def test_verdict_names_the_commit_that_moved_back() -> None:
    with Broker() as broker:
        broker.topics.create("orders", partitions=1)
        broker.topics.seed("orders", [{"key": str(number), "value": "v"} for number in range(3)])
        commit(broker, 3, 1)

        verdict = broker.verdict(group="billing")

        (finding,) = verdict.findings
        assert (finding.kind, finding.cause, finding.offsets) == ("commit_moved_back", "other_client", [1, 2])
        assert finding.keys == ["1", "2"]
        assert [broker.journal.entries(since=each - 1)[0].api for each in finding.request_ids] == ["OffsetCommit"]
        assert verdict.lag == 2
        with pytest.raises(AssertionError, match="nothing was delivered to group 'billing'"):
            verdict.assert_delivered_once()
        with pytest.raises(AssertionError, match="expected a lag of at most 1, found 2"):
            verdict.assert_lag(1)


def test_reports_of_the_application_name_what_it_processed_twice_and_never() -> None:
    with Broker() as broker:
        broker.topics.create("orders", partitions=1)
        broker.topics.seed("orders", [{"key": str(number), "value": "v"} for number in range(3)])
        broker.processed("orders", 0, [0, 0], group="billing")
        broker.processed("orders", group="billing", event="2", event_id="key")

        verdict = broker.verdict(group="billing")

        found = [(each.kind, each.offsets) for each in verdict.findings]
        assert found == [
            ("processed_twice", [0, 0]),
            ("never_processed", [1, 1]),
            ("processed_uncommitted", [0, 0]),
            ("processed_uncommitted", [2, 2]),
        ]
        with pytest.raises(AssertionError, match="expected every record processed once, found"):
            verdict.assert_processed_once()


def test_reset_of_the_journal_clears_the_verdict() -> None:
    with Broker() as broker:
        broker.topics.create("orders", partitions=1)
        commit(broker, 0)
        broker.reset("journal")

        assert broker.verdict(group="billing").partitions == []


def test_group_that_was_never_seen_is_an_error() -> None:
    with Broker() as broker, pytest.raises(CallError, match="there is no group 'billing'"):
        broker.verdict(group="billing")


def test_topic_and_group_together_are_an_error() -> None:
    with Broker() as broker, pytest.raises(RuleError, match="either a topic or a group"):
        broker.verdict("orders", group="billing")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
