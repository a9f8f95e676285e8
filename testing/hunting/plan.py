"""The plan of a hunt: which fault at which request, most telling first.

- In the first round each kind of fault is tried, and each at one request of every API that acknowledges something. The
  second round are the other requests of these APIs: whether a defect shows depends on which of them it is. Then comes
  one request of every other API, and then the rest.
- Requests are equivalent if a rule cannot tell them apart: same API, client, topic, partition, group and transactional
  id. The order among them is what is left, so a rule skips the earlier ones. An id that differs from run to run does
  not count.
- Of equivalent requests, the first, the one in the middle and the last are tried: a program that survives a fault there
  survives it between them, unless it counts. Of the partitions of a topic, too, these three are tried.
- A request without a response (acks=0) meets no fault of responses, and none that only a response can tell of.
- Requests that only ask (Fetch, Metadata, ApiVersions, ...) get the faults of connections, errors, and last a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from operator import attrgetter

from ...faults.actions import ACTION_TYPES, Action, Crash, Delay, DeliverTwice, Error, Hold
from ...faults.hunted_faults import Origin, Requests
from ...faults.journal.journal_entries import JournalEntry
from ...faults.points import Point
from ...faults.rules.fault_rules import FaultRule, When
from ...faults.rules.match import Match
from ...faults.strict_json import convert
from .api_errors import GivenError, errors_at
from .changes import CHANGES

# The APIs that change something, most telling first, and those that only ask.
CHANGING = (
    *("Produce", "EndTxn", "TxnOffsetCommit", "OffsetCommit"),
    *("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "JoinGroup", "SyncGroup", "Heartbeat"),
    *("ConsumerGroupHeartbeat", "StreamsGroupHeartbeat", "LeaveGroup", "CreateTopics", "DeleteRecords"),
)
ASKING = ("Fetch", "OffsetFetch", "FindCoordinator", "ListOffsets", "Metadata", "ApiVersions")
RANKS = {api: rank for rank, api in enumerate((*CHANGING, *ASKING))}
# APIs whose response acknowledges something: a lost acknowledgement is tried here before all else.
ACKNOWLEDGING = CHANGING[:4]
_PARTITION = "partition"
_CLIENT = "client_id"
_IDS = (_CLIENT, "transactional_id", "group_id")
_WITHOUT_RESPONSE = "not_owed"
# APIs that change something when they are applied long after their client has sent them again.
LATE = (*ACKNOWLEDGING, "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn")
# Half of what a run gets at least: clients with shorter timeouts have sent the request again, and the run can end.
LATE_MS = 5_000
# The APIs of the faults that actions declare.
_APIS_OF = {
    Requests.ANY: (*CHANGING, *ASKING),
    Requests.CHANGING: CHANGING,
    Requests.ASKING: ASKING,
    Requests.ACKNOWLEDGING: ACKNOWLEDGING,
    Requests.OTHERS: (*CHANGING[len(ACKNOWLEDGING) :], *ASKING),
}


# A version that has all errors.
NEWEST_VERSION = 2**15

# The fields of a match, with their values.
_Fields = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Target:
    """One request of the program, as a rule finds it again.

    ordinal: its number among `count` equivalent ones, from 0.
    is_client_named: whether its text names the client, because another client sends the same.
    has_response: whether a response is expected, which acks=0 does not. version: of the API.
    """

    match: _Fields
    ordinal: int
    count: int
    is_client_named: bool = False
    has_response: bool = True
    version: int = NEWEST_VERSION

    @property
    def api(self) -> str:
        """Kafka's name of the API."""
        return str(dict(self.match)["api"])

    @property
    def place(self) -> _Fields:
        """What it has in common with the requests that the same line of the program sends, to any partition."""
        return _without(_PARTITION, self.match)

    def __str__(self) -> str:
        """Return such as "Produce 3 of 20 to orders-0"."""
        fields = dict(self.match)
        of_count = f" {self.ordinal + 1} of {self.count}" if self.count > 1 else ""
        partition = f"-{fields['partition']}" if "partition" in fields else ""
        topic = f" to {fields['topic']}{partition}" if "topic" in fields else ""
        others = [str(fields[name]) for name in ("group_id", "transactional_id") if name in fields]
        client = f" from {fields[_CLIENT]}" if self.is_client_named and _CLIENT in fields else ""
        return f"{self.api}{of_count}{topic}{' of ' + ', '.join(others) if others else ''}{client}"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that can be at a request. tier: the lower, the earlier it is tried.

    doubles: whether a correct consumer may read records twice because of it. since: the first version of the API that
    can have it. stays: whether all later requests meet it, too.
    """

    name: str
    point: Point
    action: Action
    tier: int
    origin: Origin = Origin.KAFKA
    doubles: bool = False
    since: int = 0
    stays: bool = False

    def can_be_at(self, target: Target) -> bool:
        """Return whether the request can meet the fault."""
        needs_response = self.point == "answering" or isinstance(self.action, Error | DeliverTwice)
        return (target.has_response or not needs_response) and target.version >= self.since


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to do: faults at requests of the program."""

    faults: Sequence[tuple[Fault, Target]]

    @property
    def rules(self) -> list[FaultRule]:
        """The rules of the faults."""
        return [rule_of(fault, target) for fault, target in self.faults]

    @property
    def stays(self) -> bool:
        """Whether a fault is still there when the program ends."""
        return any(fault.stays for fault, _ in self.faults)

    def __str__(self) -> str:
        """Return such as "lost acknowledgement: Produce 3 of 20 to orders-0"."""
        return "; ".join(f"{fault.name}: {target}" for fault, target in self.faults)


def targets_of(*runs: Sequence[JournalEntry]) -> list[Target]:
    """Return the requests that are tried: of equivalent ones the first, the middle and the last.

    runs: of the same program. A request counts as often as in the run that sent it least.
    """
    ids = _ids_of(runs[0]).intersection(*map(_ids_of, runs[1:]))
    counts = [
        Counter(match for entry in requests if entry.api in RANKS for match in _matches_of(entry, ids))
        for requests in runs
    ]
    unanswered = {
        match
        for entry in runs[0]
        if entry.answer == _WITHOUT_RESPONSE and entry.api in RANKS
        for match in _matches_of(entry, ids)
    }
    versions: dict[_Fields, int] = {}
    for entry in runs[0]:
        for match in _matches_of(entry, ids):
            versions[match] = min(entry.api_version, versions.get(match, NEWEST_VERSION))
    least = {match: min(count[match] for count in counts) or most for match, most in counts[0].items()}
    clients = Counter(_without(_CLIENT, match) for match in least)
    return [
        Target(
            match,
            ordinal,
            least[match],
            is_client_named=clients[_without(_CLIENT, match)] > 1,
            has_response=match not in unanswered,
            version=versions[match],
        )
        for match in _folded(counts[0])
        for ordinal in _chosen(least[match])
    ]


def requests_at(requests: Sequence[JournalEntry], targets: Sequence[Target]) -> dict[int, list[Target]]:
    """Return the targets at each request of a run, by the id of the request."""
    wanted = {(target.match, target.ordinal): target for target in targets}
    ids = {str(value) for target in targets for name, value in target.match if name in _IDS}
    counts: Counter[_Fields] = Counter()
    found: dict[int, list[Target]] = {}
    for entry in requests:
        for match in _matches_of(entry, ids):
            target = wanted.get((match, counts[match]))
            counts[match] += 1
            if target is not None:
                found.setdefault(entry.id, []).append(target)
    return found


def nearest_first(targets: Sequence[Target], topics: Sequence[str]) -> list[Target]:
    """Return the targets that write the topics, then those of the same clients, then the others.

    A Connect worker also writes to topics of its own, which the hunt does not judge.
    """
    clients = {dict(target.match).get(_CLIENT) for target in targets if _topic_of(target) in topics} - {None}

    def distance(target: Target) -> int:
        if _topic_of(target) in topics:
            return 0
        return 1 if dict(target.match).get(_CLIENT) in clients else 2

    return sorted(targets, key=distance)


def _topic_of(target: Target) -> object:
    return dict(target.match).get("topic")


def plan_of(targets: Sequence[Target], nodes: int = 1, late_ms: int = LATE_MS) -> list[Trial]:
    """Return a trial for each fault at each target, most telling first.

    targets: their order is that of equally telling trials. nodes: of the broker. late_ms: of a request applied late.
    """
    used = {target.api for target in targets}
    pairs = [
        (fault, target)
        for target in targets
        for fault in faults_of(target.api, used, nodes, late_ms)
        if fault.can_be_at(target)
    ]
    pairs.sort(key=lambda pair: (pair[0].tier, RANKS[pair[1].api]))
    return [Trial([pair]) for pair in _in_rounds(pairs)]


def _in_rounds(pairs: Sequence[tuple[Fault, Target]]) -> list[tuple[Fault, Target]]:
    """Return the pairs in the order of the rounds, and within a round in the given one."""
    first = {fault.name: (fault, target) for fault, target in reversed(pairs)}
    first_of_api = {(fault.name, target.api): (fault, target) for fault, target in reversed(pairs)}

    def round_of(pair: tuple[Fault, Target]) -> int:
        name, api = pair[0].name, pair[1].api
        is_first = first_of_api[name, api] == pair
        if first[name] == pair or (is_first and api in ACKNOWLEDGING):
            return 0
        if api in ACKNOWLEDGING:
            return 1
        return 2 if is_first else 3

    return sorted(pairs, key=round_of)


def faults_of(api: str, used: Set[str] = frozenset(), nodes: int = 1, late_ms: int = LATE_MS) -> list[Fault]:
    """Return the faults that can be at a request of the API, most telling first.

    used: the APIs of the program. Otherwise as plan_of.
    """
    faults = [
        Fault(hunted.name, hunted.point, convert(dict(hunted.fields), each), hunted.tier, hunted.origin)
        for each in ACTION_TYPES
        for hunted in each.hunted
        if api in _APIS_OF[hunted.requests]
    ]
    if api in LATE:
        faults.append(Fault("applied late", "received", Delay(ms=late_ms, mute=True), 3))
    for name, change in CHANGES.items():
        if api in change.apis and nodes >= change.nodes and (not change.users or used & set(change.users)):
            faults.append(Fault(name, "received", Hold(mute=True), 3 if change.stays else 2, stays=change.stays))
    if api in ACKNOWLEDGING:
        faults.append(Fault("broker down for ever", "received", Crash(), 3, stays=True))
    faults += [_fault_of(given, api) for given in errors_at(api, used)]
    return sorted(faults, key=attrgetter("tier"))


def _fault_of(given: GivenError, api: str) -> Fault:
    if given.stays or given.origin is Origin.DEFECTIVE:
        tier = 3
    elif given.is_after:
        tier = 1
    elif given.is_retriable:
        tier = 2
    else:
        tier = 1 if api in ACKNOWLEDGING else 3
    point: Point = "applied" if given.is_after else "received"
    action = Error(error=given.error.name)
    return Fault(given.name, point, action, tier, given.origin, given.doubles, given.since, given.stays)


def rule_of(fault: Fault, target: Target) -> FaultRule:
    """Return the rule that is this fault at this request."""
    return FaultRule(
        name=fault.name,
        match=convert(dict(target.match), Match),
        when=When(skip=target.ordinal, times=None if fault.stays else 1),
        point=fault.point,
        action=fault.action,
    )


def _ids_of(requests: Sequence[JournalEntry]) -> set[str]:
    """Return the ids that the program has given to its clients, groups and transactional producers."""
    return {id_ for entry in requests for id_ in (entry.client_id, entry.transactional_id, *entry.group_ids) if id_}


def _matches_of(entry: JournalEntry, ids: Set[str]) -> Iterator[_Fields]:
    """Yield the matches of the request, one for each partition that it writes. ids: what a match may have as an id."""
    fields: dict[str, object] = {"api": entry.api}
    if entry.client_id in ids:
        fields[_CLIENT] = entry.client_id
    if entry.api in CHANGING and entry.transactional_id and entry.api != "Produce":
        if entry.transactional_id in ids:
            fields["transactional_id"] = entry.transactional_id
    elif entry.api in CHANGING and len(entry.group_ids) == 1 and entry.group_ids[0] in ids:
        fields["group_id"] = entry.group_ids[0]
    for topic, partition in sorted({(batch.topic, batch.partition) for batch in entry.batches}):
        yield (*fields.items(), ("topic", topic), (_PARTITION, partition))
    if not entry.batches:
        if entry.api in ("Produce", "TxnOffsetCommit", "OffsetCommit") and len(entry.topics) == 1:
            fields["topic"] = entry.topics[0]
        yield tuple(fields.items())


def _folded(matches: Iterable[_Fields]) -> Iterator[_Fields]:
    """Yield the matches. Of those that differ only in the partition, yield the first, the middle and the last."""
    rows: dict[_Fields, list[_Fields]] = {}
    for match in matches:
        rows.setdefault(_without(_PARTITION, match), []).append(match)
    for row in rows.values():
        row.sort(key=lambda match: dict(match).get(_PARTITION, 0))  # type: ignore[arg-type, return-value]
        yield from (row[number] for number in _chosen(len(row)))


def _without(name: str, match: _Fields) -> _Fields:
    return tuple(field for field in match if field[0] != name)


def _chosen(count: int) -> list[int]:
    return sorted({0, count // 2, count - 1})
