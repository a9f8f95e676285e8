"""The verdict on what an application makes of one topic in another, from the logs of both and the history of its group.

Both topics are read up to where they ended when the call came. So what is written meanwhile is neither lost nor
unexpected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...broker.replica.record_reader import OffsetRange, StoredRecord
from ...broker.runtime.long_work import step
from ...faults.consumption.group_history import GroupHistory
from ...faults.consumption.processed_events import EventSource
from ...faults.event_ids import EventIdOf
from ...faults.flow.flow_events import EVENTS_MAX, FlowEvents, FlowRecord, Place, TooManyEventsError
from ...faults.flow.flow_judge import FlowJudge
from ...faults.flow.flow_reasons import FlowReasons
from ...faults.flow.flow_verdict import FlowVerdict, Kind
from ...faults.rule_error import RuleError
from ..control import Control
from ..errors import CallError, conflict
from ..leading_partitions import leading_partition_of
from ..long_calls import run_long_call
from .event_id_parameter import event_id_of_text
from .group_verdicts import history_of
from .topic_operations import unknown_topic
from .visited_records import visit_records

if TYPE_CHECKING:
    from ...broker.replica.partition import Partition
    from ...faults.consumption.group_histories import GroupHistories

# Groups that a note names.
GROUPS_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class Flow:
    """What to judge. group: of the application; None for the only one that reads from_topic."""

    from_topic: str
    to_topic: str
    event_id: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class _PartitionEnd:
    """A partition with its ends when the call came."""

    partition: Partition
    log_end: int
    last_stable_offset: int


@dataclass(slots=True)
class _ReadTopic:
    """A topic with the ends of its partitions. damaged: places that do not decode. without_id: committed records."""

    name: str
    ends: Sequence[_PartitionEnd]
    damaged: int = 0
    without_id: int = 0

    async def read(self, event_id_of: EventIdOf, add: Callable[[FlowRecord], object]) -> None:
        """Give the records with an event id to add."""
        for each in self.ends:
            stable = each.last_stable_offset

            def visit(record: StoredRecord, stable: int = stable) -> None:
                is_open, event_id = record.offset >= stable, event_id_of(record)
                is_aborted = record.transaction == "aborted" and not is_open
                if event_id is None:
                    self.without_id += not (is_open or is_aborted)
                    return
                place = Place(record.partition, record.offset)
                add(FlowRecord(event_id, place, is_aborted=is_aborted, is_open=is_open))

            self.damaged += await visit_records(each.partition, OffsetRange(0, each.log_end - 1), visit)

    def find_missing(self) -> str | None:
        """Return why the topic does not have all its records; None if it has."""
        logs = [log for each in self.ends if (log := each.partition.find_log()) is not None]
        if any(log.log_start_offset > 0 for log in logs):
            return "has deleted records"
        if any(log.config.is_compacted for log in logs):
            return "is compacted"
        return "has damaged records" if self.damaged else None


async def judge_flow(control: Control, flow: Flow) -> FlowVerdict:
    """Return the verdict on a flow.

    Raises RuleError if both topics are one, and CallError: 404 for an unknown topic or group, 409 if a log cannot be
    read or there are too many events.
    """
    return await run_long_call(control, _read_and_judge(control, flow))


async def _read_and_judge(control: Control, flow: Flow) -> FlowVerdict:
    control.check_running()
    if flow.from_topic == flow.to_topic:
        raise RuleError("to", flow.to_topic, "another topic than from", f"from and to are both {flow.to_topic!r}")
    inputs, outputs = _topic_of(control, flow.from_topic, "from"), _topic_of(control, flow.to_topic, "to")
    group, reasons, notes = _reasons_of(control, flow)
    events, event_id_of = FlowEvents(), event_id_of_text(flow.event_id)
    try:
        await inputs.read(event_id_of, events.add_input)
        await outputs.read(event_id_of, events.add_output)
    except TooManyEventsError:
        raise too_many_events(flow) from None
    unjudged: list[Kind] = []
    for topic, kind in ((outputs, Kind.LOST), (inputs, Kind.UNEXPECTED)):
        if topic.without_id:
            notes.append(f"{topic.name} has {topic.without_id} records without {flow.event_id}, which are not judged")
        missing = topic.find_missing()
        if missing is not None:
            unjudged.append(kind)
            notes.append(f"{topic.name} {missing}: which events are {kind.value} cannot be told")
    judge = FlowJudge(reasons, unjudged)
    for event in events:
        judge.add(event)
        await step()
    return FlowVerdict(
        from_topic=flow.from_topic,
        to_topic=flow.to_topic,
        event_id=flow.event_id,
        group=group,
        events=judge.counts,
        findings=judge.findings,
        unjudged=[each.value for each in unjudged],
        notes=notes,
        findings_left_out=judge.findings_left_out,
    )


def too_many_events(flow: Flow) -> CallError:
    """Return the 409 for topics with more events than are compared."""
    message = f"{flow.from_topic} and {flow.to_topic} have more than {EVENTS_MAX} events by {flow.event_id}"
    return conflict(message, field="event_id", value=flow.event_id)


def _topic_of(control: Control, name: str, field: str) -> _ReadTopic:
    """Return a topic with its ends. Raises CallError 404 and 409."""
    topic = control.cluster.image.find_topic(name)
    if topic is None:
        raise unknown_topic(control, name, field)
    leaders = [leading_partition_of(control.cluster, topic, each) for each in topic.partitions]
    logs = [(leader, log) for leader in leaders if (log := leader.find_log()) is not None]
    return _ReadTopic(name, [_PartitionEnd(leader, log.log_end_offset, log.last_stable_offset) for leader, log in logs])


def _reasons_of(control: Control, flow: Flow) -> tuple[str | None, FlowReasons, list[str]]:
    """Return the group that reads the input, the reasons, and a note if it is not known. Raises CallError 404."""
    histories, topics, notes = control.journal.consumption.histories, (flow.from_topic, flow.to_topic), list[str]()
    groups = [flow.group] if flow.group is not None else sorted(_readers_of(histories, flow.from_topic))
    if len(groups) > 1:
        named = ", ".join(groups[:GROUPS_NAMED_MAX])
        notes.append(f"{len(groups)} groups read {flow.from_topic}, such as {named}: give that of the application")
    if len(groups) != 1:
        return None, FlowReasons(None, GroupHistory(), topics), notes
    (group,) = groups
    history = history_of(control, group)
    source = EventSource(group, flow.from_topic, flow.event_id)
    reported = histories.processed_events.of_group(group).get(source, ())
    return group, FlowReasons(group, history, topics, reported), notes


def _readers_of(histories: GroupHistories, topic: str) -> Iterator[str]:
    for group, history in histories.groups.items():
        if any(each == topic for each, _ in (*history.partitions, *history.shares)):
            yield group
