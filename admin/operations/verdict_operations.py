"""Operation that returns the verdict on a topic or on a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from ...faults import verdict
from ...faults.consumption.group_verdict import GroupVerdict
from ...faults.rule_error import RuleError
from ...faults.verdict.topic_verdict import TopicVerdict
from .. import operations
from ..control import Control
from ..leading_partitions import leading_partition_of
from ..operation import Operation
from ..paging import NAME_CHARACTERS_MAX as ID_CHARACTERS_MAX
from .event_id_parameter import EventId, event_id_of_text
from .topic_logs import ClusterLogs
from .topic_operations import unknown_topic

if TYPE_CHECKING:
    from ...broker.metadata.metadata_image import TopicImage

TAG = "truth"

# Kafka's limit of a topic name.
TOPIC_CHARACTERS_MAX = 249

TopicName = Annotated[str, Meta(max_length=TOPIC_CHARACTERS_MAX, description="The topic; it may be deleted.")]
GroupName = Annotated[str, Meta(max_length=ID_CHARACTERS_MAX, description="The id of the group; it may be deleted.")]


class VerdictQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The topic with the event id of its records, or the group."""

    # Documented, for programs that catch it.
    error_type = RuleError

    topic: TopicName | None = None
    event_id: EventId | None = None
    group: GroupName | None = None


async def read_verdict(control: Control, query: VerdictQuery) -> TopicVerdict | GroupVerdict:
    """Return the counts and findings of a topic or of a group.

    Of a topic: batches stored once or twice, refused, lost or unacknowledged. Of a group: records delivered twice or
    never, and the commits that led to it.
    Reads the whole log wherever a copy may be. A deleted topic has a verdict as long as its batches are counted.
    """
    if query.group is not None and query.topic is None and query.event_id is None:
        return await operations.group_verdicts.judge_group(control, query.group)
    if query.topic is None or query.group is not None:
        allowed = "a topic, with or without event_id, or a group"
        raise RuleError("topic", query.topic, allowed, f"give either a topic or a group; allowed: {allowed}")
    event_id_of = None if query.event_id is None else event_id_of_text(query.event_id)
    _prepare_logs(control, query.topic)
    return verdict.verdict.judge(control.journal, ClusterLogs(control.cluster), query.topic, event_id_of=event_id_of)


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
