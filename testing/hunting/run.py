"""One run of the program against a broker of its own, and what it left there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from http.client import NOT_FOUND
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from ...admin.operations.group_operations import SHARE
from ...faults.actions import Delay
from ...faults.consumption.group_verdict import GroupVerdict
from ...faults.event_ids import VALUE, find_event_id
from ...faults.journal.journal_entries import JournalEntry
from ...faults.rules.fault_rules import FaultRule
from ..broker import Broker
from ..broker_pool import Configuration, broker_with
from ..errors import CallError
from .admin_address import served_admin
from .changes import change_of, changing, expire_members
from .program import Ending, Place, Program

_COMMITTED = ("none", "committed")
JOURNAL_MAX = "fauxka.journal.requests.max"
# A plan needs the first requests too.
REQUESTS_MAX = 100_000

NO_GROUPS = "reports are about the records of a group; allowed: with a group"

# Looks at what a program left: returns what is wrong with it, None for nothing.
Check = Callable[[Place], str | None]


@dataclass(frozen=True, slots=True)
class Setting:
    """What all runs of a hunt have in common.

    topics, groups: those that are judged. is_processed: whether the program must report what its groups process.
    event_id: see event_ids. broker: the configuration of the brokers.
    seed_topics: the topics that exist before the program starts, with their numbers of partitions, None for
    num.partitions.
    prepare: called before the program starts; it meets no fault. check: called after a program that
    has ended well.
    restarts: how often a program that has failed is started again, without more faults, as a supervisor does.
    """

    topics: Sequence[str]
    groups: Sequence[str] = ()
    is_processed: bool = False
    event_id: str = VALUE
    broker: Configuration = field(default_factory=lambda: Configuration((), None))
    seed_topics: Mapping[str, int | None] = field(default_factory=dict[str, int | None])
    prepare: Callable[[Place], object] | None = None
    check: Check | None = None
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class Content:
    """What a topic has after a run: its events with their numbers, and batches that the verdict counts.

    order: the events of each partition and key, as they are in the log.
    """

    events: Counter[bytes] = field(default_factory=Counter[bytes])
    order: Mapping[tuple[int, bytes | None], Sequence[bytes]] = field(
        default_factory=dict[tuple[int, bytes | None], Sequence[bytes]]
    )
    lost: int = 0
    reordered: int = 0

    def followed_by(self, later: Content) -> Content:
        """Return the content with that of the topic of this name that was created later."""
        rows = dict.fromkeys((*self.order, *later.order))
        return Content(
            self.events + later.events,
            {row: [*self.order.get(row, ()), *later.order.get(row, ())] for row in rows},
            self.lost + later.lost,
            self.reordered + later.reordered,
        )


@dataclass(frozen=True, slots=True)
class Run:
    """A run. ending: of the last start of the program. hits: of each rule, in their order. requests: the journal.

    committed: the offsets that groups have committed in the run, by group, topic and partition.
    failed_check: what the check of the setting, or the program's own, says; None for nothing.
    failed_change: why a change of the broker could not be made; None if all were.
    is_journal_whole: whether requests has all of the run.
    groups: what consumer groups got and committed, by their ids. judged_groups: those that are judged.
    outputs: of each start of the program.
    is_fault_over: whether the last fault was over before the program ended: it does not stay.
    """

    ending: Ending
    topics: Mapping[str, Content]
    committed: Mapping[tuple[str, str, int], int]
    requests: Sequence[JournalEntry]
    hits: Sequence[int]
    failed_check: str | None = None
    failed_change: str | None = None
    is_journal_whole: bool = True
    groups: Mapping[str, GroupVerdict] = field(default_factory=dict[str, GroupVerdict])
    judged_groups: Sequence[str] = ()
    outputs: Sequence[str] = ()
    is_fault_over: bool = True


def run_once(
    program: Program,
    setting: Setting,
    rules: Sequence[FaultRule],
    timeout_seconds: float,
    report: Path | None = None,
) -> Run:
    """Run the program with the rules in force, and read what it left.

    timeout_seconds: of each start of the program. report: the HTML file in which the run is shown; None for none.
    Raises OSError, what `prepare` raises, and CallError if a topic cannot be read, such as one whose nodes do not start
    again.
    """
    with _opened(setting) as place:
        broker = place.broker
        _prepare(place, setting)
        before, committed_before = broker.journal.last_id, _committed(broker)
        if report is not None:
            broker.faults.watch()
        armed = [broker.faults.add(rule) for rule in rules]
        changes = {handle.id: change for handle, rule in zip(armed, rules, strict=True) if (change := change_of(rule))}
        deleted: dict[str, Content] = {}
        with changing(broker, changes, lambda topics: deleted.update(_contents_of(broker, setting, topics))) as failed:
            first = program.run(place, timeout_seconds)
        hits = [rule.hits for rule in armed]
        broker.faults.clear()
        _start_nodes(broker)
        *earlier, ending = _with_restarts(first, program, place, timeout_seconds, setting.restarts)
        _let_late_requests_arrive(broker, rules)
        failed_check = _check(place, setting, ending)
        # Before the events: a function that has hung goes on now, and commits the offsets of what it writes meanwhile.
        committed = _committed_since(broker, committed_before)
        topics = _contents_of(broker, setting, setting.topics)
        topics |= {topic: lost.followed_by(topics[topic]) for topic, lost in deleted.items()}
        if report is not None:
            broker.write_report(report, "; ".join(rule.name for rule in rules))
        return Run(
            ending,
            topics,
            committed,
            broker.journal.entries(since=before),
            hits,
            failed_check,
            failed[0] if failed else None,
            is_journal_whole=not broker.journal.dropped,
            groups=_groups_of(broker),
            judged_groups=setting.groups,
            outputs=[each.output for each in (*earlier, ending)],
            is_fault_over=all(rule.when.times is not None for rule in rules),
        )


@contextmanager
def _opened(setting: Setting) -> Generator[Place]:
    """Start a broker, and make the folder of the run."""
    with (
        TemporaryDirectory(prefix="fauxka-hunt-") as folder,
        broker_with(_with_long_journal(setting.broker)) as broker,
        served_admin(broker) if setting.is_processed else nullcontext() as admin,
    ):
        yield Place(broker, Path(folder), admin)


def _with_restarts(
    first: Ending, program: Program, place: Place, timeout_seconds: float, restarts: int
) -> Sequence[Ending]:
    """Start the program again as long as it fails, so often at most, and return how each start has ended."""
    endings = [first]
    # What hangs does not end by itself, and who says that its result is wrong has no more to say.
    while len(endings) <= restarts and endings[-1].exit_code and endings[-1].failed_check is None:
        # A consumer that starts again would wait until the session of the one before it has expired.
        expire_members(place.broker)
        endings.append(program.run(place, timeout_seconds))
    return endings


def _with_long_journal(broker: Configuration) -> Configuration:
    entries = {JOURNAL_MAX: str(REQUESTS_MAX), **dict(broker.entries)}
    return replace(broker, entries=tuple(entries.items()))


def _committed(broker: Broker) -> dict[tuple[str, str, int], int]:
    return {
        (group.group_id, offset.topic, offset.partition): offset.offset
        for group in broker.groups.list()
        for offset in group.offsets
    }


def _committed_since(broker: Broker, before: Mapping[tuple[str, str, int], int]) -> dict[tuple[str, str, int], int]:
    return {part: offset for part, offset in _committed(broker).items() if offset > before.get(part, -1)}


def _groups_of(broker: Broker) -> dict[str, GroupVerdict]:
    return {
        group.group_id: broker.verdict(group=group.group_id) for group in broker.groups.list() if group.type != SHARE
    }


def _start_nodes(broker: Broker) -> None:
    """Start the nodes that are down: what they alone have is not lost."""
    for node in broker.nodes():
        if node.state != "running":
            # One that restarts by itself may be up by now.
            with suppress(CallError):
                broker.start_node(node.node)


def _prepare(place: Place, setting: Setting) -> None:
    for topic, partitions in setting.seed_topics.items():
        place.broker.topics.create(topic, partitions=partitions)
    if setting.prepare is not None:
        setting.prepare(place)


def _let_late_requests_arrive(broker: Broker, rules: Sequence[FaultRule]) -> None:
    late_ms = [rule.action.ms for rule in rules if isinstance(rule.action, Delay)]
    if late_ms:
        broker.clock.advance(max(late_ms))


def _check(place: Place, setting: Setting, ending: Ending) -> str | None:
    if ending.failed_check is not None or setting.check is None or ending.exit_code != 0:
        return ending.failed_check
    return setting.check(place)


def _contents_of(broker: Broker, setting: Setting, topics: Sequence[str]) -> dict[str, Content]:
    """Return what those of the topics have that are judged."""
    return {topic: _content_of(broker, topic, setting.event_id) for topic in setting.topics if topic in topics}


def _content_of(broker: Broker, topic: str, event_id: str) -> Content:
    try:
        verdict = broker.verdict(topic).batches
        records = broker.records(topic)
    except CallError as error:
        if error.status != NOT_FOUND:
            raise
        # The program did not create the topic.
        return Content()
    event_id_of = find_event_id(event_id)
    assert event_id_of is not None, f"{event_id} was checked"
    order: dict[tuple[int, bytes | None], list[bytes]] = {}
    for record in records:
        if not record.is_control and record.transaction in _COMMITTED:
            order.setdefault((record.partition, record.key), []).append(event_id_of(record) or b"")
    events = Counter(chain.from_iterable(order.values()))
    return Content(events, order, verdict.acknowledged_lost, verdict.reordered)
