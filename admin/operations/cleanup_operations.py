"""Operations that clean logs up at once: compaction and retention, which else run at intervals.

Each replica has its own log, and each running node cleans its own, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ...broker.runtime.deferred import WaitFailed
from ...protocol.error_codes import KafkaError
from ..control import Control
from ..errors import conflict
from ..long_calls import run_long_call
from ..operation import Operation
from .offset_pages import PartitionIndex, unknown_partition
from .topic_operations import TAG, TopicName, TopicPath, topic_of

if TYPE_CHECKING:
    from ...broker.lifecycle.cleaner_thread import Cleaned
    from ...broker.lifecycle.server import Server
    from ...broker.replica.partition import Partition
    from ...storage.partition_log import PartitionLog


class CompactionQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The partition to compact; null for all."""

    partition: PartitionIndex | None = None


class RetentionQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The topic whose retention is applied; null for all."""

    topic: TopicName | None = None


class Removed(Struct, kw_only=True):
    """What was removed from the log of one replica.

    records: of a compaction the records of the batches; of retention the offsets, gaps included. bytes: of the
    segments. segments: by how many the log has fewer.
    """

    topic: str
    partition: int
    node: int
    records: int
    bytes: int
    segments: int


class RemovedList(Struct, kw_only=True):
    """The logs from which something was removed, by node, topic and partition."""

    items: list[Removed]


class _Replica(NamedTuple):
    """A replica on a running node, and its log."""

    server: Server
    partition: Partition
    log: PartitionLog

    def removed(self, records: int, size: int, segments: int) -> Removed:
        return Removed(
            topic=self.partition.topic_name,
            partition=self.partition.index,
            node=self.server.node.node_id,
            records=records,
            bytes=size,
            segments=segments,
        )


async def compact_topic(control: Control, path: TopicPath, query: CompactionQuery) -> RemovedList:
    """Compact a topic at once, whatever its dirty ratio, and return what was removed from each log.

    The active segment is finished first, as segment.ms does, because the log cleaner reads only finished ones. As
    always, it leaves records younger than min.compaction.lag.ms, those from the first open transaction on, and
    tombstones within delete.retention.ms. A topic without cleanup.policy=compact is 409.
    """
    topic = topic_of(control, path)
    if query.partition is not None and not topic.has_partition(query.partition):
        raise unknown_partition(topic, query.partition, "partition")
    chosen = [each for each in _replicas(control, topic.name) if query.partition in (None, each.partition.index)]
    if not all(each.log.config.is_compacted for each in chosen):
        message = f"{topic.name} is not compacted: it needs cleanup.policy=compact"
        raise conflict(message, field="topic", value=topic.name)

    async def work() -> RemovedList:
        cleanings = [(each, _begin_compaction(control, each)) for each in chosen]
        removed = [await _removed_by(each, cleaning) for each, cleaning in cleanings]
        return _list_of(removed)

    return await run_long_call(control, work())


def apply_retention(control: Control, query: RetentionQuery) -> RemovedList:
    """Apply retention.ms and retention.bytes at once, at the time of the broker's clock, and return what was removed.

    Whole segments are deleted, as always: those before the log start, too. A log that is being compacted is left.
    """
    control.check_running()
    topic = None if query.topic is None else topic_of(control, TopicPath(topic=query.topic)).name
    return _list_of([_apply_retention(control, each) for each in _replicas(control, topic)])


def _replicas(control: Control, topic: str | None) -> Iterator[_Replica]:
    """Yield the replicas with a log on the running nodes. topic: None for all topics."""
    for server in control.server.running:
        partitions = server.node.replicas.partitions()
        for partition in sorted(partitions, key=lambda each: (each.topic_name, each.index)):
            log = partition.find_log()
            if log is not None and topic in (None, partition.topic_name):
                yield _Replica(server, partition, log)


def _begin_compaction(control: Control, replica: _Replica) -> Cleaned:
    try:
        replica.log.finish_active_segment(control.clock.now_ms())
    except KafkaError as error:
        raise conflict(error.message, field="topic", value=replica.partition.topic_name) from error
    return replica.server.cleaner_thread.clean_log(replica.log)


async def _removed_by(replica: _Replica, cleaning: Cleaned) -> Removed:
    try:
        done = await cleaning
    except WaitFailed as error:
        message = f"the compaction of {replica.log.topic_partition} failed; the log of the broker has the reason"
        raise conflict(message, field="topic", value=replica.partition.topic_name) from error
    if done is None:
        return replica.removed(0, 0, 0)
    return replica.removed(
        done.records_before - done.records_after, done.bytes_before - done.bytes_after, done.merged_segments
    )


def _apply_retention(control: Control, replica: _Replica) -> Removed:
    log = replica.log
    log_start_offset, size = log.log_start_offset, log.size_bytes
    try:
        segments = log.enforce_retention(control.clock.now_ms())
    except OSError as error:
        message = f"cannot delete segments of {log.topic_partition}: {error.strerror or error}"
        raise conflict(message, field="topic", value=replica.partition.topic_name) from error
    replica.server.node.report_deleted(replica.partition)
    return replica.removed(log.log_start_offset - log_start_offset, size - log.size_bytes, segments)


def _list_of(removed: list[Removed]) -> RemovedList:
    return RemovedList(items=[each for each in removed if each.records or each.bytes or each.segments])


OPERATIONS = (
    Operation(method="POST", path="/v1/topics/{topic}/compact", perform=compact_topic, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/retention", perform=apply_retention, tag=TAG, errors=(404, 409)),
)
