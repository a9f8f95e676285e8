"""Operations that list topics."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.metadata.metadata_image import PartitionRegistration, TopicImage
from ...broker.replica.partition import Partition
from ...protocol.kafka_uuid import uuid_text
from ...protocol.similar_names import suggestion
from ..control import Control
from ..errors import CallError
from ..leading_partitions import find_leading_partition
from ..operation import Operation
from ..paging import NamePage, page_of

TAG = "state"

# Names and ids in a path; topic names have at most 249 characters.
NAME_CHARACTERS_MAX = 1000
TopicName = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]


class PartitionInfo(Struct, kw_only=True):
    """A partition and its log. The fields of the log are null while all nodes with a replica are down."""

    partition: int
    leader: int
    leader_epoch: int
    log_start_offset: int | None
    log_end_offset: int | None
    high_watermark: int | None
    last_stable_offset: int | None
    size_bytes: int | None
    producers: int | None


class TopicInfo(Struct, kw_only=True):
    """A topic. configs: those that were set for it."""

    name: str
    topic_id: str
    internal: bool
    configs: dict[str, str]
    partitions: list[PartitionInfo]


class TopicPage(Struct, kw_only=True):
    """Topics sorted by name."""

    items: list[TopicInfo]
    next: str | None


class TopicPath(Struct, kw_only=True, forbid_unknown_fields=True):
    """The name of a topic."""

    topic: TopicName


def list_topics(control: Control, query: NamePage) -> TopicPage:
    """List the topics with their partitions."""
    names = sorted(name for name in control.cluster.image.topics if name > query.since)
    items, token = page_of(
        names, query.limit, lambda name: _topic_info(control, control.cluster.image.topics[name]), str
    )
    return TopicPage(items=items, next=token)


def get_topic(control: Control, path: TopicPath) -> TopicInfo:
    """Return a topic with its partitions."""
    return _topic_info(control, topic_of(control, path))


def topic_of(control: Control, path: TopicPath) -> TopicImage:
    """Return the topic. Raises CallError: 404 for an unknown one, 409 while the node is down."""
    control.check_running()
    topic = control.cluster.image.find_topic(path.topic)
    if topic is None:
        raise unknown_topic(control, path.topic)
    return topic


def unknown_topic(control: Control, topic: str, field: str = "topic") -> CallError:
    """Return the 404 for a topic that does not exist, with the most similar name. field: the one that names it."""
    message = f"there is no topic {topic!r}{suggestion(topic, control.cluster.image.topics)}"
    return CallError(404, message, field=field, value=topic, allowed="the name of a topic")


def _topic_info(control: Control, topic: TopicImage) -> TopicInfo:
    return TopicInfo(
        name=topic.name,
        topic_id=uuid_text(topic.topic_id),
        internal=topic.is_internal,
        configs=topic.configs,
        partitions=[
            _partition_info(registration, find_leading_partition(control.cluster, topic, registration))
            for registration in topic.partitions
        ],
    )


def _partition_info(registration: PartitionRegistration, partition: Partition | None) -> PartitionInfo:
    # A partition without a log is empty, and this call must not create the log.
    log = None if partition is None else partition.find_log()
    empty = None if partition is None else 0
    return PartitionInfo(
        partition=registration.index,
        leader=registration.leader_id,
        leader_epoch=registration.leader_epoch,
        log_start_offset=empty if log is None else log.log_start_offset,
        log_end_offset=empty if log is None else log.log_end_offset,
        high_watermark=empty if log is None else log.high_watermark,
        last_stable_offset=empty if log is None else log.last_stable_offset,
        size_bytes=empty if log is None else log.size_bytes,
        producers=empty if log is None else sum(1 for _ in log.producers.active_producers()),
    )


OPERATIONS = (
    Operation(method="GET", path="/v1/topics", perform=list_topics, tag=TAG),
    Operation(method="GET", path="/v1/topics/{topic}", perform=get_topic, tag=TAG, errors=(404, 409)),
)
