"""Lets the replicas of all nodes fetch from their leaders (Kafka: ReplicaFetcherManager and AbstractFetcherThread).

All nodes are in one process, so that a fetch is a call. A replica begins to fetch in three steps:
1. It finds where its log and the leader's diverge, by the leader epochs of both, and truncates its own there.
2. It copies what it lacks, up to COPY_BYTES_MAX in a turn of the event loop.
3. The leader notes that it has caught up. From then on it gets each batch with the leader's append.
A replica stops to fetch when it is paused, when its node or the leader's is dead or cut off, and when either has
another leader epoch.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...protocol.batches.record_batch import parse_header
from ...protocol.batches.whole_batches import split_batches
from ...protocol.error_codes import KafkaError
from ...storage.leader_epoch_cache import NO_LEADER_EPOCH
from .replication import Follower, Replica, Replication

if TYPE_CHECKING:
    from ...storage.partition_log import PartitionLog
    from ..runtime.clock import Clock
    from .partition import Partition
    from .replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

# One read of a copy, and what is copied before other work has its turn.
COPY_READ_BYTES = 1024 * 1024
COPY_BYTES_MAX = 8 * COPY_READ_BYTES
# When a replica whose files failed, or are being cleaned, tries again (replica.fetch.backoff.ms).
RETRY_MS = 1000

# A replica: the id of its node, the topic id and the index of the partition.
ReplicaKey = tuple[int, bytes, int]


class ReplicaFetchers:
    """The fetches between the nodes of a cluster."""

    def __init__(
        self,
        managers: Mapping[int, ReplicaManager],
        can_reach: Callable[[int, int], bool],
        paused: Collection[ReplicaKey],
        clock: Clock,
    ) -> None:
        """managers: the replica managers of the nodes that run, by node id; it changes with them.

        can_reach: whether the node of the first id can fetch from the second. paused: the replicas that fetch nothing;
        it changes with pauses.
        """
        self._managers = managers
        self._can_reach = can_reach
        self._paused = paused
        self._clock = clock
        # The partitions with a follower that tries again, by topic id and index.
        self._retried: set[tuple[bytes, int]] = set()

    def update_all(self) -> None:
        """Begin and end fetches as the state of the nodes now is."""
        for manager in self._managers.values():
            for partition in manager.partitions():
                if partition.replication is not None:
                    self._update_leader(manager.node_id, partition, partition.replication)

    def update(self, topic_id: bytes, index: int) -> None:
        """Begin and end the fetches of one partition."""
        for manager in self._managers.values():
            partition = manager.find_partition(topic_id, index)
            if partition is not None and partition.replication is not None:
                self._update_leader(manager.node_id, partition, partition.replication)

    def _update_leader(self, leader_id: int, leader: Partition, replication: Replication) -> None:
        for follower in list(replication.followers.values()):
            if leader.replication is not replication:
                # A follower that caught up has ended a reassignment, and with it this epoch.
                return
            partition = self._find_fetching(leader_id, leader, follower.node_id)
            if partition is None:
                replication.stop_fetching(follower)
            elif follower.partition is not partition or not follower.is_fetching:
                follower.partition = partition
                self._begin(leader, replication, follower, partition)
        replication.expand_isr()

    def _find_fetching(self, leader_id: int, leader: Partition, node_id: int) -> Partition | None:
        """Return the partition on a follower's node, or None if it cannot fetch from the leader."""
        manager = self._managers.get(node_id)
        partition = None if manager is None else manager.find_partition(leader.topic_id, leader.index)
        # A node that is cut off from the controller may not know of its replica yet.
        if partition is None or not partition.has_replica:
            return None
        if (node_id, leader.topic_id, leader.index) in self._paused or not self._can_reach(node_id, leader_id):
            return None
        is_same_epoch = partition.leader_id == leader_id and partition.leader_epoch == leader.leader_epoch
        return partition if is_same_epoch else None

    def _begin(self, leader: Partition, replication: Replication, follower: Follower, partition: Partition) -> None:
        """Truncate the follower's log to what the leader has, then copy. partition: on the follower's node."""
        manager = self._managers[follower.node_id]
        if leader.find_log() is None and partition.find_log() is None:
            # In memory a log is created at its first use.
            replication.has_caught_up(follower, partition)
            return
        try:
            if partition.log.is_being_cleaned:
                self.retry_later(leader)
                return
            self._truncate(manager, leader.log, partition)
        except (KafkaError, OSError) as error:
            partition.storage_failed("append", error)
            self.retry_later(leader)
            return
        self._copy(leader, replication, follower, partition)

    def _truncate(self, manager: ReplicaManager, leader_log: PartitionLog, partition: Partition) -> None:
        log = partition.log
        if log.log_end_offset < leader_log.log_start_offset:
            manager.restart_log(partition, _first_batch_offset(leader_log))
            partition.log.follow_log_start(leader_log.log_start_offset)
            return
        # Without a common epoch, the follower keeps what was committed. A leader of an unclean election may lack it
        # (Kafka: AbstractFetcherThread.fetchOffsetAndTruncate).
        offset = min(_divergence(log, leader_log), leader_log.log_end_offset)
        if offset < log.log_end_offset:
            logger.info(
                "node %d: %s is truncated from offset %d to %d",
                *(manager.node_id, log.topic_partition, log.log_end_offset, offset),
            )
            manager.truncate_log(partition, offset)

    def _copy(self, leader: Partition, replication: Replication, follower: Follower, partition: Partition) -> None:
        """Copy the batches that the follower lacks, and continue in the next turn if there are many."""
        is_current = leader.replication is replication and follower.partition is partition
        if not is_current or self._find_fetching(leader.leader_id, leader, follower.node_id) is not partition:
            return
        left = COPY_BYTES_MAX
        log, leader_log = partition.log, leader.log
        now_ms = self._clock.now_ms()
        while log.log_end_offset < leader_log.log_end_offset:
            if left <= 0:
                asyncio.get_running_loop().call_soon(partial(self._copy, leader, replication, follower, partition))
                return
            fetched = leader_log.read(
                max(log.log_end_offset, leader_log.log_start_offset),
                COPY_READ_BYTES,
                upper_offset=leader_log.log_end_offset,
                min_one_batch=True,
            )
            if not fetched.size:
                # Compaction has removed the rest.
                break
            left -= fetched.size
            for batch in split_batches(memoryview(b"".join(fetched.views))):
                if not partition.append_fetched(batch.data, now_ms, leader_log):
                    self.retry_later(leader)
                    return
        replication.has_caught_up(follower, partition)

    def retry_later(self, leader: Replica) -> None:
        """Have the followers of a partition that cannot fetch try again after RETRY_MS."""
        key = leader.topic_id, leader.index
        if key not in self._retried:
            self._retried.add(key)
            self._clock.call_later(RETRY_MS, partial(self._retry, *key))

    def _retry(self, topic_id: bytes, index: int) -> None:
        self._retried.discard((topic_id, index))
        self.update(topic_id, index)


def _first_batch_offset(log: PartitionLog) -> int:
    """Return the base offset of the batch with the log start, which may be within it after DeleteRecords."""
    start = log.log_start_offset
    fetched = log.read(start, 1, upper_offset=log.log_end_offset, min_one_batch=True)
    return parse_header(fetched.views[0]).base_offset if fetched.size else start


def _divergence(log: PartitionLog, leader_log: PartitionLog) -> int:
    """Return the offset up to which a follower's log equals its leader's.

    Source: AbstractFetcherThread.getOffsetTruncationState, Kafka 4.3.0.
    """
    end_offset, epoch = log.log_end_offset, log.leader_epochs.latest_epoch
    while epoch != NO_LEADER_EPOCH:
        known = leader_log.end_offset_for_epoch(epoch)
        if known.leader_epoch == NO_LEADER_EPOCH:
            return min(log.high_watermark, end_offset)
        own = log.leader_epochs.end_offset_for(known.leader_epoch, end_offset)
        if own.leader_epoch == known.leader_epoch:
            return min(own.end_offset, known.end_offset, end_offset)
        # The follower does not have that epoch: it asks again for the one before.
        end_offset, epoch = min(own.end_offset, end_offset), own.leader_epoch
    return log.high_watermark
