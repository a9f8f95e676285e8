"""Acquires the records of one ShareFetch, at once or when records become available.

- The state of a partition that the group has not used since the start of the broker is read first. Kafka reads the
  states of several partitions side by side, and responds with the first partition that is ready and has enough
  records. So the fetcher makes them ready one by one, and a fetch that must not wait gets none of them.
- Only `fetch` acquires. `has_enough` reads, so that a fetch that waits for min_bytes locks nothing.
- The partitions share max_bytes equally. The first batch of all is returned even if it is larger.
Source: SharePartitionManager.fetchMessages, DelayedShareFetch and PartitionMaxBytesStrategy, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ....protocol.error_codes import ErrorCode, KafkaError
from .acknowledgements import partition_of
from .share_partition import AcquireLimits
from .share_reader import AcquiredBatches, acquire_records, available_bytes
from .share_sessions import PartitionKey

if TYPE_CHECKING:
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from .share_partition import SharePartition
    from .share_partitions import SharePartitions

# How many new partitions can become ready one after the other. Each of them costs a check of all others, and of many
# partitions several are ready together in Kafka too.
ONE_BY_ONE_MAX = 16

# The acquired records of each partition, or its error.
Fetched = dict[PartitionKey, "AcquiredBatches | KafkaError"]


@dataclass(frozen=True, slots=True)
class ShareFetchLimits:
    """The limits of one ShareFetch over all partitions. See AcquireLimits for batch_size and is_strict."""

    min_bytes: int
    max_bytes: int
    records_max: int
    batch_size: int
    is_strict: bool


class _Source(NamedTuple):
    """A partition that the member fetches from."""

    partition: Partition
    share_partition: SharePartition

    @property
    def can_acquire(self) -> bool:
        """Whether not all records are locked."""
        return self.share_partition.can_acquire


class ShareFetcher:
    """Acquires records from the partitions of a member, when there are enough or at the end of the wait."""

    def __init__(
        self,
        replicas: ReplicaManager,
        partitions: SharePartitions,
        member: tuple[str, str],
        keys: Sequence[PartitionKey],
        limits: ShareFetchLimits,
    ) -> None:
        """member: group id and member id. keys: in the order of the fetch."""
        self._replicas = replicas
        self._partitions = partitions
        self._group_id, self._member_id = member
        self._keys = keys
        self._limits = limits
        self._new = dict.fromkeys(key for key in keys if self._is_new(key))

    def _is_new(self, key: PartitionKey) -> bool:
        partition = self._replicas.find_partition(*key)
        if not self._group_id or partition is None or not partition.is_leader:
            return False
        return not self._partitions.has_partition(self._group_id, partition)

    def initialize_until_enough(self) -> bool:
        """Make new partitions ready, one by one, until has_enough. Return has_enough.

        Of many new partitions, those after the first ONE_BY_ONE_MAX are made ready together.
        """
        for key in list(self._new)[:ONE_BY_ONE_MAX]:
            if self.has_enough():
                return True
            self._initialize(key)
        self.initialize_all()
        return self.has_enough()

    def initialize_all(self) -> None:
        """Make all new partitions ready."""
        for key in list(self._new):
            self._initialize(key)

    def _initialize(self, key: PartitionKey) -> None:
        del self._new[key]
        self._find(key)

    def has_enough(self) -> bool:
        """Return whether min_bytes can be acquired, or every partition has an error.

        Source: DelayedShareFetch.tryComplete and isMinBytesSatisfied, Kafka 4.3.0.
        """
        found = [self._find(key) for key in self._ready_keys()]
        if len(found) == len(self._keys) and all(isinstance(each, KafkaError) for each in found):
            return True
        sources = [each for each in found if isinstance(each, _Source) and each.can_acquire]
        if not sources:
            return False
        max_bytes = max(1, self._limits.max_bytes // len(sources))
        is_committed_only = self._partitions.settings.is_committed_only(self._group_id)
        try:
            available = sum(
                available_bytes(
                    each.partition.log, each.share_partition, max_bytes, is_committed_only=is_committed_only
                )
                for each in sources
            )
        except (KafkaError, OSError):
            # The fetch finds it again, and returns it.
            return True
        return available >= min(self._limits.min_bytes, self._limits.max_bytes)

    def fetch(self) -> Fetched:
        """Acquire records within the limits, in the order of the partitions that are ready.

        A partition whose records are all locked is left out.
        """
        found = {key: self._find(key) for key in self._ready_keys()}
        wanted = {key: each for key, each in found.items() if isinstance(each, KafkaError) or each.can_acquire}
        source_count = sum(isinstance(each, _Source) for each in wanted.values())
        fetched: Fetched = {}
        records_left, has_records = self._limits.records_max, False
        for key, source in wanted.items():
            if isinstance(source, KafkaError):
                fetched[key] = source
                continue
            try:
                max_bytes = self._limits.max_bytes // source_count
                batches = self._acquire(source, records_left, max_bytes, min_one_batch=not has_records)
            except KafkaError as error:
                fetched[key] = error
            except OSError as error:
                fetched[key] = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            else:
                fetched[key] = batches
                records_left -= sum(each.record_count for each in batches.acquired)
                has_records |= bool(batches.acquired)
        return fetched

    def _acquire(self, source: _Source, records_left: int, max_bytes: int, *, min_one_batch: bool) -> AcquiredBatches:
        if records_left <= 0:
            return AcquiredBatches()
        limits = self._limits
        return acquire_records(
            source.partition.log,
            source.share_partition,
            self._member_id,
            AcquireLimits(records_left, limits.batch_size, limits.is_strict),
            max_bytes=max_bytes,
            min_one_batch=min_one_batch,
            is_committed_only=self._partitions.settings.is_committed_only(self._group_id),
        )

    def _ready_keys(self) -> list[PartitionKey]:
        return [key for key in self._keys if key not in self._new]

    def _find(self, key: PartitionKey) -> _Source | KafkaError:
        """Return the partition, or the error that the response has for it."""
        if not self._group_id:
            return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "the group has no name")
        try:
            partition = partition_of(self._replicas, key)
            return _Source(partition, self._partitions.partition_of(self._group_id, partition))
        except KafkaError as error:
            return error
        except OSError as error:
            return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))

    def waited_partitions(self) -> list[_Source]:
        """Return the partitions that exist and can be read."""
        return [source for key in self._keys if isinstance(source := self._find(key), _Source)]
