"""The report on a broker after a failed test: the requests as a sequence diagram, the verdict, the fault rules.

A report has PARTS, each a function from the failed test to lines, with a limit of lines. A part without lines is left
out. A part that raises is one line with the error: a report must not hide the failure of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

from ...admin.errors import CallError
from ...faults.consumption.group_verdict import describe_finding
from ...faults.flow.flow_verdict import describe_finding as describe_flow
from ...faults.journal.details.texts import asked_text
from .batch_names import BatchNames
from .consumer_requests import OFFSET_FETCH, answered_to, details_of
from .diagram import WIDTH, draw
from .journal_requests import JournalBatch, journal_requests
from .notes import Note
from .timeline import Moment, NamedRule, build_timeline

if TYPE_CHECKING:
    from ...faults.journal.journal_entries import JournalEntry
    from ...faults.verdict.topic_verdict import TopicVerdict
    from ...testing import Broker, Rule
    from ...testing.isolated_tests import EarlierClient
    from ...testing.marked_flow import MarkedFlow

# The newest requests of the journal that a report reads: all that it keeps by default.
REQUESTS_READ_MAX = 10_000
# The newest exchanges in a diagram; with more, the reader has to search.
EXCHANGES_MAX = 30
# The topics whose verdict is shown, and the findings of each.
TOPICS_MAX = 10
FINDINGS_MAX = 5
# A request can have thousands of batches, and a broker a thousand rules.
DIAGRAM_LINES_MAX = 200
PART_LINES_MAX = 60
# A rule or an error can hold a text of any length.
TEXT_CHARACTERS_MAX = 600

# Requests by which every client finds its broker. They are shown if a fault or an error affected them.
CHATTER = frozenset({"ApiVersions", "Metadata"})
# The action of rules that only count.
OBSERVE = "observe"
WRITTEN, WAITING, NO_RESPONSE = "written", "waiting", "not_owed"
# The decision on a batch that is in the log.
APPENDED = "appended"
_INDENT = "  "


@dataclass(frozen=True)
class FailedTest:
    """A failed test.

    broker: the broker of its fixtures. since: the journal's last id before the test.
    has_listed_unfired: whether the failure itself lists the rules that never fired, with their near misses.
    flows: those of its marks.
    """

    broker: Broker
    since: int = 0
    has_listed_unfired: bool = False
    flows: Sequence[MarkedFlow] = ()

    @cached_property
    def requests(self) -> list[JournalEntry]:
        """The newest requests of the test, oldest first."""
        journal = self.broker.journal
        return journal.entries(since=max(self.since, journal.last_id - REQUESTS_READ_MAX))

    @cached_property
    def fault_rules(self) -> list[Rule]:
        """The fault rules for requests and connections that the test added, and all others in force."""
        faults = self.broker.faults
        return list({rule.id: rule for rule in (*faults.watched, *faults.rules)}.values())

    @cached_property
    def file_rules(self) -> list[Rule]:
        """The fault rules for files that the test added, and all others in force."""
        files = self.broker.files
        return list({rule.id: rule for rule in (*files.watched, *files.rules)}.values())


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a report: a function that returns its lines, the heading above them, and the limit of lines."""

    lines_of: Callable[[FailedTest], Iterable[str]]
    heading: str = ""
    lines_max: int = PART_LINES_MAX


def failure_report(test: FailedTest) -> str:
    """Return the report, in lines of at most diagram.WIDTH columns. Raises if the broker does not respond."""
    _ = test.requests
    parts = (_part_lines(part, test) for part in PARTS)
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _part_lines(part: Part, test: FailedTest) -> list[str]:
    try:
        lines = list(islice(part.lines_of(test), part.lines_max + 1))
    except Exception as error:
        text = f"not available, {type(error).__name__}: {error}"
        lines = [_INDENT + shorten(text, WIDTH - len(_INDENT), placeholder="...")]
    if len(lines) > part.lines_max:
        lines[-1] = f"{_INDENT}..."
    return [part.heading, *lines] if lines and part.heading else lines


def diagram_lines(test: FailedTest) -> list[str]:
    """Return the sequence diagram of the requests, without chatter; repeated requests are drawn once."""
    shown = [request for request in test.requests if _matters(request)]
    if not shown:
        count = len(test.requests)
        return [f"The broker received no requests{f' but {count} of ApiVersions and Metadata' if count else ''}."]
    runs = [list(run) for _, run in groupby(shown, key=_repetition_key)]
    left_out = sum(map(len, runs[:-EXCHANGES_MAX]))
    runs = runs[-EXCHANGES_MAX:]
    notes = [Note(0, "test", f"{left_out} earlier requests")] if left_out else []
    notes += [Note(run[0].id, "test", _repeated(run)) for run in runs if len(run) > 1]
    first = {run[0].id: run[0] for run in runs}
    rules = _acting_rules(test, first.values())
    moments = build_timeline(journal_requests(list(first.values())), notes, _TopicNames(), rules, batches_retained=1)
    lines = draw(list(_redrawn(moments, first))).splitlines()
    # The newest requests are the nearest to the failure.
    return lines if len(lines) <= DIAGRAM_LINES_MAX else [*lines[:2], f"{_INDENT}...", *lines[3 - DIAGRAM_LINES_MAX :]]


def state_lines(test: FailedTest) -> Iterator[str]:
    """Yield a line if clients cannot connect."""
    if not test.broker.is_running:
        yield "The broker is down: clients cannot connect."


def earlier_client_lines(test: FailedTest) -> Iterator[str]:
    """Yield a line for each client of an earlier test that tried to connect."""
    # A project may use a RemoteBroker as its broker of the session, which has one address.
    rejected: Mapping[EarlierClient, int] = getattr(test.broker, "earlier_clients", {})
    for client, count in rejected.items():
        name = "a client" if client.client_id is None else f"client {client.client_id!r}"
        connections = f"{count} connection{'' if count == 1 else 's'}"
        yield from _indented(f"{name} of {client.test} at {client.address} was left open: {connections} rejected")


def earlier_producer_lines(test: FailedTest) -> Iterator[str]:
    """Yield a line for each partition that a producer from before the test has sent batches to."""
    written: dict[tuple[int, str, int], int] = {}
    for request in test.requests:
        for batch in request.batches:
            if batch.producer_before_reset:
                key = (batch.producer_id, batch.topic, batch.partition)
                written[key] = written.get(key, 0) + (batch.records if batch.decision == APPENDED else 0)
    for (producer_id, topic, partition), records in written.items():
        count = f"{records} record{'' if records == 1 else 's'}"
        yield from _indented(
            f"a producer made before this test wrote {count} to {topic}-{partition} (producer {producer_id})"
        )


def verdict_lines(test: FailedTest) -> Iterator[str]:
    """Yield the counts of each topic of the requests, and its findings with their reasons."""
    topics = list(dict.fromkeys(topic for request in test.requests if _matters(request) for topic in request.topics))
    for topic in topics[:TOPICS_MAX]:
        try:
            verdict = test.broker.verdict(topic)
        except CallError as error:
            # A request may name a topic that does not exist.
            yield from _indented(f"{topic}: {error}")
            continue
        yield from _indented(f"{topic}: {_counts(verdict)}")
        for finding in verdict.findings[:FINDINGS_MAX]:
            yield from _indented(f"{finding.kind}: {finding.why}", depth=2)
        left_out = len(verdict.findings) + verdict.findings_left_out - FINDINGS_MAX
        if left_out > 0:
            yield from _indented(f"{left_out} more findings", depth=2)
    if len(topics) > TOPICS_MAX:
        yield from _indented(f"{len(topics) - TOPICS_MAX} more topics")


def group_lines(test: FailedTest) -> Iterator[str]:
    """Yield the findings of each group of the requests with their reasons, and what its verdict cannot tell."""
    for group in list(dict.fromkeys(group for request in test.requests for group in request.group_ids))[:TOPICS_MAX]:
        try:
            verdict = test.broker.verdict(group=group)
        except CallError:
            # A client may ask for the coordinator of a group that it never joins.
            continue
        for line in (*_findings([describe_finding(each) for each in verdict.findings]), *verdict.notes):
            yield from _indented(f"{group}: {line}")


def flow_lines(test: FailedTest) -> Iterator[str]:
    """Yield the counts of each flow of the test's marks, its findings with their reasons, and its notes."""
    for flow in test.flows:
        name = f"{flow.from_topic} to {flow.to_topic}"
        try:
            verdict = test.broker.verdict(
                from_topic=flow.from_topic, to_topic=flow.to_topic, event_id=flow.event_id, group=flow.group
            )
        except CallError as error:
            # A test may fail before it has made the topics.
            yield from _indented(f"{name}: {error}")
            continue
        yield from _indented(f"{name}: {verdict.events}")
        for line in (*_findings([describe_flow(each) for each in verdict.findings]), *verdict.notes):
            yield from _indented(line, depth=2)


def _findings(described: Sequence[str]) -> list[str]:
    """Return the first findings, and the number of the others."""
    left_out = len(described) - FINDINGS_MAX
    return [*described[:FINDINGS_MAX], f"{left_out} more findings"] if left_out > 0 else list(described)


def rule_lines(test: FailedTest) -> Iterator[str]:
    """Yield each fault rule with its hits; a rule that never fired with its near misses."""
    for rule in (*test.fault_rules, *test.file_rules):
        described, *near_misses = rule.describe()
        yield from _indented(described)
        if rule.hits == 0 and not test.has_listed_unfired:
            for line in near_misses:
                yield from _indented(line.strip(), depth=2)


# The parts in their order. A feature that has something to report about a broker adds its part here.
PARTS = (
    Part(diagram_lines, lines_max=DIAGRAM_LINES_MAX),
    Part(state_lines),
    Part(earlier_client_lines, heading="Earlier clients"),
    Part(earlier_producer_lines, heading="Earlier producers"),
    Part(verdict_lines, heading="Verdict"),
    Part(group_lines, heading="Groups"),
    Part(flow_lines, heading="From input to output"),
    Part(rule_lines, heading="Fault rules"),
)


class _TopicNames(BatchNames):
    """Names each batch by its topic: a test can have several, and its batches have no names."""

    def name_of(self, batch: JournalBatch, request_id: int) -> str:
        """Return the topic."""
        return batch.topic


def _acted(request: JournalEntry) -> bool:
    """Whether a fault changed the request or its response."""
    return any(fault.kind != OBSERVE for fault in request.faults)


def _matters(request: JournalEntry) -> bool:
    return request.api not in CHATTER or request.error is not None or _acted(request)


def _repetition_key(request: JournalEntry) -> object:
    """Return a value that is equal for requests that may be drawn once, such as the polls of an idle consumer."""
    if request.batches or request.error is not None or request.answer != WRITTEN or _acted(request):
        return request.id
    return (request.connection, _request_text(request), answered_to(request))


def _repeated(run: Sequence[JournalEntry]) -> str:
    return f"{len(run) - 1} more {_request_text(run[0])}, each with its response"


def _request_text(request: JournalEntry) -> str:
    """Return the API and the subjects of a request without batches."""
    asked = "" if request.api == OFFSET_FETCH else asked_text(details_of(request))
    # Only what a member asks for has no topic.
    topics = request.topics if not asked or request.member is not None else []
    subjects = [*topics, asked] if asked else topics
    subjects = [*subjects, *(f"group {group}" for group in request.group_ids)]
    if request.transactional_id:
        subjects.append(f"transactional id {request.transactional_id}")
    return f"{request.api} {', '.join(subjects)}".rstrip()


def _acting_rules(test: FailedTest, requests: Iterable[JournalEntry]) -> dict[int, NamedRule]:
    names = {rule.id: f"rule {rule.id} {rule.name!r}" if rule.name else f"rule {rule.id}" for rule in test.fault_rules}
    return {
        fault.rule: NamedRule(names.get(fault.rule, f"rule {fault.rule}"), fault.point, fault.kind)
        for request in requests
        for fault in request.faults
        if fault.kind != OBSERVE
    }


def _redrawn(moments: Iterable[Moment], requests: dict[int, JournalEntry]) -> Iterator[Moment]:
    """Yield the moments of a scenario's timeline as those of a test, whose clients are not known."""
    for moment in moments:
        request = requests.get(moment.request or 0)
        # The cached batches are tracked per partition number, as a scenario has one topic.
        moment.cached = None
        if moment.who == "client":
            # A scenario has one client. Here the connection can be another client's.
            moment.text = "a new connection"
        elif request is not None and moment.kind == "request" and not request.batches:
            moment.text = _request_text(request)
        elif request is not None and moment.kind == "answer" and request.answer == WRITTEN and not request.batches:
            moment.text = answered_to(request) or moment.text
        elif request is not None and moment.kind == "answer" and request.answer in (WAITING, NO_RESPONSE):
            state = "no response yet" if request.answer == WAITING else "the client expects no response"
            moment = Moment(kind="note", who="broker", text=state)
        yield moment


def _counts(verdict: TopicVerdict) -> str:
    """Return the counts of a verdict that are not 0."""
    batches = verdict.batches
    counted = {name: getattr(batches, name) for name in batches.__struct_fields__}
    shown = [f"{name.replace('_', ' ')} {count}" for name, count in counted.items() if count]
    in_log = verdict.records.in_log
    shown.append(f"{in_log} record{'' if in_log == 1 else 's'} in the log")
    return ", ".join(shown)


def _indented(text: str, depth: int = 1) -> Iterator[str]:
    """Yield the lines of a text, indented by depth; a text that is too long is cut."""
    if len(text) > TEXT_CHARACTERS_MAX:
        text = text[: TEXT_CHARACTERS_MAX - 3] + "..."
    indent = _INDENT * depth
    lines = wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + _INDENT * 2, break_on_hyphens=False)
    return iter(lines)
