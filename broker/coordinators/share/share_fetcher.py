"""Acquires the records of one ShareFetch, at once or when records become available.

Source: SharePartitionManager.fetchMessages and DelayedShareFetch, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from .acknowledgements import partition_of
from .share_partition import AcquireLimits
from .share_reader import AcquiredBatches, acquire_records
from .share_sessions import PartitionKey

if TYPE_CHECKING:
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from .share_groups import ShareGroups
    from .share_partition import SharePartition

# The acquired records of each partition, or its error.
Fetched = dict[PartitionKey, "AcquiredBatches | KafkaError"]


@dataclass(frozen=True, slots=True)
class ShareFetchLimits:
    """The limits of one ShareFetch over all partitions. See AcquireLimits for batch_size and is_strict."""

    max_bytes: int
    records_max: int
    batch_size: int
    is_strict: bool


class ShareFetcher:
    """Acquires records from the partitions of a member. It can be repeated until there are records."""

    def __init__(
        self,
        replicas: ReplicaManager,
        groups: ShareGroups,
        member: tuple[str, str],
        keys: Sequence[PartitionKey],
        limits: ShareFetchLimits,
    ) -> None:
        """member: group id and member id."""
        self._replicas = replicas
        self._groups = groups
        self._group_id, self._member_id = member
        self._keys = keys
        self._limits = limits

    def fetch(self) -> Fetched:
        """Acquire records within the limits, in the order of the partitions."""
        fetched: Fetched = {}
        records_left, bytes_left = self._limits.records_max, self._limits.max_bytes
        for key in self._keys:
            if records_left <= 0:
                break
            try:
                batches = self._fetch_partition(key, records_left, bytes_left)
            except KafkaError as error:
                fetched[key] = error
            except OSError as error:
                fetched[key] = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            else:
                fetched[key] = batches
                records_left -= sum(each.record_count for each in batches.acquired)
                bytes_left -= len(batches.records)
        return fetched

    def _fetch_partition(self, key: PartitionKey, records_left: int, bytes_left: int) -> AcquiredBatches:
        if not self._group_id:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "the group has no name")
        partition = partition_of(self._replicas, key)
        limits = self._limits
        return acquire_records(
            partition.log,
            self._groups.partition_of(self._group_id, partition),
            self._member_id,
            AcquireLimits(records_left, limits.batch_size, limits.is_strict),
            max_bytes=max(0, bytes_left),
            is_committed_only=self._groups.settings.is_committed_only(self._group_id),
        )

    def waited_partitions(self) -> list[tuple[Partition, SharePartition]]:
        """Return the partitions that exist and can be read."""
        found: list[tuple[Partition, SharePartition]] = []
        for key in self._keys:
            try:
                partition = partition_of(self._replicas, key)
                found.append((partition, self._groups.partition_of(self._group_id, partition)))
            except (KafkaError, OSError):
                continue
        return found


def is_complete(fetched: Fetched) -> bool:
    """Return whether a partition has acquired records or an error."""
    return any(isinstance(each, KafkaError) or each.acquired for each in fetched.values())
