"""Replay of __consumer_offsets: restores groups and committed offsets.

Records that cannot be decoded are skipped and logged, for example those of a newer Kafka.
Source: GroupCoordinatorShard.replay, GroupMetadataManager.replay and OffsetMetadataManager.replay, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....protocol.batches.record_batch import NO_PRODUCER_ID
from ....protocol.frames import FrameError
from ....protocol.stored_records.consumer_group_records import ConsumerRecordType, read_consumer_record
from ....protocol.stored_records.group_log_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    GroupRecordType,
    OffsetCommitKey,
    OffsetCommitValue,
    record_type_of,
)
from ....protocol.stored_records.share_group_records import ShareRecordType, read_share_record
from ....protocol.stored_records.streams_group_records import StreamsRecordType, read_streams_record
from ....protocol.stored_records.typed_records import TypedRecord
from .group_records import restored_group, restored_offset
from .offset_store import GroupTopicPartition

if TYPE_CHECKING:
    from ..coordinator_log import ReplayedRecord
    from .group_offsets import GroupOffsets
    from .group_registry import GroupRegistry

logger = logging.getLogger(__name__)

_OFFSET_TYPES = (GroupRecordType.LEGACY_OFFSET_COMMIT, GroupRecordType.OFFSET_COMMIT)
_CONSUMER_TYPES = frozenset(ConsumerRecordType)
_SHARE_TYPES = frozenset(ShareRecordType)
_STREAMS_TYPES = frozenset(StreamsRecordType)


class GroupReplay:
    """Applies the records, in the order of the log, to a registry and to committed offsets."""

    def __init__(
        self,
        registry: GroupRegistry,
        offsets: GroupOffsets,
        apply_consumer_record: Callable[[TypedRecord], None],
        apply_share_record: Callable[[TypedRecord], None],
        apply_streams_record: Callable[[TypedRecord], None],
    ) -> None:
        """apply_consumer_record and the next two: called with the records of those types of groups."""
        self._registry = registry
        self._offsets = offsets
        self._apply_consumer_record = apply_consumer_record
        self._apply_share_record = apply_share_record
        self._apply_streams_record = apply_streams_record
        self._unknown_types: set[int] = set()

    def apply(self, log_partition: int, record: ReplayedRecord) -> None:
        """Apply a record of the partition log_partition of __consumer_offsets."""
        if record.marker is not None:
            self._offsets.end_transaction(log_partition, record.header.producer_id, is_commit=record.marker.is_commit)
            return
        try:
            self._apply(log_partition, record, record.key or b"")
        except FrameError as error:
            logger.error("__consumer_offsets-%d: the record at %d: %s", log_partition, record.offset, error)

    def _apply(self, log_partition: int, record: ReplayedRecord, key: bytes) -> None:
        record_type = record_type_of(key)
        if record_type in _OFFSET_TYPES:
            self._apply_offset(log_partition, record, key)
        elif record_type == GroupRecordType.GROUP_METADATA:
            self._apply_group(record, key)
        elif record_type in _CONSUMER_TYPES:
            self._apply_consumer_record(read_consumer_record(key, record.value))
        elif record_type in _SHARE_TYPES:
            self._apply_share_record(read_share_record(key, record.value))
        elif record_type in _STREAMS_TYPES:
            self._apply_streams_record(read_streams_record(key, record.value))
        elif record_type not in self._unknown_types:
            self._unknown_types.add(record_type)
            logger.warning("__consumer_offsets-%d: records of type %d are skipped", log_partition, record_type)

    def _apply_group(self, record: ReplayedRecord, key: bytes) -> None:
        group_id = GroupMetadataKey.read(key).group
        if record.value is not None:
            value = GroupMetadataValue.read(record.value)
            self._registry.add(restored_group(group_id, value, self._registry.new_timers(group_id)))
            return
        group = self._registry.find(group_id)
        if group is not None:
            self._registry.delete(group)

    def _apply_offset(self, log_partition: int, record: ReplayedRecord, key: bytes) -> None:
        read = OffsetCommitKey.read(key)
        partition = GroupTopicPartition(read.group, read.topic, read.partition)
        if record.value is None:
            self._offsets.remove([partition])
            return
        committed = restored_offset(OffsetCommitValue.read(record.value), record.offset)
        if self._registry.find(read.group) is None:
            # A group whose clients assign partitions to themselves has offsets, but no group record.
            self._registry.create_classic(read.group)
        if record.header.producer_id == NO_PRODUCER_ID:
            self._offsets.put(partition, committed)
        else:
            self._offsets.put_pending(log_partition, record.header.producer_id, partition, committed)
