"""The verdict on what an application makes of one topic in another, with assertions that explain their failures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum

from msgspec import Struct, structs

from ..consumption.group_verdict import FINDINGS_SHOWN, failure_text

# Events that a line names.
EVENTS_SHOWN = 3


class Kind(Enum):
    """What happened to events. The values are those of the admin API."""

    LOST = "lost"
    DOUBLED = "doubled"
    OUT_OF_ORDER = "out_of_order"
    UNEXPECTED = "unexpected"


class FlowPlace(Struct, frozen=True, kw_only=True):
    """A record of one of the two topics."""

    partition: int
    offset: int


class EventInFlow(Struct, frozen=True, kw_only=True):
    """An event with the places of its committed records in both topics, the first ten of each.

    event: its id; a long one is shortened.
    """

    event: str
    input: list[FlowPlace]
    output: list[FlowPlace]


class FlowFinding(Struct, kw_only=True):
    """Events to which the same happened for the same reason.

    kind: "lost" (in the input and not in the output), "doubled" (more often in the output than in the input),
    "out_of_order" (behind a later event of the same input partition, in one output partition) or "unexpected" (made of
    nothing: in the output and not in the input).
    cause: lost: "output_aborted", "output_open", "processed" (by the reports of the application, and not written),
    "committed" (by the group, without the output), "not_committed" or "not_read" (they may still come), "unknown", or
    as never_delivered, "archived" or "rejected" in the verdict on a group. doubled: as delivered_twice there,
    "delivered_once" or "unknown". out_of_order: as delivered_twice, or "overtaken". unexpected: "aborted_input",
    "open_input" or "no_input".
    why: the reason as a sentence. events: the first 100. count: the number of all. request_ids: in the journal.
    """

    kind: str
    cause: str
    why: str
    count: int
    events: list[EventInFlow]
    request_ids: list[int] = []


class FlowCounts(Struct, kw_only=True):
    """Numbers of events. input, output: those of each topic. once: in both, and in the output not more often."""

    input: int = 0
    output: int = 0
    once: int = 0
    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    unexpected: int = 0

    def __str__(self) -> str:
        """Return the counts that are not 0, such as "input 3, output 2, once 2, lost 1"."""
        counts: dict[str, int] = structs.asdict(self)
        return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items() if count) or "no events"


class FlowVerdict(Struct, kw_only=True, tag_field="of", tag="flow"):
    """The verdict on what an application makes of from_topic in to_topic, by the committed records of both.

    group: the one whose deliveries and commits give the reasons; null without one.
    unjudged: kinds of findings that cannot be told, because records were deleted; notes says which.
    findings_left_out: how many more findings there are at most.
    """

    from_topic: str
    to_topic: str
    event_id: str
    group: str | None
    events: FlowCounts
    findings: list[FlowFinding]
    unjudged: list[str] = []
    notes: list[str] = []
    findings_left_out: int = 0

    def __repr__(self) -> str:
        """Return the counts in one line."""
        return f"<verdict on {self.from_topic!r} to {self.to_topic!r}: {self.events}>"

    def assert_exactly_once(self) -> None:
        """Assert that the output has every event of the input, none more often than the input, and no others.

        The order may differ. Raises AssertionError with the first findings, if the input has no events, and if it
        cannot be told because records were deleted.
        """
        __tracebackhide__ = True
        self._check("exactly once", (Kind.LOST, Kind.DOUBLED, Kind.UNEXPECTED))

    def assert_nothing_lost(self) -> None:
        """Assert that every event of the input is in the output. Raises as assert_exactly_once."""
        __tracebackhide__ = True
        self._check("nothing lost", (Kind.LOST,))

    def assert_no_duplicates(self) -> None:
        """Assert that no event is in the output more often than in the input. Raises as assert_exactly_once."""
        __tracebackhide__ = True
        self._check("no duplicates", (Kind.DOUBLED,))

    def assert_in_order(self) -> None:
        """Assert that each output partition has the events of an input partition in their order.

        Raises as assert_exactly_once.
        """
        __tracebackhide__ = True
        self._check("the order of the input", (Kind.OUT_OF_ORDER,))

    def _check(self, wanted: str, kinds: Collection[Kind]) -> None:
        __tracebackhide__ = True
        flow, names = f"{self.from_topic} to {self.to_topic}", [each.value for each in kinds]
        counts: dict[str, int] = structs.asdict(self.events)
        if any(counts[each] for each in names):
            found = [each for each in self.findings if each.kind in names]
            described = [describe_finding(each) for each in found[:FINDINGS_SHOWN]]
            left_out = len(found) - len(described) + self.findings_left_out
            counted = ", ".join(f"{counts[each]} {each.replace('_', ' ')}" for each in names if counts[each])
            raise AssertionError(
                failure_text(f"{flow}: expected {wanted}, found {counted}", described, left_out, self.notes)
            )
        if not self.events.input:
            nothing = f"{self.from_topic} has no events by {self.event_id}, so there is nothing to judge"
            raise AssertionError(failure_text(nothing, [], 0, self.notes))
        if any(each in self.unjudged for each in names):
            raise AssertionError(failure_text(f"{flow}: cannot tell whether it is {wanted}", [], 0, self.notes))


def describe_finding(finding: FlowFinding) -> str:
    """Return a finding as one line: the kind, the first events with their places, and why."""
    return f"{finding.kind.replace('_', ' ')}: {events_text(finding)}: {finding.why}"


def events_text(finding: FlowFinding) -> str:
    """Return the first events of a finding with their places in both topics, and the number of the others."""
    shown = [_describe_event(each) for each in finding.events[:EVENTS_SHOWN]]
    more = finding.count - len(shown)
    return ", ".join([*shown, f"{more} more"] if more else shown)


def _describe_event(event: EventInFlow) -> str:
    return f"{event.event} ({_describe_places(event.input)} to {_describe_places(event.output)})"


def _describe_places(places: Sequence[FlowPlace]) -> str:
    return ", ".join(f"{each.partition}@{each.offset}" for each in places) or "nowhere"
