"""A member of a group of the consumer protocol, and the checks of the offsets that it commits or fetches.

Members are immutable; each change creates a new one. A member may commit a partition with an older member epoch if the
partition was already assigned to it in that epoch. The commit may have been in flight while the member's epoch went up.
Source: ConsumerGroupMember, MemberState, ConsumerGroup.validateOffsetCommit, createAssignmentEpochValidator and
validateOffsetFetch, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_values import (
    NO_PARTITION_EPOCHS,
    ClassicMember,
    CurrentAssignment,
    MemberMetadata,
    PartitionEpochs,
    Partitions,
)
from ..group.group import CheckOffset, OffsetCommitter, accept_any_offset
from ..group.member_group import JOIN_EPOCH, LEAVE_EPOCH, UNKNOWN_STATE, NumberedState

# The subscription of a member without a regular expression.
NO_REGEX = ""


class MemberState(NumberedState):
    """The states of a member, by their numbers in the log."""

    STABLE = 0
    # The member must revoke partitions before it gets its next epoch.
    UNREVOKED_PARTITIONS = 1
    # The member waits for partitions that other members have not revoked yet.
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = UNKNOWN_STATE


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """One member.

    assigned: the partitions that it may consume. pending_revocation: the partitions that it must revoke.
    client_host: as Java prints it, for example "/127.0.0.1". subscribed_topic_regex: NO_REGEX or None for none.
    classic: only for a member of the classic protocol.
    """

    member_id: str
    member_epoch: int = JOIN_EPOCH
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str | None = NO_REGEX
    server_assignor: str | None = None
    assigned: PartitionEpochs = field(default_factory=lambda: NO_PARTITION_EPOCHS)
    pending_revocation: PartitionEpochs = field(default_factory=lambda: NO_PARTITION_EPOCHS)
    classic: ClassicMember | None = None

    @property
    def uses_classic_protocol(self) -> bool:
        """Whether the member joins with JoinGroup."""
        return self.classic is not None

    @property
    def regex(self) -> str | None:
        """The regular expression of the subscription, or None."""
        return self.subscribed_topic_regex or None

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Whether the member has its target assignment of an epoch."""
        return self.state is MemberState.STABLE and self.member_epoch == assignment_epoch

    def with_state(
        self,
        state: MemberState,
        member_epoch: int,
        assigned: PartitionEpochs,
        pending_revocation: PartitionEpochs = NO_PARTITION_EPOCHS,
    ) -> Self:
        """Return the member with another state, epoch and assignment."""
        return replace(
            self,
            state=state,
            member_epoch=member_epoch,
            previous_member_epoch=self.member_epoch,
            assigned=assigned,
            pending_revocation=pending_revocation,
        )

    def with_metadata(self, metadata: MemberMetadata) -> Self:
        """Return the member with the fields of its metadata record."""
        return replace(
            self,
            instance_id=metadata.instance_id,
            rack_id=metadata.rack_id,
            client_id=metadata.client_id,
            client_host=metadata.client_host,
            subscribed_topic_names=frozenset(metadata.subscribed_topic_names),
            subscribed_topic_regex=metadata.subscribed_topic_regex,
            rebalance_timeout_ms=metadata.rebalance_timeout_ms,
            server_assignor=metadata.server_assignor,
            classic=metadata.classic,
        )

    def with_assignment(self, current: CurrentAssignment) -> Self:
        """Return the member with the fields of its assignment record."""
        return replace(
            self,
            member_epoch=current.member_epoch,
            previous_member_epoch=current.previous_member_epoch,
            state=MemberState.of(current.state),
            assigned=current.assigned,
            pending_revocation=current.pending_revocation,
        )

    def without_assignment(self) -> Self:
        """Return the member after the tombstone of its assignment."""
        return replace(
            self,
            member_epoch=LEAVE_EPOCH,
            previous_member_epoch=LEAVE_EPOCH,
            assigned=NO_PARTITION_EPOCHS,
            pending_revocation=NO_PARTITION_EPOCHS,
        )


def with_epoch(partitions: Partitions, epoch: int) -> PartitionEpochs:
    """Return the partitions, all assigned in one epoch."""
    return {topic_id: dict.fromkeys(sorted(of_topic), epoch) for topic_id, of_topic in partitions.items()}


def without_epochs(partitions: PartitionEpochs) -> Partitions:
    """Return the partitions without their epochs."""
    return {topic_id: frozenset(of_topic) for topic_id, of_topic in partitions.items()}


def merged(first: PartitionEpochs, second: PartitionEpochs) -> PartitionEpochs:
    """Return the union of the partitions. For a partition of both, the epoch is the second's."""
    result: dict[bytes, Mapping[int, int]] = dict(first)
    for topic_id, of_topic in second.items():
        result[topic_id] = {**result.get(topic_id, {}), **of_topic}
    return result


def is_anonymous_transaction(committer: OffsetCommitter) -> bool:
    """Whether a transactional producer commits without group metadata, as clients before KIP-447 do."""
    return (
        committer.is_transactional
        and committer.generation_id == LEAVE_EPOCH
        and not committer.member_id
        and committer.group_instance_id is None
    )


def check_offset_commit(member: ConsumerMember, committer: OffsetCommitter) -> CheckOffset:
    """Check the member's epoch, and return the check of each offset.

    Raises KafkaError: UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH (ILLEGAL_GENERATION for a classic member, and in a
    transaction before TxnOffsetCommit v6).
    """
    epoch = committer.generation_id
    needs_member_epoch = not committer.is_transactional and not member.uses_classic_protocol
    if needs_member_epoch and not committer.has_member_errors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "OffsetCommit version 9 or above must be used by members using the consumer group protocol",
        )
    if epoch == member.member_epoch:
        return accept_any_offset
    code = _stale_code(member)
    if epoch > member.member_epoch:
        word = "generation id" if member.uses_classic_protocol else "member epoch"
        raise KafkaError(code, f"Received {word} {epoch} is newer than current member epoch {member.member_epoch}.")
    return _epoch_check(member, epoch, code)


def check_offset_fetch(member: ConsumerMember, member_epoch: int) -> None:
    """Check the epoch of an OffsetFetch.

    Raises KafkaError STALE_MEMBER_EPOCH (ILLEGAL_GENERATION for a classic member).
    """
    if member_epoch != member.member_epoch:
        word = "generation id" if member.uses_classic_protocol else "member epoch"
        raise KafkaError(
            _stale_code(member),
            f"The received {word} {member_epoch} does not match the expected member epoch {member.member_epoch}.",
        )


def _stale_code(member: ConsumerMember) -> ErrorCode:
    return ErrorCode.ILLEGAL_GENERATION if member.uses_classic_protocol else ErrorCode.STALE_MEMBER_EPOCH


def _epoch_check(member: ConsumerMember, epoch: int, code: ErrorCode) -> CheckOffset:
    def check(topic_name: str, topic_id: bytes, partition: int) -> None:
        assigned_epoch = member.assigned.get(topic_id, {}).get(partition)
        if assigned_epoch is None:
            assigned_epoch = member.pending_revocation.get(topic_id, {}).get(partition)
        if assigned_epoch is None:
            raise KafkaError(
                code, f"Partition {topic_name}-{partition} is not assigned or pending revocation for member."
            )
        if epoch < assigned_epoch:
            raise KafkaError(
                code,
                f"Received member epoch {epoch} is older than assignment epoch {assigned_epoch} for partition "
                f"{topic_name}-{partition}.",
            )

    return check
