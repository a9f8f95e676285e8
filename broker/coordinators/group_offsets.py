"""Who may commit, read and delete a group's offsets, and when they expire.

Source: OffsetMetadataManager and ClassicGroup.validateOffsetCommit, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError
from .classic_group import ClassicGroup, GroupState
from .group_registry import GroupRegistry
from .java_strings import java_string_length
from .offset_store import CommittedOffset, OffsetStore
from .rebalance import Rebalance

if TYPE_CHECKING:
    from ...protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition
    from .group_settings import GroupSettings

# From this version of OffsetCommit on, clients know GROUP_ID_NOT_FOUND.
GROUP_ID_NOT_FOUND_SINCE = 9
# What versions without, or clients without a wish for, a retention time send.
DEFAULT_RETENTION_TIME = -1


class GroupOffsets:
    """The committed offsets of all groups."""

    __slots__ = ("_registry", "_settings", "_store")

    def __init__(self, settings: GroupSettings, registry: GroupRegistry) -> None:
        """Start without offsets; registry holds the groups they belong to."""
        self._settings = settings
        self._registry = registry
        self._store = OffsetStore()

    # -- commit

    def begin_commit(self, request: OffsetCommitRequest, api_version: int, rebalance: Rebalance) -> ClassicGroup:
        """Return the group that the request's offsets go to; a commit from a member extends its session.

        A group that there is not yet is created for a client that assigns partitions to itself (generation -1).
        Raises KafkaError: GROUP_ID_NOT_FOUND (ILLEGAL_GENERATION before version 9), UNKNOWN_MEMBER_ID,
        FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS.
        """
        group = self._registry.find(request.group_id)
        if group is None:
            _check_generation_of_new_group(request, api_version)
            group = self._registry.find_or_create(request.group_id)
        _check_commit(group, request)
        if group.state in (GroupState.STABLE, GroupState.PREPARING_REBALANCE):
            rebalance.extend_session(group, group.members[request.member_id])
        return group

    def commit(
        self, group: ClassicGroup, topic_name: str, partition: OffsetCommitRequestPartition, retention_time_ms: int
    ) -> None:
        """Keep one offset; raises KafkaError OFFSET_METADATA_TOO_LARGE."""
        metadata = partition.committed_metadata or ""
        characters = java_string_length(metadata)
        if characters > self._settings.offset_metadata_characters_max:
            raise KafkaError(
                ErrorCode.OFFSET_METADATA_TOO_LARGE,
                f"metadata of {characters} characters; {self._settings.offset_metadata_characters_max} are allowed",
            )
        now_ms = group.timers.now_ms()
        committed = CommittedOffset(
            offset=partition.committed_offset,
            leader_epoch=partition.committed_leader_epoch,
            metadata=metadata,
            commit_timestamp_ms=now_ms,
            expire_timestamp_ms=None if retention_time_ms == DEFAULT_RETENTION_TIME else now_ms + retention_time_ms,
        )
        self._store.put(group.group_id, topic_name, partition.partition_index, committed)

    # -- read

    def find(self, group_id: str, topic_name: str, partition: int) -> CommittedOffset | None:
        """Return what the group committed for the partition, or None."""
        return self._store.find(group_id, topic_name, partition)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """Return all that the group committed, by topic and partition."""
        return self._store.of_group(group_id)

    def copy_of(self, group_id: str) -> dict[str, dict[int, CommittedOffset]]:
        """Return all that the group committed, as it is now."""
        return {topic_name: dict(partitions) for topic_name, partitions in self.of_group(group_id).items()}

    def put_all(self, group_id: str, offsets: Mapping[str, Mapping[int, CommittedOffset]]) -> None:
        """Keep offsets as they were committed before."""
        for topic_name, partitions in offsets.items():
            for partition, committed in partitions.items():
                self._store.put(group_id, topic_name, partition, committed)

    # -- delete

    def begin_delete(self, group_id: str) -> ClassicGroup:
        """Return the group whose offsets may be deleted.

        Raises KafkaError: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP (members that are not consumers: which
        topics they use is not known).
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        group = self._registry.find(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not group.is_empty and not group.uses_consumer_protocol:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, f"group {group_id} has {len(group.members)} members")
        return group

    def delete(self, group: ClassicGroup, topic_name: str, partition: int) -> None:
        """Forget one offset, if there is one; raises KafkaError GROUP_SUBSCRIBED_TO_TOPIC."""
        if group.is_subscribed_to(topic_name):
            raise KafkaError(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, f"members of {group.group_id} consume {topic_name}")
        self._store.remove(group.group_id, topic_name, partition)

    def forget_group(self, group_id: str) -> None:
        """Forget all offsets of a deleted group."""
        self._store.remove_group(group_id)

    def forget_topic(self, topic_name: str) -> None:
        """Forget what was committed for a deleted topic."""
        self._store.remove_topic(topic_name)

    # -- expiry

    def remove_expired(self, group: ClassicGroup, now_ms: int) -> bool:
        """Forget the group's expired offsets; return whether none is left."""
        for topic_name, partitions in list(self._store.of_group(group.group_id).items()):
            if group.is_subscribed_to(topic_name):
                continue
            for partition, committed in list(partitions.items()):
                base_ms = _retention_base_ms(group, committed)
                if base_ms is not None and committed.is_expired(
                    now_ms, base_ms=base_ms, retention_ms=self._settings.offsets_retention_ms
                ):
                    self._store.remove(group.group_id, topic_name, partition)
        return not self._store.of_group(group.group_id)


def _retention_base_ms(group: ClassicGroup, committed: CommittedOffset) -> int | None:
    """Return from when on the retention of an offset counts; None while it does not expire.

    Offsets of a group that had members count from when the last one left; those of one that never had any, and topics
    that a stable group of consumers has given up, from their commit.
    """
    if group.protocol_type is None:
        return committed.commit_timestamp_ms
    if group.is_empty:
        return group.state_changed_ms
    if group.state is GroupState.STABLE and group.subscribed_topics is not None:
        return committed.commit_timestamp_ms
    return None


def _check_generation_of_new_group(request: OffsetCommitRequest, api_version: int) -> None:
    if request.generation_id_or_member_epoch >= 0:
        is_known = api_version >= GROUP_ID_NOT_FOUND_SINCE
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND if is_known else ErrorCode.ILLEGAL_GENERATION,
            f"Group {request.group_id} not found.",
        )


def _check_commit(group: ClassicGroup, request: OffsetCommitRequest) -> None:
    generation_id = request.generation_id_or_member_epoch
    if generation_id < 0 and group.is_empty:
        return
    if generation_id < 0 and not request.member_id and request.group_instance_id is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {group.group_id} has members, so only they may commit")
    group.check_member(request.member_id, request.group_instance_id)
    group.check_generation(generation_id)
    if group.state is GroupState.COMPLETING_REBALANCE:
        raise KafkaError(
            ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.group_id} has not assigned generation {generation_id} yet"
        )
