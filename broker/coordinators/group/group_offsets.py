"""Who may commit, read and delete a group's offsets, and when they expire.

Every change is written before it is made, all that a request changes as one batch.
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
from ..java_strings import java_string_length
from .classic_group import ClassicGroup, GroupState
from .group import CheckOffset, Group, OffsetCommitter
from .group_records import offset_record, offset_tombstone
from .offset_store import CommittedOffset, OffsetPlace, OffsetStore
from .pending_offsets import PendingOffsets

if TYPE_CHECKING:
    from .group_log import GroupLog
    from .group_registry import GroupRegistry
    from .group_settings import GroupSettings

logger = logging.getLogger(__name__)

# From this version of OffsetCommit on, clients know GROUP_ID_NOT_FOUND.
GROUP_ID_NOT_FOUND_SINCE = 9
# What versions without, or clients without a wish for, a retention time send.
DEFAULT_RETENTION_TIME = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetToCommit:
    """What a client commits for one partition; topic_id is all zero where it is not known."""

    topic_name: str
    topic_id: bytes = ZERO_UUID
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str | None = None

    def committed(self, now_ms: int, expire_ms: int | None) -> CommittedOffset:
        """Return what is kept of it."""
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
    """What became of each offset, and those that are written."""

    error_codes: list[ErrorCode]
    commits: list[tuple[OffsetPlace, CommittedOffset]]


@dataclass(frozen=True, slots=True)
class OffsetProducer:
    """The producer in whose transaction offsets are committed."""

    producer_id: int
    producer_epoch: int


class GroupOffsets:
    """The committed offsets of all groups."""

    __slots__ = ("_extend_session", "_log", "_now_ms", "_pending", "_registry", "_settings", "_store")

    def __init__(
        self,
        settings: GroupSettings,
        registry: GroupRegistry,
        log: GroupLog,
        *,
        now_ms: Callable[[], int],
        extend_session: Callable[[ClassicGroup, str], None],
    ) -> None:
        """Start without offsets; registry holds the groups they belong to.

        extend_session: is told which member of a classic group has shown that it lives.
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
        """Commit the offsets, and return what became of each: NONE or OFFSET_METADATA_TOO_LARGE.

        A group that there is not yet is created for a client that assigns partitions to itself (generation -1).
        Raises KafkaError where none is committed: GROUP_ID_NOT_FOUND (ILLEGAL_GENERATION before version 9),
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS, and what StateLog raises.
        """
        with self._group_of(committer) as group:
            check = group.check_offset_commit(committer)
            if isinstance(group, ClassicGroup) and group.state in (GroupState.STABLE, GroupState.PREPARING_REBALANCE):
                self._extend_session(group, committer.member_id)
            written = self._write(committer.group_id, check, offsets, retention_time_ms, BatchOptions())
        for place, committed in written.commits:
            self._store.put(place, committed)
        return written.error_codes

    def commit_pending(
        self, committer: OffsetCommitter, offsets: Sequence[OffsetToCommit], producer: OffsetProducer
    ) -> list[ErrorCode]:
        """Commit the offsets as part of the producer's transaction, which decides by its end whether they count.

        What is returned and raised is as of commit, with ILLEGAL_GENERATION for a member's epoch that is over.
        Source: OffsetMetadataManager.commitTransactionalOffset, Kafka 4.3.0.
        """
        group_id = committer.group_id
        options = BatchOptions(
            producer_id=producer.producer_id, producer_epoch=producer.producer_epoch, is_transactional=True
        )
        with self._group_of(committer) as group:
            check = _check_transactional(group, committer)
            log_partition = self._log.partition_index_of(group_id)
            written = self._write(group_id, check, offsets, DEFAULT_RETENTION_TIME, options)
        for place, committed in written.commits:
            self._pending.put(log_partition, producer.producer_id, place, committed)
        return written.error_codes

    def end_transaction(self, log_partition: int, producer_id: int, *, is_commit: bool) -> None:
        """Have the offsets of the producer's transaction count, or forget them.

        log_partition: of the coordinator's topic, where the transaction's marker was written. An offset that was
        committed since, by whomever, stays.
        Source: OffsetMetadataManager.replayEndTransactionMarker, Kafka 4.3.0.
        """
        for place, committed in self._pending.end(log_partition, producer_id).items():
            current = self._store.find(*place)
            if is_commit and (current is None or committed.record_offset > current.record_offset):
                self._store.put(place, committed)

    @contextmanager
    def _group_of(self, committer: OffsetCommitter) -> Generator[Group, None, None]:
        """Yield the group that the offsets go to; one that was made for it is gone again where the block raises."""
        group = self._registry.find(committer.group_id)
        if group is not None:
            yield group
            return
        _check_generation_of_new_group(committer)
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
        """Write those of the offsets that are accepted; all or none of them. Raises KafkaError."""
        now_ms = self._now_ms()
        expire_ms = None if retention_time_ms == DEFAULT_RETENTION_TIME else now_ms + retention_time_ms
        error_codes: list[ErrorCode] = []
        accepted: list[tuple[OffsetPlace, CommittedOffset]] = []
        for offset in offsets:
            error_codes.append(self._judge(offset))
            if error_codes[-1] is ErrorCode.NONE:
                check(offset.topic_name, offset.topic_id, offset.partition)
                place = OffsetPlace(group_id, offset.topic_name, offset.partition)
                accepted.append((place, offset.committed(now_ms, expire_ms)))
        if not accepted:
            return _Written(error_codes, [])
        records = [offset_record(*place, committed) for place, committed in accepted]
        base_offset = self._log.append(group_id, records, options)
        commits = [(place, committed.at(at)) for at, (place, committed) in enumerate(accepted, base_offset)]
        return _Written(error_codes, commits)

    def _judge(self, offset: OffsetToCommit) -> ErrorCode:
        metadata = offset.metadata or ""
        # No string has more characters than its text here has, doubled.
        limit = self._settings.offset_metadata_characters_max
        if len(metadata) * 2 > limit and java_string_length(metadata) > limit:
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        return ErrorCode.NONE

    # -- read

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """Check who asks for a group's offsets, if there is such a group.

        Raises KafkaError for a member that is not in the group, or not in that epoch: UNKNOWN_MEMBER_ID,
        STALE_MEMBER_EPOCH, ILLEGAL_GENERATION.
        """
        group = self._registry.find(group_id)
        if group is not None:
            group.check_offset_fetch(member_id, member_epoch)

    def find(self, group_id: str, topic_name: str, partition: int) -> CommittedOffset | None:
        """Return what the group committed for the partition, or None."""
        return self._store.find(group_id, topic_name, partition)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """Return all that the group committed, by topic and partition."""
        return self._store.of_group(group_id)

    def is_pending(self, group_id: str, topic_name: str, partition: int) -> bool:
        """Return whether an open transaction may change what is committed for the partition."""
        return self._pending.is_pending(OffsetPlace(group_id, topic_name, partition))

    # -- delete

    def begin_delete(self, group_id: str) -> Group:
        """Return the group whose offsets may be deleted.

        Raises KafkaError: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP (members that are not consumers: which
        topics they use is not known).
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        group = self._registry.group_of(group_id)
        group.check_offset_delete()
        return group

    def delete(self, group: Group, partitions: Sequence[tuple[str, int]]) -> list[ErrorCode]:
        """Forget the offsets for these partitions; return what became of each: NONE or GROUP_SUBSCRIBED_TO_TOPIC.

        Raises KafkaError, see StateLog; they are all still there then.
        """
        places = [OffsetPlace(group.group_id, *partition) for partition in partitions]
        deletable = [place for place in places if not group.is_subscribed_to(place.topic_name)]
        known = [place for place in dict.fromkeys(deletable) if self._is_known(place)]
        if known:
            self._log.append(group.group_id, [offset_tombstone(*place) for place in known])
            self.forget(known)
        return [
            ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.is_subscribed_to(place.topic_name) else ErrorCode.NONE
            for place in places
        ]

    def forget_topics(self, topics: Sequence[tuple[str, bytes]]) -> None:
        """Forget what was committed for deleted topics, each by name and id.

        Source: OffsetMetadataManager.onTopicsDeleted, Kafka 4.3.0.
        """
        gone: dict[str, dict[OffsetPlace, None]] = {}
        for topic_name, topic_id in topics:
            for place, committed in self._store.of_topic(topic_name) + self._pending.of_topic(topic_name):
                if committed.is_of_topic(topic_id):
                    gone.setdefault(place.group_id, {})[place] = None
        for group_id, places in gone.items():
            try:
                self._log.append(group_id, [offset_tombstone(*place) for place in places])
            except KafkaError as error:
                logger.warning("group %s: cannot forget the offsets of deleted topics: %s", group_id, error.message)
            else:
                self.forget(places)

    def all_of_group(self, group_id: str) -> list[OffsetPlace]:
        """Return what the group has offsets for, committed or in a transaction."""
        places = {
            OffsetPlace(group_id, topic_name, partition): None
            for topic_name, partitions in self._store.of_group(group_id).items()
            for partition in partitions
        }
        places.update(dict.fromkeys(self._pending.of_group(group_id)))
        return list(places)

    def expired_of(self, group: Group) -> list[OffsetPlace]:
        """Return what the group has expired offsets for, none of them in a transaction.

        Source: OffsetMetadataManager.cleanupExpiredOffsets, Kafka 4.3.0.
        """
        now_ms, retention_ms = self._now_ms(), self._settings.offsets_retention_ms
        expired: list[OffsetPlace] = []
        for topic_name, partitions in self._store.of_group(group.group_id).items():
            if group.is_subscribed_to(topic_name):
                continue
            for partition, committed in partitions.items():
                base_ms = group.retention_base_ms(committed)
                place = OffsetPlace(group.group_id, topic_name, partition)
                if base_ms is None or self._pending.is_pending(place):
                    continue
                if committed.is_expired(now_ms, base_ms=base_ms, retention_ms=retention_ms):
                    expired.append(place)
        return expired

    # -- what was written

    def put(self, place: OffsetPlace, committed: CommittedOffset) -> None:
        """Keep an offset that was written."""
        self._store.put(place, committed)

    def put_pending(self, log_partition: int, producer_id: int, place: OffsetPlace, committed: CommittedOffset) -> None:
        """Keep an offset that was written in a transaction, until end_transaction."""
        self._pending.put(log_partition, producer_id, place, committed)

    def forget(self, places: Iterable[OffsetPlace]) -> None:
        """Forget offsets that were written to be gone, those in transactions too."""
        for place in places:
            self._store.remove(place)
            self._pending.remove(place)

    def _is_known(self, place: OffsetPlace) -> bool:
        return self._store.find(*place) is not None or self._pending.is_pending(place)


def _check_generation_of_new_group(committer: OffsetCommitter) -> None:
    if committer.generation_id >= 0:
        is_known = committer.api_version >= GROUP_ID_NOT_FOUND_SINCE and not committer.is_transactional
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND if is_known else ErrorCode.ILLEGAL_GENERATION,
            f"Group {committer.group_id} not found.",
        )


def _check_transactional(group: Group, committer: OffsetCommitter) -> CheckOffset:
    try:
        return group.check_offset_commit(committer)
    except KafkaError as error:
        if error.code is not ErrorCode.STALE_MEMBER_EPOCH:
            raise
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION, error.message) from error
