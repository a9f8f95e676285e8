"""Who may commit and fetch the offsets of a group of the consumer protocol.

A member may commit in an older epoch what it has been assigned in that epoch or before: a commit that is under way
while the member's epoch goes up is none of a zombie.
Source: ConsumerGroup.validateOffsetCommit, createAssignmentEpochValidator and validateOffsetFetch, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ..group.group import CheckOffset, OffsetCommitter, accept_any_offset
from .member import LEAVE_EPOCH

if TYPE_CHECKING:
    from .group import ConsumerGroup
    from .member import ConsumerMember

# From this version of OffsetCommit on, clients know that there are member epochs.
MEMBER_EPOCH_SINCE = 9


def check_offset_commit(group: ConsumerGroup, committer: OffsetCommitter) -> CheckOffset:
    """Check who commits, and return what each offset has to pass.

    Raises KafkaError: UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH (ILLEGAL_GENERATION for a classic
    member, and in a transaction).
    """
    epoch = committer.generation_id
    if (epoch < 0 and not group.members) or _is_anonymous_transaction(committer):
        return accept_any_offset
    member = group.member_of(committer.member_id)
    is_told_by_epochs = not committer.is_transactional and not member.uses_classic_protocol
    if is_told_by_epochs and committer.api_version < MEMBER_EPOCH_SINCE:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "OffsetCommit version 9 or above must be used by members using the consumer group protocol",
        )
    if epoch == member.member_epoch:
        return accept_any_offset
    code = _stale_code(member, is_transactional=committer.is_transactional)
    if epoch > member.member_epoch:
        word = "generation id" if member.uses_classic_protocol else "member epoch"
        raise KafkaError(code, f"Received {word} {epoch} is newer than current member epoch {member.member_epoch}.")
    return _epoch_check(member, epoch, code)


def check_offset_fetch(group: ConsumerGroup, member_id: str | None, member_epoch: int) -> None:
    """Check who asks for offsets; anybody may who names no member.

    Raises KafkaError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH (ILLEGAL_GENERATION for a classic member), and
    UNKNOWN_SERVER_ERROR for an epoch without a member.
    """
    if member_id is None and member_epoch < 0:
        return
    if member_id is None:
        # Kafka looks for it all the same, and fails.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"an epoch of no member of group {group.group_id}")
    member = group.member_of(member_id)
    if member_epoch != member.member_epoch:
        word = "generation id" if member.uses_classic_protocol else "member epoch"
        raise KafkaError(
            _stale_code(member),
            f"The received {word} {member_epoch} does not match the expected member epoch {member.member_epoch}.",
        )


def _is_anonymous_transaction(committer: OffsetCommitter) -> bool:
    """Whether a transactional producer commits that tells no group metadata, as those before KIP-447."""
    return (
        committer.is_transactional
        and committer.generation_id == LEAVE_EPOCH
        and not committer.member_id
        and committer.group_instance_id is None
    )


def _stale_code(member: ConsumerMember, *, is_transactional: bool = False) -> ErrorCode:
    is_classic = member.uses_classic_protocol or is_transactional
    return ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH


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
