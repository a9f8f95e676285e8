"""Operation that returns the verdict on a topic."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.metadata.metadata_image import TopicImage
from ...faults.event_ids import ALLOWED, SHAPES, EventIdOf, find_event_id
from ...faults.rule_error import RuleError
from ...faults.verdict.topic_verdict import TopicVerdict
from ...faults.verdict.verdict import judge
from ...protocol.similar_names import suggestion
from ..control import Control
from ..leading_partitions import leading_partition_of
from ..operation import Operation
from .topic_logs import ClusterLogs
from .topic_operations import unknown_topic

TAG = "truth"

# Kafka's limit of a topic name.
TOPIC_CHARACTERS_MAX = 249
EVENT_ID_CHARACTERS_MAX = 1000

TopicName = Annotated[str, Meta(max_length=TOPIC_CHARACTERS_MAX, description="The topic; it may be deleted.")]
EventId = Annotated[
    str,
    Meta(
        max_length=EVENT_ID_CHARACTERS_MAX,
        description="The event id of the test: `value`, `key`, `header:NAME` or `json:PATH` such as `json:order.id`. "
        "Finds copies from any producer.",
    ),
]


class VerdictQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The topic, and the event id of its records."""

    # Documented, for programs that catch it.
    error_type = RuleError

    topic: TopicName
    event_id: EventId | None = None


def read_verdict(control: Control, query: VerdictQuery) -> TopicVerdict:
    """Return the counts and findings of a topic: batches stored once or twice, refused, lost or unacknowledged.

    Reads the whole log wherever a copy may be. A deleted topic has a verdict as long as its batches are counted.
    """
    event_id_of = None if query.event_id is None else _event_id_of(query.event_id)
    _prepare_logs(control, query.topic)
    return judge(control.journal, ClusterLogs(control.cluster), query.topic, event_id_of=event_id_of)


def _event_id_of(text: str) -> EventIdOf:
    """Return what reads the event id from a record. Raises RuleError for another text."""
    found = find_event_id(text)
    if found is None:
        hint = suggestion(text.partition(":")[0], SHAPES)
        raise RuleError("event_id", text, ALLOWED, f"event_id cannot be {text!r}; allowed: {ALLOWED}{hint}")
    return found


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
