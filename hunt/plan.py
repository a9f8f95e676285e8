"""The plan of a hunt: which fault at which request, most telling first.

- Requests are equivalent if a rule cannot tell them apart: same API, client, topic, partition, group and transactional
  id. The order among them is what is left, so a rule skips the earlier ones.
- Of equivalent requests, the first, the one in the middle and the last are tried: a program that survives a fault there
  survives it between them, unless it counts.
- Requests that only ask (Fetch, Metadata, ApiVersions, ...) get the faults of connections, errors, and last a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from ..faults.actions import Action, Close, Crash, Delay, DeliverTwice, Drop, Error, Hang, Hold, Reset, Truncate
from ..faults.journal.journal_entries import JournalEntry
from ..faults.rules.fault_rules import FaultRule, Point, When
from ..faults.rules.match import Match
from ..faults.strict_json import convert
from .api_errors import AFTER_APPEND, FATAL, RETRIABLE
from .changes import CHANGES

# The APIs that change something, most telling first, and those that only ask.
CHANGING = (
    *("Produce", "EndTxn", "TxnOffsetCommit", "OffsetCommit"),
    *("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "JoinGroup", "SyncGroup", "Heartbeat"),
    *("ConsumerGroupHeartbeat", "LeaveGroup", "CreateTopics", "DeleteRecords"),
)
ASKING = ("Fetch", "OffsetFetch", "FindCoordinator", "ListOffsets", "Metadata", "ApiVersions")
RANKS = {api: rank for rank, api in enumerate((*CHANGING, *ASKING))}
# APIs whose response acknowledges something: a lost acknowledgement is tried here before all else.
ACKNOWLEDGING = CHANGING[:4]
CRASH_RESTART_MS = 300
# APIs that change something when they are applied long after their client has sent them again.
LATE = (*ACKNOWLEDGING, "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn")
# Half of what a run gets at least: clients with shorter timeouts have sent the request again, and the run can end.
LATE_MS = 5_000
# Of a response: its size, and a part of what it must have.
CUT_BYTES = 6


@dataclass(frozen=True, slots=True)
class Target:
    """One request of the program, as a rule finds it again. ordinal: among count equivalent ones, from 0."""

    match: tuple[tuple[str, object], ...]
    ordinal: int
    count: int

    @property
    def api(self) -> str:
        """Kafka's name of the API."""
        return str(dict(self.match)["api"])

    def __str__(self) -> str:
        """Return such as "Produce 3 of 20 to orders-0"."""
        fields = dict(self.match)
        of_count = f" {self.ordinal + 1} of {self.count}" if self.count > 1 else ""
        partition = f"-{fields['partition']}" if "partition" in fields else ""
        topic = f" to {fields['topic']}{partition}" if "topic" in fields else ""
        others = [str(fields[name]) for name in ("group_id", "transactional_id") if name in fields]
        return f"{self.api}{of_count}{topic}{' of ' + ', '.join(others) if others else ''}"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that can be at a request. tier: the lower, the earlier it is tried."""

    name: str
    point: Point
    action: Action
    tier: int


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to do: faults at requests of the program."""

    faults: Sequence[tuple[Fault, Target]]

    @property
    def rules(self) -> list[FaultRule]:
        """The rules of the faults."""
        return [rule_of(fault, target) for fault, target in self.faults]

    def __str__(self) -> str:
        """Return such as "lost acknowledgement: Produce 3 of 20 to orders-0"."""
        return "; ".join(f"{fault.name}: {target}" for fault, target in self.faults)


LOST_ACK = Fault("lost acknowledgement", "applied", Close(), 0)
_OF_CONNECTIONS = (
    Fault("lost request", "received", Close(), 1),
    Fault("reset after it was applied", "applied", Reset(), 2),
    Fault("no response", "applied", Hang(), 3),
    Fault("dropped request", "received", Drop(), 4),
)
_CRASH_BEFORE = Fault("crash before it was applied", "received", Crash(restart_after_ms=CRASH_RESTART_MS), 2)
_OF_CHANGES = (
    Fault("delivered twice", "received", DeliverTwice(), 1),
    Fault("crash after it was applied", "applied", Crash(restart_after_ms=CRASH_RESTART_MS), 2),
    _CRASH_BEFORE,
)
_CUT_SHORT = Fault("response cut short", "answering", Truncate(bytes=CUT_BYTES), 4)


def targets_of(requests: Sequence[JournalEntry]) -> list[Target]:
    """Return the requests of a run that are tried: of equivalent ones the first, the middle and the last."""
    counts = Counter(_match_of(entry) for entry in requests if entry.api in RANKS)
    return [Target(match, ordinal, count) for match, count in counts.items() for ordinal in _chosen(count)]


def plan_of(targets: Sequence[Target], nodes: int = 1, late_ms: int = LATE_MS) -> list[Trial]:
    """Return a trial for each fault at each target, most telling first.

    nodes: of the broker. late_ms: how late a late request is applied.
    """
    used = {target.api for target in targets}
    pairs = [(fault, target) for target in targets for fault in faults_of(target.api, used, nodes, late_ms)]
    pairs.sort(key=lambda pair: (pair[0].tier, RANKS[pair[1].api]))
    return [Trial([pair]) for pair in pairs]


def faults_of(api: str, used: Set[str] = frozenset(), nodes: int = 1, late_ms: int = LATE_MS) -> Iterator[Fault]:
    """Yield the faults that can be at a request of the API. used: the APIs of the program. Otherwise as plan_of."""
    yield LOST_ACK if api in ACKNOWLEDGING else replace(LOST_ACK, tier=2)
    yield from _OF_CONNECTIONS
    if api in CHANGING:
        yield from _OF_CHANGES
    else:
        yield replace(_CRASH_BEFORE, tier=4)
    if api in LATE:
        yield Fault("applied late", "received", Delay(ms=late_ms), 3)
    if api in ACKNOWLEDGING:
        yield _CUT_SHORT
    for name, change in CHANGES.items():
        if api in change.apis and nodes >= change.nodes and (not change.users or used & set(change.users)):
            yield Fault(name, "received", Hold(), 2)
    for error in AFTER_APPEND.get(api, ()):
        yield Fault(f"{error.name} although it was applied", "applied", Error(error=error.name), 1)
    for error in RETRIABLE.get(api, ()):
        yield Fault(error.name, "received", Error(error=error.name), 2)
    for error in FATAL.get(api, ()):
        yield Fault(error.name, "received", Error(error=error.name), 1 if api in ACKNOWLEDGING else 3)


def rule_of(fault: Fault, target: Target) -> FaultRule:
    """Return the rule that is this fault at this request."""
    return FaultRule(
        name=fault.name,
        match=convert(dict(target.match), Match),
        when=When(skip=target.ordinal),
        point=fault.point,
        action=fault.action,
    )


def _match_of(entry: JournalEntry) -> tuple[tuple[str, object], ...]:
    fields: dict[str, object] = {"api": entry.api}
    if entry.client_id:
        fields["client_id"] = entry.client_id
    partitions = {(batch.topic, batch.partition) for batch in entry.batches}
    if len(partitions) == 1:
        fields["topic"], fields["partition"] = next(iter(partitions))
    elif entry.api in ("Produce", "TxnOffsetCommit", "OffsetCommit") and len(entry.topics) == 1:
        fields["topic"] = entry.topics[0]
    if entry.api in CHANGING and entry.transactional_id and entry.api != "Produce":
        fields["transactional_id"] = entry.transactional_id
    elif entry.api in CHANGING and len(entry.group_ids) == 1:
        fields["group_id"] = entry.group_ids[0]
    return tuple(fields.items())


def _chosen(count: int) -> list[int]:
    return sorted({0, count // 2, count - 1})
