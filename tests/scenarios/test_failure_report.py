"""Reports on a broker after a failed test, from literal requests, verdicts and rules."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from fauxka.admin.errors import CallError
from fauxka.faults.journal.details.models import (
    FetchDetails,
    FetchedRange,
    GroupOffset,
    OffsetsDetails,
    ResponseError,
)
from fauxka.faults.journal.journal_batches import JournalBatch
from fauxka.faults.journal.journal_entries import JournalEntry, JournalFault
from fauxka.faults.verdict.topic_verdict import BatchVerdict, RecordVerdict, TopicVerdict
from fauxka.faults.verdict.verdict_findings import Finding
from fauxka.scenarios.report import failure_report as report
from fauxka.scenarios.report.diagram import WIDTH
from fauxka.scenarios.report.failure_report import FailedTest, Part, failure_report
from fauxka.testing import Broker


def batch(topic: str = "orders", **changes: Any) -> JournalBatch:
    fields: dict[str, Any] = {
        "topic": topic,
        "partition": 0,
        "producer_id": 7,
        "producer_epoch": 0,
        "base_sequence": 0,
        "last_sequence": 4,
        "records": 5,
        "decision": "appended",
        "error": None,
        "base_offset": 0,
        "why": "producer 7 epoch 0: sequences 0..4 appended at offsets 0..4",
    }
    return JournalBatch(**{**fields, **changes})


def request(request_id: int, api: str = "Fetch", *batches: JournalBatch, **changes: Any) -> JournalEntry:
    fields: dict[str, Any] = {
        "id": request_id,
        "at_ms": request_id,
        "node": 1,
        "connection": 1,
        "listener": "PLAINTEXT",
        "principal": "User:ANONYMOUS",
        "client_id": "client",
        "client_host": "127.0.0.1",
        "software": "",
        "api": api,
        "api_version": 9,
        "correlation_id": request_id,
        "size": 100,
        "topics": ["orders"],
        "group_ids": [],
        "transactional_id": None,
        "batches": list(batches),
        "answered": True,
        "answer": "written",
        "error": None,
        "rule": None,
        "faults": [],
    }
    return JournalEntry(**{**fields, **changes})


def produce(request_id: int, **changes: Any) -> JournalEntry:
    return request(request_id, "Produce", batch(), **changes)


def fault(kind: str, point: str = "applied", rule: int = 1) -> JournalFault:
    return JournalFault(rule=rule, point=point, kind=kind)


@dataclass
class FakeRule:
    id: int
    name: str
    hits: int
    near_misses: tuple[str, ...] = ()

    def describe(self) -> list[str]:
        return [f"rule {self.id} {self.name!r}: {self.hits} hits", *(f"    {line}" for line in self.near_misses)]


@dataclass
class FakeRules:
    watched: list[FakeRule] = field(default_factory=list[FakeRule])
    rules: list[FakeRule] = field(default_factory=list[FakeRule])


@dataclass
class FakeJournal:
    requests: list[JournalEntry]

    @property
    def last_id(self) -> int:
        return self.requests[-1].id if self.requests else 0

    def entries(self, since: int) -> list[JournalEntry]:
        return [each for each in self.requests if each.id > since]


class FakeBroker:
    is_running = True

    def __init__(self, *requests: JournalEntry) -> None:
        self.journal = FakeJournal(list(requests))
        self.faults = FakeRules()
        self.files = FakeRules()
        self.findings: list[Finding] = []
        self.unknown_topics: set[str] = set()

    def verdict(self, topic: str) -> TopicVerdict:
        if topic in self.unknown_topics:
            raise CallError(404, f"no topic {topic!r}")
        return TopicVerdict(
            topic=topic,
            batches=BatchVerdict(appended_once=1, duplicates_recognised=2),
            records=RecordVerdict(in_log=5, distinct=5),
            findings=self.findings,
            producers=[],
        )


def finding(why: str) -> Finding:
    return Finding(
        kind="appended_twice",
        partition=0,
        offsets=[0, 1],
        producer_id=7,
        producer_epoch=0,
        base_sequence=0,
        why=why,
        records=1,
    )


def failed(broker: FakeBroker, **changes: Any) -> FailedTest:
    return FailedTest(cast(Broker, broker), **changes)


def reported(*requests: JournalEntry) -> str:
    return failure_report(failed(FakeBroker(*requests)))


def arrows(text: str) -> list[str]:
    """Return the requests, responses and notes of a diagram, without lines and margins."""
    lines = (line.strip().strip("|").strip(" -<>.") for line in text.splitlines() if line.startswith("  |"))
    return [line for line in lines if line]


def test_a_batch_is_drawn_with_its_topic_decision_and_response() -> None:
    assert arrows(reported(produce(1))) == [
        "Produce orders: producer 7 epoch 0 sequences 0..4",
        "sequences 0..4 appended at offsets 0..4",
        "offset 0",
    ]


def test_a_lost_response_names_the_rule() -> None:
    broker = FakeBroker(produce(1, answered=False, answer="not_written", faults=[fault("close")]))
    broker.faults.watched.append(FakeRule(1, "lost ack", 1))

    assert "lost: close at applied: rule 1 'lost ack' X - - - offset 0" in failure_report(failed(broker))


def test_a_request_without_batches_is_drawn_with_its_subjects() -> None:
    text = reported(
        request(1, "OffsetFetch", group_ids=["readers"]), request(2, "EndTxn", topics=[], transactional_id="t")
    )

    assert arrows(text)[::2] == ["OffsetFetch orders, group readers", "EndTxn transactional id t"]


def test_chatter_is_left_out() -> None:
    assert arrows(reported(request(1, "ApiVersions"), request(2, "Metadata"), produce(3)))[0].startswith("Produce")


@pytest.mark.parametrize(
    "changes", [{"faults": [fault("delay")]}, {"error": "UNKNOWN_TOPIC_OR_PARTITION"}], ids=["fault", "error"]
)
def test_chatter_with_a_fault_or_an_error_is_drawn(changes: dict[str, Any]) -> None:
    assert arrows(reported(request(1, "Metadata", **changes)))[0] == "Metadata orders"


def test_chatter_that_a_rule_only_observed_is_left_out() -> None:
    assert "of ApiVersions and Metadata" in reported(request(1, "Metadata", faults=[fault("observe")]))


def test_a_test_without_requests_is_reported() -> None:
    assert reported() == "The broker received no requests."


def test_repeated_requests_are_drawn_once_with_their_number() -> None:
    drawn = arrows(reported(*(request(number) for number in range(1, 41)), request(41, "LeaveGroup")))

    assert drawn[:4] == [
        "Fetch orders",
        "response",
        "39 more Fetch orders, each with its response",
        "LeaveGroup orders",
    ]


def test_a_repeated_request_with_an_error_is_drawn_by_itself() -> None:
    drawn = arrows(reported(request(1), request(2), request(3, error="OFFSET_OUT_OF_RANGE")))

    assert drawn[-2:] == ["Fetch orders", "OFFSET_OUT_OF_RANGE"]


def test_the_newest_exchanges_are_drawn() -> None:
    requests = [produce(number, faults=[fault("delay")]) for number in range(1, report.EXCHANGES_MAX + 11)]

    drawn = arrows(reported(*requests))

    assert drawn[0] == "10 earlier requests"
    assert sum(line.startswith("Produce") for line in drawn) <= report.EXCHANGES_MAX


def test_requests_before_the_test_are_left_out() -> None:
    broker = FakeBroker(request(1, "Fetch"), produce(2))

    assert arrows(failure_report(failed(broker, since=1)))[0].startswith("Produce")


def test_a_pending_response_is_not_called_lost() -> None:
    assert arrows(reported(request(1, answered=False, answer="waiting")))[-1].startswith("no response yet")


def test_a_request_without_acknowledgement_has_no_response() -> None:
    text = reported(produce(1, answered=False, answer="not_owed"))

    assert "lost" not in text
    assert "the client expects no response" in text


def test_another_connection_is_not_called_a_reconnect() -> None:
    drawn = arrows(reported(produce(1), produce(2, connection=2)))

    assert "* a new connection" in drawn


def test_each_topic_has_its_counts_and_findings() -> None:
    broker = FakeBroker(produce(1), request(2, "Produce", batch("payments"), topics=["payments"]))
    broker.findings = [finding("it was sent again")]

    lines = failure_report(failed(broker)).splitlines()

    start = lines.index("Verdict")
    assert lines[start + 1 : start + 5] == [
        "  orders: appended once 1, duplicates recognised 2, 5 records in the log",
        "    appended_twice: it was sent again",
        "  payments: appended once 1, duplicates recognised 2, 5 records in the log",
        "    appended_twice: it was sent again",
    ]


def test_a_topic_that_does_not_exist_is_one_line_of_the_verdict() -> None:
    broker = FakeBroker(request(1, "Produce", batch("payment"), topics=["payment"]), produce(2))
    broker.unknown_topics = {"payment"}

    lines = failure_report(failed(broker)).splitlines()

    start = lines.index("Verdict")
    assert lines[start + 1 : start + 3] == [
        "  payment: no topic 'payment'",
        "  orders: appended once 1, duplicates recognised 2, 5 records in the log",
    ]


def test_only_an_unfired_rule_has_its_near_misses() -> None:
    broker = FakeBroker()
    broker.faults.watched = [FakeRule(1, "fired", 1, ("1 matched all but topic",))]
    broker.files.rules = [FakeRule(1, "full", 0, ("2 matched all but folder",))]

    assert failure_report(failed(broker)).splitlines()[2:] == [
        "Fault rules",
        "  rule 1 'fired': 1 hits",
        "  rule 1 'full': 0 hits",
        "    2 matched all but folder",
    ]


def test_near_misses_that_the_failure_lists_are_not_repeated() -> None:
    broker = FakeBroker()
    broker.faults.watched = [FakeRule(1, "unfired", 0, ("1 matched all but topic",))]

    assert "all but" not in failure_report(failed(broker, has_listed_unfired=True))


def test_a_broker_that_is_down_is_reported() -> None:
    broker = FakeBroker()
    broker.is_running = False

    assert "The broker is down: clients cannot connect." in failure_report(failed(broker))


def test_a_report_is_bounded_in_lines_and_columns() -> None:
    why = "word " * 500
    wide = [batch(f"topic-{number}", why=why) for number in range(100)]
    broker = FakeBroker(*(request(number, "Produce", *wide, topics=["x" * 249] * 500) for number in range(1, 60)))
    broker.findings = [finding(why)] * 1000
    broker.faults.watched = [FakeRule(number, why, 0, (why,) * 3) for number in range(1000)]

    lines = failure_report(failed(broker)).splitlines()

    assert len(lines) <= report.DIAGRAM_LINES_MAX + 3 * (report.PART_LINES_MAX + 2)
    assert max(map(len, lines)) <= WIDTH


def test_a_bounded_diagram_keeps_its_end() -> None:
    wide = [batch(f"topic-{number}") for number in range(500)]
    requests = [request(1, "Produce", *wide), request(2, "LeaveGroup", group_ids=["readers"])]

    assert "LeaveGroup orders, group readers" in arrows(reported(*requests))


def test_a_part_that_raises_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(test: FailedTest) -> Iterator[str]:
        yield "a line"
        raise KeyError("of two\nlines")

    monkeypatch.setattr(
        report, "PARTS", (Part(raising, heading="First"), Part(report.state_lines), Part(lambda _: ["x"]))
    )

    assert failure_report(failed(FakeBroker())) == "First\n  not available, KeyError: 'of two\\nlines'\n\nx"


def test_a_part_is_a_function_from_the_broker_to_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Part(lambda test: [f"  {len(test.broker.journal.entries(since=0))} requests"], heading="Notes")
    monkeypatch.setattr(report, "PARTS", (*report.PARTS, notes))

    assert reported(produce(1)).endswith("\n\nNotes\n  1 requests")


def test_fetch_and_commit_show_their_offsets() -> None:
    fetched = FetchedRange(topic="orders", partition=0, fetch_offset=12, first_offset=10, last_offset=19)
    fetch = FetchDetails(isolation="read_uncommitted", session_id=0, session_epoch=-1, partitions=[fetched])
    committed = [GroupOffset(topic="orders", partition=0, offset=20)]
    offsets = OffsetsDetails(group_id="billing", member_id="m-1", epoch=3, offsets=committed)

    text = reported(
        request(1, fetch=fetch), request(2, "OffsetCommit", topics=["orders"], group_ids=["billing"], offsets=offsets)
    )

    assert "Fetch orders-0 from 12" in text
    assert "orders-0 10..19" in text
    assert "OffsetCommit orders-0 at 20, group billing" in text


def test_error_inside_a_response_has_its_partition() -> None:
    error = ResponseError(error="ILLEGAL_GENERATION", topic="orders", partition=2)

    text = reported(request(1, "OffsetCommit", error="ILLEGAL_GENERATION", first_error=error, more_errors=2))

    assert "ILLEGAL_GENERATION for orders-2 and 2 more" in text
