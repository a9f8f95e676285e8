"""Checks of the member that commits or fetches the offsets of a group of the consumer protocol.

A member may commit a partition with an older member epoch if the partition was already assigned to it in that epoch.
The commit may have been in flight while the member's epoch went up.
Source: ConsumerGroup.validateOffsetCommit, createAssignmentEpochValidator and validateOffsetFetch, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ..group.group import CheckOffset, OffsetCommitter, accept_any_offset
from .member import LEAVE_EPOCH, ConsumerMember

# The first version of OffsetCommit that supports member epochs.
MEMBER_EPOCH_SINCE = 9


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
    transaction).
    """
    epoch = committer.generation_id
    needs_member_epoch = not committer.is_transactional and not member.uses_classic_protocol
    if needs_member_epoch and committer.api_version < MEMBER_EPOCH_SINCE:
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
