"""The committed offsets of all groups: commit, read, delete and expiry.

The changes of one request are appended as one batch, and applied to the memory only after that.
Source: OffsetMetadataManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....protocol.batches.records import BatchOptions
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.primitives import ZERO_UUID
from ....protocol.produced_records import TransactionalProducer
from ..java_strings import java_string_length
from .classic_group import ClassicGroup, GroupState
from .group import MEMBER_ERRORS_SINCE, CheckOffset, Group, OffsetCommitter, accept_any_offset
from .group_records import offset_record, offset_tombstone
from .offset_store import CommittedOffset, GroupTopicPartition, OffsetStore
from .pending_offsets import PendingOffsets

if TYPE_CHECKING:
    from ..coordinator_log import CoordinatorLog
    from .group_registry import GroupRegistry
    from .group_settings import GroupSettings

logger = logging.getLogger(__name__)

# The retention time of OffsetCommit requests that set none.
DEFAULT_RETENTION_TIME = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetToCommit:
    """One offset of a commit request. topic_id is all zero if unknown."""

    topic_name: str
    topic_id: bytes = ZERO_UUID
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str | None = None

    def committed(self, now_ms: int, expire_ms: int | None) -> CommittedOffset:
        """Return the offset to store."""
        return CommittedOffset(
            offset=self.offset,
            leader_epoch=self.leader_epoch,
            metadata=self.metadata or "",
            commit_timestamp_ms=now_ms,
            expire_timestamp_ms=expire_ms,
            topic_id=self.topic_id,
        )


@dataclass(frozen=True, slots=True)
class _Written:
    """The error code of each offset, and the offsets that were written."""

    error_codes: list[ErrorCode]
    commits: list[tuple[GroupTopicPartition, CommittedOffset]]


class GroupOffsets:
    """The committed offsets of all groups."""

    __slots__ = ("_extend_session", "_log", "_now_ms", "_pending", "_registry", "_settings", "_store")

    def __init__(
        self,
        settings: GroupSettings,
        registry: GroupRegistry,
        log: CoordinatorLog,
        *,
        now_ms: Callable[[], int],
        extend_session: Callable[[ClassicGroup, str], None],
    ) -> None:
        """Create the store without offsets.

        registry: the groups of the offsets. extend_session: extends the session of a classic group's member.
        """
        self._settings = settings
        self._registry = registry
        self._log = log
        self._now_ms = now_ms
        self._extend_session = extend_session
        self._store = OffsetStore()
        self._pending = PendingOffsets()

    # -- commit

    def commit(
        self,
        committer: OffsetCommitter,
        offsets: Sequence[OffsetToCommit],
        *,
        retention_time_ms: int = DEFAULT_RETENTION_TIME,
    ) -> list[ErrorCode]:
        """Commit the offsets, and return for each NONE or OFFSET_METADATA_TOO_LARGE.

        A client that assigns partitions to itself (generation -1) creates a missing group.
        Raises KafkaError if none is committed: GROUP_ID_NOT_FOUND (ILLEGAL_GENERATION before version 9),
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS, and the errors of
        CoordinatorLog.append.
        """
        with self._group_of(committer) as group:
            check = group.check_offset_commit(committer)
            if isinstance(group, ClassicGroup) and group.state in (GroupState.STABLE, GroupState.PREPARING_REBALANCE):
                self._extend_session(group, committer.member_id)
            return self._commit(committer.group_id, check, offsets, retention_time_ms)

    def commit_unchecked(self, group_id: str, offsets: Sequence[OffsetToCommit]) -> None:
        """Commit the offsets whatever the state of the group. A missing group is created.

        Raises KafkaError, see CoordinatorLog.append.
        """
        with self._group_of(OffsetCommitter(group_id=group_id, api_version=MEMBER_ERRORS_SINCE)):
            self._commit(group_id, accept_any_offset, offsets, DEFAULT_RETENTION_TIME)

    def _commit(
        self, group_id: str, check: CheckOffset, offsets: Sequence[OffsetToCommit], retention_time_ms: int
    ) -> list[ErrorCode]:
        written = self._write(group_id, check, offsets, retention_time_ms, BatchOptions())
        for partition, committed in written.commits:
            self._store.put(partition, committed)
        return written.error_codes

    def commit_pending(
        self, committer: OffsetCommitter, offsets: Sequence[OffsetToCommit], producer: TransactionalProducer
    ) -> list[ErrorCode]:
        """Add the offsets to the producer's transaction. Its commit marker commits them.

        Returns and raises the same as commit, but ILLEGAL_GENERATION in place of STALE_MEMBER_EPOCH and
        GROUP_ID_NOT_FOUND before version 6.
        Source: OffsetMetadataManager.commitTransactionalOffset, Kafka 4.4.0.
        """
        group_id = committer.group_id
        options = BatchOptions(
            producer_id=producer.producer_id, producer_epoch=producer.producer_epoch, is_transactional=True
        )
        with self._group_of(committer) as group:
            check = _check_transactional(group, committer)
            log_partition = self._log.partition_index_of(group_id)
            written = self._write(group_id, check, offsets, DEFAULT_RETENTION_TIME, options)
        for partition, committed in written.commits:
            self._pending.put(log_partition, producer.producer_id, partition, committed)
        return written.error_codes

    def end_transaction(self, log_partition: int, producer_id: int, *, is_commit: bool) -> None:
        """Commit or delete the offsets of the producer's transaction. An offset of a later record stays.

        log_partition: the partition of __consumer_offsets that has the transaction's marker.
        Source: OffsetMetadataManager.replayEndTransactionMarker, Kafka 4.3.0.
        """
        for partition, committed in self._pending.end(log_partition, producer_id).items():
            current = self._store.find(*partition)
            if is_commit and (current is None or committed.record_offset > current.record_offset):
                self._store.put(partition, committed)

    @contextmanager
    def _group_of(self, committer: OffsetCommitter) -> Generator[Group, None, None]:
        """Yield the committer's group. A missing group is created, and deleted again if the block raises KafkaError."""
        group = self._registry.find(committer.group_id)
        if group is not None:
            yield group
            return
        if committer.generation_id >= 0:
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND if committer.has_member_errors else ErrorCode.ILLEGAL_GENERATION,
                f"Group {committer.group_id} not found.",
            )
        created = self._registry.create_classic(committer.group_id)
        try:
            yield created
        except KafkaError:
            self._registry.delete(created)
            raise

    def _write(
        self,
        group_id: str,
        check: CheckOffset,
        offsets: Sequence[OffsetToCommit],
        retention_time_ms: int,
        options: BatchOptions,
    ) -> _Written:
        """Append the accepted offsets as one batch. Raises KafkaError."""
        now_ms = self._now_ms()
        expire_ms = None if retention_time_ms == DEFAULT_RETENTION_TIME else now_ms + retention_time_ms
        error_codes: list[ErrorCode] = []
        accepted: list[tuple[GroupTopicPartition, CommittedOffset]] = []
        for offset in offsets:
            if self._is_metadata_too_large(offset.metadata or ""):
                error_codes.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
                continue
            error_codes.append(ErrorCode.NONE)
            check(offset.topic_name, offset.topic_id, offset.partition)
            partition = GroupTopicPartition(group_id, offset.topic_name, offset.partition)
            accepted.append((partition, offset.committed(now_ms, expire_ms)))
        if not accepted:
            return _Written(error_codes, [])
        records = [offset_record(partition, committed) for partition, committed in accepted]
        base_offset = self._log.append(group_id, records, options)
        commits = [(partition, committed.at(at)) for at, (partition, committed) in enumerate(accepted, base_offset)]
        return _Written(error_codes, commits)

    def _is_metadata_too_large(self, metadata: str) -> bool:
        # A Java string has at most two characters for each character here.
        limit = self._settings.offset_metadata_characters_max
        return len(metadata) * 2 > limit and java_string_length(metadata) > limit

    # -- read

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """Check the member of an OffsetFetch, if the group exists.

        Raises KafkaError for an unknown member or another epoch: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH,
        ILLEGAL_GENERATION.
        """
        group = self._registry.find(group_id)
        if group is not None:
            group.check_offset_fetch(member_id, member_epoch)

    def find(self, group_id: str, topic_name: str, partition: int) -> CommittedOffset | None:
        """Return the group's committed offset for the partition, or None."""
        return self._store.find(group_id, topic_name, partition)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """Return the group's committed offsets by topic and partition."""
        return self._store.of_group(group_id)

    def is_pending(self, group_id: str, topic_name: str, partition: int) -> bool:
        """Return whether an open transaction has an offset for the partition."""
        return self._pending.is_pending(GroupTopicPartition(group_id, topic_name, partition))

    # -- delete

    def deletable_group_of(self, group_id: str) -> Group:
        """Return the group whose offsets may be deleted.

        Raises KafkaError: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP (members other than consumers).
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        group = self._registry.group_of(group_id)
        group.check_offset_delete()
        return group

    def delete(self, group: Group, partitions: Sequence[tuple[str, int]]) -> list[ErrorCode]:
        """Delete the offsets of the partitions, and return for each NONE or GROUP_SUBSCRIBED_TO_TOPIC.

        Raises KafkaError, see CoordinatorLog.append. No offset is deleted then.
        """
        deletable = [each for each in dict.fromkeys(partitions) if not group.is_subscribed_to(each[0])]
        self.delete_unchecked(group.group_id, deletable)
        return [
            ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.is_subscribed_to(topic_name) else ErrorCode.NONE
            for topic_name, _ in partitions
        ]

    def delete_unchecked(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        """Delete the offsets of the partitions, also of those that members consume. Raises KafkaError as delete."""
        keys = [GroupTopicPartition(group_id, *each) for each in partitions]
        existing = [key for key in keys if self._store.find(*key) or self._pending.is_pending(key)]
        if existing:
            self._log.append(group_id, [offset_tombstone(key) for key in existing])
            self.remove(existing)

    def remove_topics(self, topics: Sequence[tuple[str, bytes]]) -> None:
        """Delete the offsets for deleted topics, each given by name and id.

        Source: OffsetMetadataManager.onTopicsDeleted, Kafka 4.3.0.
        """
        deleted: dict[str, dict[GroupTopicPartition, None]] = {}
        for topic_name, topic_id in topics:
            for partition, committed in self._store.of_topic(topic_name) + self._pending.of_topic(topic_name):
                if committed.is_of_topic(topic_id):
                    deleted.setdefault(partition.group_id, {})[partition] = None
        for group_id, partitions in deleted.items():
            try:
                self._log.append(group_id, [offset_tombstone(each) for each in partitions])
            except KafkaError as error:
                logger.warning("group %s: cannot delete the offsets of deleted topics: %s", group_id, error.message)
            else:
                self.remove(partitions)

    def all_of_group(self, group_id: str) -> list[GroupTopicPartition]:
        """Return the partitions for which the group has offsets, committed or in an open transaction."""
        committed = [
            GroupTopicPartition(group_id, topic_name, index)
            for topic_name, indexes in self._store.of_group(group_id).items()
            for index in indexes
        ]
        return list(dict.fromkeys(committed + self._pending.of_group(group_id)))

    def expired_of(self, group: Group) -> list[GroupTopicPartition]:
        """Return the partitions whose committed offset has expired. Those with pending offsets do not expire.

        Source: OffsetMetadataManager.cleanupExpiredOffsets, Kafka 4.3.0.
        """
        now_ms, retention_ms = self._now_ms(), self._settings.offsets_retention_ms
        expired: list[GroupTopicPartition] = []
        for topic_name, partitions in self._store.of_group(group.group_id).items():
            if group.is_subscribed_to(topic_name):
                continue
            for index, committed in partitions.items():
                base_ms = group.retention_base_ms(committed)
                partition = GroupTopicPartition(group.group_id, topic_name, index)
                if base_ms is None or self._pending.is_pending(partition):
                    continue
                if committed.is_expired(now_ms, base_ms=base_ms, retention_ms=retention_ms):
                    expired.append(partition)
        return expired

    # -- records in the log

    def put(self, partition: GroupTopicPartition, committed: CommittedOffset) -> None:
        """Store an offset whose record is in the log."""
        self._store.put(partition, committed)

    def put_pending(
        self, log_partition: int, producer_id: int, partition: GroupTopicPartition, committed: CommittedOffset
    ) -> None:
        """Store an offset whose record is in the log as part of a transaction, until end_transaction."""
        self._pending.put(log_partition, producer_id, partition, committed)

    def remove(self, partitions: Iterable[GroupTopicPartition]) -> None:
        """Remove offsets whose tombstones are in the log, those of open transactions too."""
        for partition in partitions:
            self._store.remove(partition)
            self._pending.remove(partition)


def _check_transactional(group: Group, committer: OffsetCommitter) -> CheckOffset:
    """Return the group's check of each offset, with the errors that the version of TxnOffsetCommit has."""
    with _errors_of_version(committer):
        check = group.check_offset_commit(committer)

    def check_offset(topic_name: str, topic_id: bytes, partition: int) -> None:
        with _errors_of_version(committer):
            check(topic_name, topic_id, partition)

    return check if committer.has_member_errors else check_offset


@contextmanager
def _errors_of_version(committer: OffsetCommitter) -> Generator[None, None, None]:
    try:
        yield
    except KafkaError as error:
        if error.code is not ErrorCode.STALE_MEMBER_EPOCH or committer.has_member_errors:
            raise
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION, error.message) from error
