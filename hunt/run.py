"""One run of the program against a broker of its own, and what it left there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..faults.journal.journal_entries import JournalEntry
from ..faults.rules.fault_rules import FaultRule
from ..testing import Broker
from ..testing.errors import CallError
from .event_id import VALUE, event_of
from .program import Ending, Program

_COMMITTED = ("none", "committed")


@dataclass(frozen=True, slots=True)
class Setting:
    """What all runs of a hunt have in common.

    topics: those that are judged. event_id: see event_id.py. config: keys of the broker. seed_topics: the topics that
    exist before the program starts, with their numbers of partitions, None for num.partitions.
    """

    topics: Sequence[str]
    event_id: str = VALUE
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    seed_topics: Mapping[str, int | None] = field(default_factory=dict[str, int | None])


@dataclass(frozen=True, slots=True)
class Content:
    """What a topic has after a run: its events with their numbers, and batches that the verdict counts."""

    events: Counter[bytes] = field(default_factory=Counter[bytes])
    lost: int = 0
    reordered: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run. hits: of each rule, in their order. requests: the journal."""

    ending: Ending
    topics: Mapping[str, Content]
    requests: Sequence[JournalEntry]
    hits: Sequence[int]


def run_once(program: Program, setting: Setting, rules: Sequence[FaultRule], timeout_seconds: float) -> Run:
    """Run the program with the rules in force, and read what it left."""
    with Broker(setting.config) as broker:
        for topic, partitions in setting.seed_topics.items():
            broker.topics.create(topic, partitions=partitions)
        armed = [broker.faults.add(rule) for rule in rules]
        ending = program.run(broker.bootstrap_servers, timeout_seconds)
        if not broker.is_running:
            broker.restart()
        topics = {topic: _content_of(broker, topic, setting.event_id) for topic in setting.topics}
        return Run(ending, topics, broker.journal.entries(), [rule.hits for rule in armed])


def _content_of(broker: Broker, topic: str, event_id: str) -> Content:
    try:
        verdict = broker.verdict(topic).batches
        records = broker.records(topic)
    except CallError:
        # The program did not create the topic.
        return Content()
    events = Counter(
        event_of(record, event_id) or b""
        for record in records
        if not record.is_control and record.transaction in _COMMITTED
    )
    return Content(events, verdict.acknowledged_lost, verdict.reordered)
