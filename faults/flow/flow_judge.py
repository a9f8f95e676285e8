"""Makes the findings of a flow from its events and the reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from .flow_events import FlowEvent, Place
from .flow_reasons import FlowReasons, Reason
from .flow_verdict import EventInFlow, FlowCounts, FlowFinding, FlowPlace, Kind

# Findings in a verdict, and events and requests of a finding; the rest is a number.
FINDINGS_MAX = 1000
EVENTS_NAMED_MAX = 100
REQUESTS_MAX = 100


class FlowJudge:
    """Counts the events, and joins those to which the same happened for the same reason.

    unjudged: kinds that are not judged, because records that would show it were deleted.
    """

    def __init__(self, reasons: FlowReasons, unjudged: Collection[Kind] = ()) -> None:
        """Judge events one by one with add."""
        self.counts = FlowCounts()
        self.findings_left_out = 0
        self._unjudged = unjudged
        self._reason_of: dict[Kind, Callable[[FlowEvent], Reason]] = {
            Kind.LOST: reasons.of_lost,
            Kind.DOUBLED: reasons.of_doubled,
            Kind.OUT_OF_ORDER: reasons.of_overtaken,
            Kind.UNEXPECTED: reasons.of_unexpected,
        }
        self._findings: dict[tuple[Kind, str, str], FlowFinding] = {}

    @property
    def findings(self) -> list[FlowFinding]:
        """The findings by kind, and then in the order of their first event."""
        return [finding for kind in Kind for (of, _, _), finding in self._findings.items() if of is kind]

    def add(self, event: FlowEvent) -> None:
        """Judge an event."""
        self.counts.input += event.input.count > 0
        self.counts.output += event.output.count > 0
        self.counts.once += 0 < event.output.count <= event.input.count
        for kind in _kinds_of(event):
            if kind not in self._unjudged:
                setattr(self.counts, kind.value, getattr(self.counts, kind.value) + 1)
                self._add_finding(kind, self._reason_of[kind](event), event)

    def _add_finding(self, kind: Kind, reason: Reason, event: FlowEvent) -> None:
        key = (kind, reason.cause, reason.why)
        finding = self._findings.get(key)
        if finding is None:
            if len(self._findings) >= FINDINGS_MAX:
                self.findings_left_out += 1
                return
            finding = FlowFinding(kind=kind.value, cause=reason.cause, why=reason.why, count=0, events=[])
            self._findings[key] = finding
        finding.count += 1
        if len(finding.events) < EVENTS_NAMED_MAX:
            places = {"input": _places(event.input.places), "output": _places(event.output.places)}
            finding.events.append(EventInFlow(event=event.name, **places))
        new = [each for each in reason.request_ids if each not in finding.request_ids]
        finding.request_ids += new[: REQUESTS_MAX - len(finding.request_ids)]


def _kinds_of(event: FlowEvent) -> Iterator[Kind]:
    if not event.input.count:
        if event.output.count:
            yield Kind.UNEXPECTED
        return
    if not event.output.count:
        yield Kind.LOST
    elif event.output.count > event.input.count:
        yield Kind.DOUBLED
    if event.overtaken_by is not None:
        yield Kind.OUT_OF_ORDER


def _places(places: Sequence[Place]) -> list[FlowPlace]:
    return [FlowPlace(partition=each.partition, offset=each.offset) for each in places]
