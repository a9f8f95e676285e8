"""Operation by which an application reports what it has processed, for the verdict on its group."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...faults.consumption.processed_events import EventSource
from ...faults.rule_error import RuleError
from ..control import Control
from ..operation import Operation
from ..paging import INT64_MAX
from ..paging import NAME_CHARACTERS_MAX as ID_CHARACTERS_MAX
from .event_id_parameter import EventId, event_id_of_text
from .offset_pages import PartitionIndex, unknown_partition
from .topic_operations import TopicName, TopicPath, topic_of
from .verdict_operations import TAG

# Offsets or events of one report.
REPORTED_MAX = 10_000
EVENT_CHARACTERS_MAX = 1000
WAYS = "partition and offset, or event and event_id"

GroupName = Annotated[str, Meta(min_length=1, max_length=ID_CHARACTERS_MAX, description="The id of the group.")]
ProcessedOffset = Annotated[int, Meta(ge=0, le=INT64_MAX)]
ProcessedEvent = Annotated[str, Meta(max_length=EVENT_CHARACTERS_MAX)]


class Processed(Struct, kw_only=True, forbid_unknown_fields=True):
    """Records that an application has processed: a partition with an offset or several, or an event or several.

    What is reported twice was processed twice. group: that of the application; it need not exist.
    event: the content of the field that event_id names, such as "A-17" with "header:id".
    """

    # Documented, for programs that catch it.
    error_type = RuleError

    group: GroupName
    topic: TopicName
    partition: PartitionIndex | None = None
    offset: ProcessedOffset | Annotated[list[ProcessedOffset], Meta(max_length=REPORTED_MAX)] | None = None
    event: ProcessedEvent | Annotated[list[ProcessedEvent], Meta(max_length=REPORTED_MAX)] | None = None
    event_id: EventId | None = None


class Reported(Struct, kw_only=True):
    """The number of records of a report."""

    count: int


def report_processed(control: Control, body: Processed) -> Reported:
    """Report records of a topic as processed, which makes the verdict on the group exact.

    Reports are kept until the journal is deleted or the data are reset. An unknown topic or partition is 404.
    """
    topic = topic_of(control, TopicPath(topic=body.topic))
    histories = control.journal.consumption.histories
    match body:
        case Processed(partition=int(partition), offset=(int() | list()) as offset, event=None, event_id=None):
            if not topic.has_partition(partition):
                raise unknown_partition(topic, partition, "partition")
            offsets = offset if isinstance(offset, list) else [offset]
            histories.processed(body.group, (topic.name, partition), offsets)
            return Reported(count=len(offsets))
        case Processed(partition=None, offset=None, event=(str() | list()) as event, event_id=str(event_id)):
            event_id_of_text(event_id)
            events = event if isinstance(event, list) else [event]
            histories.processed_by_id(EventSource(body.group, topic.name, event_id), events)
            return Reported(count=len(events))
        case _:
            raise RuleError("offset", body.offset, WAYS, f"give either of two: {WAYS}")


OPERATIONS = (Operation(method="POST", path="/v1/processed", perform=report_processed, tag=TAG, errors=(404, 409)),)
