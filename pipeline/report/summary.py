"""The summary of an audit or of a comparison as plain data. This module does not use Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from ..checks.finding_kinds import FAULTS, advice_of
from ..read.stored_listing import DeletedFiles


@dataclass(frozen=True, slots=True)
class TopicTotals:
    """The totals of a topic, of what could be read; damaged_batches could not.

    records: without transaction markers. producers: those with a producer id. bytes: of the batches.
    """

    topic: str
    partitions: int
    batches: int
    records: int
    bytes: int
    producers: int
    damaged_batches: int = 0


@dataclass(frozen=True, slots=True)
class EventTotals:
    """The committed records of a topic by their event ids. ids: distinct ones.

    empty_ids, undecodable: among those without_id.
    """

    topic: str
    with_id: int
    ids: int
    without_id: int
    empty_ids: int
    undecodable: int = 0


@dataclass(frozen=True, slots=True)
class TopicLateness:
    """How late the records of a topic with an event time are, in milliseconds. p99_ms: for 99 of 100 records."""

    topic: str
    records: int
    median_ms: int
    p99_ms: int
    max_ms: int


@dataclass(frozen=True, slots=True)
class ComparedTopic:
    """A topic of a comparison. left, right: the records of each side. arrived: the ids that both sides have."""

    topic: str
    left: int
    right: int
    arrived: int


@dataclass(frozen=True, slots=True)
class Example:
    """One finding, with the columns of findings.py except check, kind and cause."""

    topic: str | None
    partition: int | None
    offset: int | None
    other_offset: int | None
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    event_id: str | None
    count: int | None
    timestamp: str | None
    detail: str | None
    is_known: bool = False
    group_id: str | None = None
    other_partition: int | None = None


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The findings of one kind and cause: their number, their records, and the first ones in log order.

    known: the number of findings that are in the baseline.
    """

    check: str
    kind: str
    cause: str | None
    is_fault: bool
    findings: int
    records: int
    examples: tuple[Example, ...]
    known: int = 0

    @property
    def new(self) -> int:
        """The number of findings that are not in the baseline."""
        return self.findings - self.known

    @property
    def advice(self) -> str:
        """What to do next."""
        return advice_of(self.check, self.kind, self.cause)


@dataclass(frozen=True, slots=True)
class RunCommands:
    """The parts of the commands that show more (shown_commands.py).

    log, replicas: options of `fauxka records` for the log, and for each other replica of it; none for a table. again:
    the words of the command of the run.
    """

    log: Sequence[str] = ()
    replicas: Sequence[Sequence[str]] = ()
    again: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TopicKind:
    """The findings of one kind in a topic; topic: None for findings without a place."""

    topic: str | None
    check: str
    kind: str
    findings: int
    known: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison with a baseline. place: of the baseline. gone: the number of its findings that are not there."""

    place: str
    gone: int


@dataclass(frozen=True, slots=True)
class AuditedOffsets:
    """The audited offsets by topic and partition, from starts up to, not including, ends.

    words: the wanted range; None for the whole log.
    """

    words: str | None = None
    starts: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    ends: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of an audit, or of a comparison of log with another side.

    other, compared: the other side and the topics of a comparison; null and empty for an audit. checks: the performed
    ones. events: empty without an event id. pictures: rows of report_pictures.py for --html. notes: lines about the
    audit itself, such as offsets that were deleted before it. fail_on: the kinds that make it fail; None: all faults.
    findings: identities, for the baseline of a later audit; findings_left_off: how many more there are. log_topics: the
    ids of the audited topics. check_names: of the performed checks, as in the findings.
    repeated_requests, waited_seconds: of the requests to an object store that were sent again. deleted: the files that
    were deleted during the audit. lateness: empty without an event time. id_word: what event_id of a finding is.
    commands: for those of its groups.
    """

    log: str
    checks: tuple[str, ...]
    topics: tuple[TopicTotals, ...]
    groups: tuple[FindingGroup, ...]
    events: tuple[EventTotals, ...] = ()
    pictures: Mapping[str, list[dict[str, object]]] = field(default_factory=dict[str, list[dict[str, object]]])
    range: AuditedOffsets = field(default_factory=AuditedOffsets)
    notes: tuple[str, ...] = ()
    fail_on: tuple[str, ...] | None = None
    baseline: Comparison | None = None
    findings: Sequence[Mapping[str, object]] = ()
    findings_left_off: int = 0
    log_topics: tuple[str, ...] = ()
    check_names: tuple[str, ...] = ()
    repeated_requests: int = 0
    waited_seconds: float = 0.0
    deleted: tuple[DeletedFiles, ...] = ()
    lateness: tuple[TopicLateness, ...] = ()
    id_word: str = "event"
    other: str | None = None
    compared: tuple[ComparedTopic, ...] = ()
    commands: RunCommands = RunCommands()

    @property
    def command(self) -> str:
        """The name of the command."""
        return command_of(self.other)

    @property
    def title(self) -> str:
        """What was audited or compared."""
        return title_of(self.log, self.other)

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The names of the topics that were read."""
        return (*(one.topic for one in self.topics), *(one.topic for one in self.compared))

    @property
    def failing_kinds(self) -> frozenset[str]:
        """The kinds that make the audit fail."""
        return FAULTS if self.fail_on is None else frozenset(self.fail_on)

    @property
    def is_clean(self) -> bool:
        """Whether no finding is a fault."""
        return not any(group.is_fault for group in self.groups)

    @property
    def is_failed(self) -> bool:
        """Whether a finding that is not in the baseline is of a kind that makes the audit fail."""
        return any(group.new and self.fails(group) for group in self.groups)

    def fails(self, group: FindingGroup) -> bool:
        """Whether a new finding of the group makes the audit fail."""
        return group.is_fault if self.fail_on is None else group.kind in self.fail_on

    def as_json(self) -> dict[str, object]:
        """Return the content of the JSON file: the fields, the verdict `clean` or `findings`, and whether it failed.

        Its groups have neither advice nor commands (audit_outputs.py).
        """
        verdict = "clean" if self.is_clean else "findings"
        values = asdict(self)
        del values["commands"]
        return {"verdict": verdict, "is_failed": self.is_failed, **values}


def command_of(other: str | None) -> str:
    """Return the name of the command of a result. other: the other side of a comparison; None for an audit."""
    return "audit" if other is None else "compare"


def title_of(log: str, other: str | None) -> str:
    """Return what a result is of."""
    return f"Audit of {log}" if other is None else f"Comparison of {log} with {other}"
