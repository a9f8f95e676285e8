"""Operation that returns the verdict on a topic, on a group, or on what an application makes of a topic in another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct, field

from ...broker.runtime.long_work import run_steps
from ...faults import verdict
from ...faults.consumption.group_verdict import GroupVerdict
from ...faults.flow.flow_verdict import FlowVerdict
from ...faults.rule_error import RuleError
from ...faults.verdict.topic_verdict import TopicVerdict
from .. import operations
from ..control import Control
from ..errors import conflict
from ..leading_partitions import leading_partition_of
from ..long_calls import run_long_call
from ..operation import Operation
from ..paging import NAME_CHARACTERS_MAX as ID_CHARACTERS_MAX
from .event_id_parameter import EventId, event_id_of_text
from .topic_logs import ClusterLogs
from .topic_operations import unknown_topic

if TYPE_CHECKING:
    from ...broker.metadata.metadata_image import TopicImage
    from ...faults.event_ids import EventIdOf

TAG = "truth"

# Kafka's limit of a topic name.
TOPIC_CHARACTERS_MAX = 249

TopicName = Annotated[str, Meta(max_length=TOPIC_CHARACTERS_MAX, description="The topic; it may be deleted.")]
GroupName = Annotated[str, Meta(max_length=ID_CHARACTERS_MAX, description="The id of the group; it may be deleted.")]
InputName = Annotated[str, Meta(max_length=TOPIC_CHARACTERS_MAX, description="The topic that an application reads.")]
OutputName = Annotated[str, Meta(max_length=TOPIC_CHARACTERS_MAX, description="The topic of its results.")]
WAYS = "a topic, with or without event_id; a group; or from, to and event_id, with or without the group that reads from"


class VerdictQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The topic with the event id of its records, or the group; or the input and output of an application.

    With from and to, the event id is required, and the group is the one that reads the input.
    """

    # Documented, for programs that catch it.
    error_type = RuleError

    topic: TopicName | None = None
    event_id: EventId | None = None
    group: GroupName | None = None
    from_topic: InputName | None = field(name="from", default=None)
    to_topic: OutputName | None = field(name="to", default=None)


async def read_verdict(control: Control, query: VerdictQuery) -> TopicVerdict | GroupVerdict | FlowVerdict:
    """Return the counts and findings of a topic, of a group, or of what an application makes of a topic in another.

    Of a topic: batches stored once or twice, refused, lost or unacknowledged. Of a group: records delivered twice or
    never, and the commits that led to it. Of an application: events lost, doubled, out of order, or made of nothing.
    Reads the whole log wherever a copy may be. A deleted topic has a verdict as long as its batches are counted.
    """
    match query:
        case VerdictQuery(topic=None, event_id=None, group=str(group), from_topic=None, to_topic=None):
            return await operations.group_verdicts.judge_group(control, group)
        case VerdictQuery(topic=str(topic), group=None, from_topic=None, to_topic=None):
            event_id_of = None if query.event_id is None else event_id_of_text(query.event_id)
            return await run_long_call(control, judge_topic(control, topic, event_id_of))
        case VerdictQuery(topic=None, from_topic=str(source), to_topic=str(target), event_id=str(event_id)):
            flows = operations.flow_verdicts
            return await flows.judge_flow(control, flows.Flow(source, target, event_id, query.group))
        case _:
            message = f"give either a topic or a group, or from and to; allowed: {WAYS}"
            raise RuleError("topic", query.topic, WAYS, message)


async def judge_topic(control: Control, name: str, event_id_of: EventIdOf | None) -> TopicVerdict:
    """Return the verdict on a topic, in steps of long work.

    Raises CallError: 404 for a topic without counts, 409 if one of its logs cannot be read or it is deleted meanwhile.
    """
    _prepare_logs(control, name)
    topic, logs = control.cluster.image.find_topic(name), ClusterLogs(control.cluster)
    logs.fix_ends(name)
    judged = await run_steps(verdict.verdict.judge(control.journal, logs, name, event_id_of=event_id_of))
    present = control.cluster.image.find_topic(name)
    if topic is not None and (present is None or present.topic_id != topic.topic_id):
        raise conflict(f"the topic {name} was deleted", field="topic", value=name)
    return judged


def _prepare_logs(control: Control, name: str) -> None:
    """Bring the journal up to date with the logs.

    Raises CallError: 409 if a log of the topic cannot be read, 404 if there is no topic and it has no counts.
    """
    control.check_running()
    topic = control.cluster.image.find_topic(name)
    if topic is not None:
        for registration in topic.partitions:
            leading_partition_of(control.cluster, topic, registration)
        _report_deleted(control, topic)
    elif name not in control.journal.deliveries.counts.topics:
        raise unknown_topic(control, name)


def _report_deleted(control: Control, topic: TopicImage) -> None:
    """Report what was deleted since the last retention: a topic with fauxka.records=discarded deletes all the time."""
    for node in control.cluster.nodes:
        for partition in node.replicas.partitions_of(topic):
            node.report_deleted(partition)


OPERATIONS = (Operation(method="GET", path="/v1/verdict", perform=read_verdict, tag=TAG, errors=(404, 409)),)
