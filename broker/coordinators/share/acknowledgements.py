"""The acknowledgements in ShareFetch and ShareAcknowledge: validates them and applies them to the partitions.

Source: KafkaApis.validateAcknowledgementBatches and SharePartitionManager.acknowledge, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from .share_partition import GAP, REJECT, RENEW, Acknowledgement
from .share_sessions import PartitionKey

if TYPE_CHECKING:
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from .share_partitions import SharePartitions

# The error of each partition's acknowledgements, or None.
AcknowledgeErrors = dict[PartitionKey, "KafkaError | None"]


class AcknowledgedBatch(Protocol):
    """A range of records with their acknowledge types."""

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


def partition_of(replicas: ReplicaManager, key: PartitionKey) -> Partition:
    """Return the partition, which this node leads.

    Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER.
    """
    partition = replicas.find_partition(*key)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    partition.check_leader()
    return partition


def acknowledge(
    replicas: ReplicaManager,
    partitions: SharePartitions,
    member: tuple[str, str],
    acknowledged: Mapping[PartitionKey, Sequence[AcknowledgedBatch]],
    *,
    may_renew: bool,
) -> AcknowledgeErrors:
    """Apply the acknowledgements of a member, and return the error of each partition, or None.

    member: group id and member id. may_renew: whether the request may renew locks.
    """
    errors: AcknowledgeErrors = {}
    group_id, member_id = member
    for key, batches in acknowledged.items():
        errors[key] = None
        try:
            acknowledgements = _validate(batches, may_renew=may_renew)
            partition = _led_partition_of(replicas, key)
            partitions.partition_of(group_id, partition).acknowledge(member_id, acknowledgements)
        except KafkaError as error:
            errors[key] = error
        except OSError as error:
            errors[key] = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
    return errors


def _led_partition_of(replicas: ReplicaManager, key: PartitionKey) -> Partition:
    """Return the partition. A node has only the share partitions that it leads: others are unknown to it."""
    try:
        return partition_of(replicas, key)
    except KafkaError as error:
        if error.code is not ErrorCode.NOT_LEADER_OR_FOLLOWER:
            raise
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        raise KafkaError(code, ERROR_MESSAGES[code]) from error


def _validate(batches: Sequence[AcknowledgedBatch], *, may_renew: bool) -> list[Acknowledgement]:
    """Return the batches. Each must have one type in all or one for each record, and none may overlap.

    Raises KafkaError INVALID_REQUEST.
    """
    allowed = range(GAP, (RENEW if may_renew else REJECT) + 1)
    validated: list[Acknowledgement] = []
    end_offset = -1
    for each in batches:
        count = each.last_offset - each.first_offset + 1
        has_types = len(each.acknowledge_types) in (1, count)
        is_allowed = all(acknowledge_type in allowed for acknowledge_type in each.acknowledge_types)
        if count < 1 or each.first_offset <= end_offset or not has_types or not is_allowed:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        end_offset = each.last_offset
        validated.append((each.first_offset, each.last_offset, each.acknowledge_types))
    return validated
