"""One ShareFetch that can be tried now and, while it waits for records, again.

Source: SharePartitionManager.fetchMessages and DelayedShareFetch, Kafka 4.3.0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ...runtime.deferred import Deferred
from .acknowledgements import find_partition
from .share_partition import Wanted
from .share_reader import AcquiredBatches, acquire_records
from .share_sessions import PartitionKey

if TYPE_CHECKING:
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from .share_groups import ShareGroups
    from .share_partition import SharePartition

# What was acquired of a partition, or why nothing can be.
Fetched = dict[PartitionKey, "AcquiredBatches | KafkaError"]


@dataclass(frozen=True, slots=True)
class ShareFetchLimits:
    """What a member wants at most, of all partitions together."""

    max_bytes: int
    records_max: int
    batch_size: int
    is_strict: bool


class ShareFetching:
    """The partitions that a member fetches from."""

    def __init__(
        self,
        replicas: ReplicaManager,
        groups: ShareGroups,
        member: tuple[str, str],
        keys: Sequence[PartitionKey],
        limits: ShareFetchLimits,
    ) -> None:
        """member: group and member id."""
        self._replicas = replicas
        self._groups = groups
        self._group_id, self._member_id = member
        self._keys = keys
        self._limits = limits

    def fetch(self) -> Fetched:
        """Acquire what there is, in the order of the partitions."""
        fetched: Fetched = {}
        records_left, bytes_left = self._limits.records_max, self._limits.max_bytes
        for key in self._keys:
            if records_left <= 0:
                break
            try:
                got = self._fetch_partition(key, records_left, bytes_left)
            except KafkaError as error:
                fetched[key] = error
            except OSError as error:
                fetched[key] = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            else:
                fetched[key] = got
                records_left -= sum(each.last_offset - each.first_offset + 1 for each in got.acquired)
                bytes_left -= len(got.records)
        return fetched

    def _fetch_partition(self, key: PartitionKey, records_left: int, bytes_left: int) -> AcquiredBatches:
        if not self._group_id:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "the group has no name")
        partition = find_partition(self._replicas, key)
        limits = self._limits
        return acquire_records(
            partition.log,
            self._groups.partition_of(self._group_id, partition),
            self._member_id,
            Wanted(records_left, limits.batch_size, limits.is_strict),
            max_bytes=max(0, bytes_left),
            is_committed_only=self._groups.settings.is_committed_only(self._group_id),
        )

    def waited_for(self) -> list[tuple[Partition, SharePartition]]:
        """Return the partitions that may still have records for the member."""
        found: list[tuple[Partition, SharePartition]] = []
        for key in self._keys:
            try:
                partition = find_partition(self._replicas, key)
                found.append((partition, self._groups.partition_of(self._group_id, partition)))
            except (KafkaError, OSError):
                continue
        return found


def is_enough(fetched: Fetched) -> bool:
    """Return whether anything was acquired, or can never be."""
    return any(isinstance(each, KafkaError) or each.acquired for each in fetched.values())


class DelayedShareFetch:
    """A ShareFetch that waits until there is a record, a partition answers an error, or its time is up.

    The wait is a client's long poll and runs on real time, whatever the cluster's clock says.
    """

    __slots__ = ("_fetching", "_timer", "_waited_for", "answer")

    def __init__(self, fetching: ShareFetching, max_wait_ms: int) -> None:
        """Begin to wait; `answer` is completed with what was acquired then."""
        self.answer: Deferred[Fetched] = Deferred(self._leave)
        self._fetching = fetching
        self._waited_for = fetching.waited_for()
        for partition, share_partition in self._waited_for:
            partition.wait(self, self._try_complete)
            share_partition.wait(self, self._try_complete)
        self._timer = asyncio.get_running_loop().call_later(max_wait_ms / 1000, self._expire)

    def _try_complete(self) -> None:
        fetched = self._fetching.fetch()
        if is_enough(fetched) or any(partition.is_deleted for partition, _ in self._waited_for):
            self._complete(fetched)

    def _expire(self) -> None:
        self._complete(self._fetching.fetch())

    def _complete(self, fetched: Fetched) -> None:
        self._leave()
        self.answer.complete(fetched)

    def _leave(self) -> None:
        self._timer.cancel()
        for partition, share_partition in self._waited_for:
            partition.leave(self)
            share_partition.leave(self)
