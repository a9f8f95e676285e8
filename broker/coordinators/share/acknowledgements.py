"""What a request of a member acknowledges: checked, and handed to the partitions.

Source: KafkaApis.validateAcknowledgementBatches and SharePartitionManager.acknowledge, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ....protocol.error_codes import ErrorCode, KafkaError
from .share_partition import GAP, REJECT, RENEW, Acknowledgement
from .share_sessions import PartitionKey

if TYPE_CHECKING:
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from .share_groups import ShareGroups

# Why a partition's acknowledgements were refused; None where they were taken.
Refusals = dict[PartitionKey, "KafkaError | None"]


class AcknowledgedBatch(Protocol):
    """A range of records with their types, as ShareFetch and ShareAcknowledge have them."""

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


def find_partition(replicas: ReplicaManager, key: PartitionKey) -> Partition:
    """Return the partition; raises KafkaError UNKNOWN_TOPIC_OR_PARTITION."""
    partition = replicas.find_partition(*key)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return partition


def acknowledge(
    replicas: ReplicaManager,
    groups: ShareGroups,
    member: tuple[str, str],
    acknowledged: Mapping[PartitionKey, Sequence[AcknowledgedBatch]],
    *,
    may_renew: bool,
) -> Refusals:
    """Take what a member, of a group, says of records, partition by partition; return what became of each.

    may_renew: whether locks may be renewed by the request.
    """
    refusals: Refusals = {}
    group_id, member_id = member
    for key, batches in acknowledged.items():
        refusals[key] = None
        try:
            checked = _checked(batches, may_renew=may_renew)
            partition = find_partition(replicas, key)
            groups.partition_of(group_id, partition).acknowledge(member_id, checked)
        except KafkaError as error:
            refusals[key] = error
        except OSError as error:
            refusals[key] = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
    return refusals


def _checked(batches: Sequence[AcknowledgedBatch], *, may_renew: bool) -> list[Acknowledgement]:
    """Return the batches, which do not overlap, with one type each or one for every record; raises INVALID_REQUEST."""
    allowed = range(GAP, (RENEW if may_renew else REJECT) + 1)
    checked: list[Acknowledgement] = []
    end_offset = -1
    for each in batches:
        count = each.last_offset - each.first_offset + 1
        is_countable = len(each.acknowledge_types) in (1, count)
        are_known = all(acknowledge_type in allowed for acknowledge_type in each.acknowledge_types)
        if count < 1 or each.first_offset <= end_offset or not is_countable or not are_known:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        end_offset = each.last_offset
        checked.append((each.first_offset, each.last_offset, each.acknowledge_types))
    return checked
