"""Compares the result of a run with the expectations of its scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from msgspec import Struct

from .clients.client import NO_ANSWER, Delivery
from .clients.consumer import ScenarioConsumer
from .report.journal_requests import NOT_APPLIED, REFUSED
from .report.stored_log import StoredBatch
from .report.timeline import Moment
from .scenario import RAW, Expectation, ExpectedFinding

COPY = "copy "


class Check(Struct, frozen=True):
    """One expected value and the value that was seen."""

    what: str
    expected: str
    seen: str
    passed: bool


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    decisions: by batch name, one per attempt, in order. streamed: the events of a stream, in the order of sending.
    groups: the verdicts on groups. committed: what a read_committed consumer reads.
    ends: the results of ended transactions.
    consumers: by their names in the scenario. errors: of the steps read_error, by consumer.
    authenticates_again: whether a connection of the first producer has authenticated more than once.
    received_ms: when the first request of a batch arrived.
    """

    client: str
    deliveries: Sequence[Delivery]
    decisions: Mapping[str, Sequence[Moment]]
    stored: Sequence[StoredBatch]
    cached: Sequence[str]
    verdict: Mapping[str, Any]
    groups: Mapping[str, Mapping[str, Any]]
    streamed: Sequence[str]
    committed: Sequence[StoredBatch]
    ends: Sequence[str]
    consumers: Mapping[str, ScenarioConsumer]
    errors: Mapping[str, Sequence[str]]
    authenticates_again: bool
    received_ms: Mapping[str, int]


def check(expected: Expectation, seen: RunResult) -> list[Check]:
    """Return one check per expected value."""
    return list(_checks(expected, seen))


def _checks(expected: Expectation, seen: RunResult) -> Iterator[Check]:
    for partition, names in expected.log.items():
        yield compared(f"log of partition {partition}", names, log_of(seen.stored, int(partition)))
    for partition, names in expected.committed.items():
        yield compared(f"committed in partition {partition}", names, log_of(seen.committed, int(partition)))
    if expected.ends is not None:
        yield compared("ends of transactions", expected.ends, list(seen.ends))
    for name, answer in expected.answers.items():
        yield compared(f"response to {name}", answer, delivery_result(seen, name, answer))
    for name, decisions in expected.decisions.items():
        yield _decisions(name, decisions, seen)
    for name, words in expected.why.items():
        yield _reason(name, words, seen)
    if expected.cached is not None:
        yield compared("cached batches", expected.cached, list(seen.cached))
    for name, copies in expected.copies.items():
        yield compared(f"copies of each event of {name}", [copies], copies_of(seen, name))
    yield from _verdict(expected, seen)
    yield from _producers(expected, seen)
    if expected.streamed_once:
        yield _stream(seen)
    for name, batches in expected.consumed.items():
        events = seen.consumers[name].events
        yield compared(f"batches that {name} has read", batches, [name_of(each) for each in events if is_first(each)])
    for name, errors in expected.errors.items():
        yield compared(f"errors of {name}", errors, list(seen.errors.get(name, ())))
    if expected.authenticates_again is not None:
        yield compared("another authentication", expected.authenticates_again, seen.authenticates_again)
    for pair, wait_ms in expected.waits.items():
        yield _wait(pair, wait_ms, seen)
    for name, resets in expected.resets.items():
        yield compared(f"resets of {name}", resets, seen.consumers[name].resets)


def log_of(stored: Sequence[StoredBatch], partition: int) -> list[str]:
    """Return the names of the batches in a partition, in the order of their first events."""
    events = [event for batch in stored if batch.partition == partition for event in batch.events]
    return [name_of(event) for event in events if is_first(event)]


def is_first(event: str) -> bool:
    """Whether event is the first event of a batch."""
    return event.endswith("-1") and bool(name_of(event))


def name_of(event: str) -> str:
    """Return the batch name of an event."""
    return event.rpartition("-")[0]


def delivery_result(seen: RunResult, name: str, expected: str) -> str:
    """Return the result of the last send of a batch in the format of `answers`, such as "copy 1" or an error name."""
    deliveries = [delivery for delivery in seen.deliveries if delivery.batch == name]
    if not deliveries:
        return "not sent"
    last = deliveries[-1]
    if last.offset is None:
        return last.error
    for number, offset in enumerate(offsets_of(seen, name, last.partition), 1):
        if offset == last.offset and expected != NO_ANSWER:
            return f"{COPY}{number}"
    return f"offset {last.offset}"


def offsets_of(seen: RunResult, name: str, partition: int) -> list[int]:
    """Return the offsets of the copies of a batch in a partition."""
    return [
        batch.base_offset + index
        for batch in seen.stored
        if batch.partition == partition
        for index, event in enumerate(batch.events)
        if is_first(event) and name_of(event) == name
    ]


def decision_of(moment: Moment) -> str:
    """Return a decision as one word, for a refused batch the error name."""
    if moment.kind != "decision":
        return NOT_APPLIED
    return moment.error if moment.decision == REFUSED else moment.decision


def _decisions(name: str, expected: Sequence[str], seen: RunResult) -> Check:
    decisions = [decision_of(moment) for moment in seen.decisions.get(name, ())]
    passed = decisions == list(expected) if seen.client == RAW else is_subsequence(expected, decisions)
    return Check(f"decisions about {name}", ", ".join(expected), ", ".join(decisions), passed)


def is_subsequence(expected: Sequence[str], seen: Sequence[str]) -> bool:
    """Whether seen contains all of expected in this order, perhaps with others between them."""
    remaining = iter(seen)
    return all(word in remaining for word in expected)


def _wait(names: str, wait_ms: int, seen: RunResult) -> Check:
    first, second = (seen.received_ms.get(name) for name in names.split(", "))
    waited = f"{second - first} ms" if first is not None and second is not None else "not sent"
    passed = first is not None and second is not None and second - first >= wait_ms
    return Check(f"time between {names}", f"at least {wait_ms} ms", waited, passed)


def _reason(name: str, words: str, seen: RunResult) -> Check:
    reasons = [moment.text for moment in seen.decisions.get(name, ())]
    found = any(words in reason for reason in reasons)
    return Check(f"reason given for {name}", words, "; ".join(reasons) or "none", found)


def copies_of(seen: RunResult, name: str) -> list[int]:
    """Return the number of copies of the events of a batch in all logs, without repetitions."""
    events = Counter(event for batch in seen.stored for event in batch.events if event.startswith(f"{name}-"))
    return sorted(set(events.values())) or [0]


def _verdict(expected: Expectation, seen: RunResult) -> Iterator[Check]:
    for part, numbers in expected.verdict.items():
        for name, number in numbers.items():
            yield compared(f"verdict {part}.{name}", number, seen.verdict.get(part, {}).get(name))
    if expected.findings is not None:
        yield _findings("findings", expected.findings, seen.verdict)
    for group, findings in expected.groups.items():
        yield _findings(f"findings of group {group}", findings, seen.groups[group])


def _findings(what: str, expected: Sequence[ExpectedFinding], verdict: Mapping[str, Any]) -> Check:
    """Return the check that the verdict has these findings in this order, and no others."""
    found: list[Mapping[str, Any]] = verdict["findings"]
    passed = len(found) == len(expected) and all(
        (each.kind, each.offsets) == (one["kind"], one["offsets"]) and each.why in one["why"]
        for each, one in zip(expected, found, strict=True)
    )
    wanted = [_finding_text(each.kind, each.offsets, each.why) for each in expected]
    seen = wanted if passed else [_finding_text(one["kind"], one["offsets"], one["why"]) for one in found]
    return Check(what, "; ".join(wanted) or "none", "; ".join(seen) or "none", passed)


def _finding_text(kind: str, offsets: Sequence[int], why: str) -> str:
    return f"{kind} {offsets[0]}..{offsets[-1]}: {why}"


def _producers(expected: Expectation, seen: RunResult) -> Iterator[Check]:
    named = [batch for batch in seen.stored if batch.name and batch.producer_id >= 0]
    if expected.producers is not None:
        yield compared("producer ids in the log", expected.producers, len({batch.producer_id for batch in named}))
    if expected.epochs is not None:
        yield compared("epochs in the log", expected.epochs, sorted({batch.producer_epoch for batch in named}))


def _stream(seen: RunResult) -> Check:
    what = "streamed events in the log"
    stored = [event for batch in seen.stored for event in batch.events if event]
    sent = list(seen.streamed)
    expected = f"{len(sent)}, each once, in order"
    if stored == sent:
        return Check(what, expected, expected, True)
    missing, again = len(set(sent) - set(stored)), len(stored) - len(set(stored))
    return Check(what, expected, f"{len(stored)}: {missing} missing, {again} again, or not in order", False)


def compared(what: str, expected: object, seen: object) -> Check:
    """Return the check that both are equal."""
    return Check(what, value_text(expected), value_text(seen), expected == seen)


def value_text(value: object) -> str:
    """Return a value as text for a report."""
    if isinstance(value, list):
        return " ".join(str(item) for item in cast("list[object]", value)) or "nothing"
    return str(value)
