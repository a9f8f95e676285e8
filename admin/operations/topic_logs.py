"""Reads the logs of a topic batch by batch, and what hangs in them, for the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ...broker.metadata.metadata_image import TRANSACTION_STATE_TOPIC
from ...faults.verdict.hanging_transactions import HangingTransaction
from ...protocol.batches.whole_batches import split_batches
from ...storage.log_config import Records
from ...storage.replica_files import batches_in_files
from ..current_coordinators import coordinated_transactions
from ..leading_partitions import find_leading_partition

if TYPE_CHECKING:
    from ...broker.cluster import Cluster
    from ...broker.coordinators.transaction.transaction_metadata import TransactionMetadata
    from ...broker.replica.partition import Partition
    from ...protocol.batches.record_batch import BatchHeader
    from ...storage.partition_log import PartitionLog
    from ...storage.producers.producer_state_entry import ProducerStateEntry

# Bytes of one read; a larger batch is read as a whole.
READ_BYTES_MAX = 1024 * 1024


class ClusterLogs:
    """The logs of all topics of a cluster, each as its leader has it.

    Requests may be handled while the batches of a log are read.
    """

    def __init__(self, cluster: Cluster) -> None:
        """Read the logs of this cluster."""
        self._cluster = cluster
        self._ends: dict[tuple[str, int], int] = {}

    def find_leader(self, topic: str, partition: int) -> Partition | None:
        """Return the partition as its leader has it; None for an unknown one, and if all its nodes are down."""
        found = self._cluster.image.find_topic(topic)
        if found is None or not found.has_partition(partition):
            return None
        return find_leading_partition(self._cluster, found, found.partitions[partition])

    def find_log(self, topic: str, partition: int) -> PartitionLog | None:
        """Return the log of the partition; None where find_leader does, and if nothing was written yet."""
        leader = self.find_leader(topic, partition)
        return None if leader is None else leader.find_log()

    def fix_ends(self, topic: str) -> None:
        """Read the partitions of the topic up to their present ends, whatever is appended later."""
        for partition in self.partitions(topic):
            log = self.find_log(topic, partition)
            if log is not None:
                self._ends[topic, partition] = log.log_end_offset

    def partitions(self, topic: str) -> list[int]:
        """Return the partitions of the topic; none for an unknown topic."""
        found = self._cluster.image.find_topic(topic)
        return [] if found is None else [partition.index for partition in found.partitions]

    def batches(self, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
        """Yield each complete batch, from the one that contains from_offset or from the log start offset.

        It ends where the topic is deleted, or no node has the partition any more.
        """
        log = self.find_log(topic, partition)
        if log is None or log.config.records is Records.GENERATED:
            # Generated records were not produced, and have nearly no end.
            return
        end, offset = self._ends.get((topic, partition), log.log_end_offset), from_offset
        # Between two reads the log may get another start, end or leader.
        while (log := self.find_log(topic, partition)) is not None:
            offset = max(offset, log.log_start_offset)
            if offset >= min(end, log.log_end_offset):
                return
            fetched = log.read(offset, READ_BYTES_MAX, upper_offset=end, min_one_batch=True)
            next_offset = offset
            for batch in split_batches(memoryview(b"".join(fetched.views))):
                next_offset = batch.header.last_offset + 1
                yield batch.data
            if next_offset == offset:
                return
            offset = next_offset

    def is_aborted(self, topic: str, partition: int, header: BatchHeader) -> bool:
        """Return whether a batch of the log belongs to an aborted transaction."""
        log = self.find_log(topic, partition) if header.is_transactional else None
        return log is not None and any(
            each.producer_id == header.producer_id and each.first_offset <= header.base_offset <= each.last_offset
            for each in log.segments.aborted_transactions(header.base_offset, header.last_offset + 1)
        )

    def replica_batches(self, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
        """Yield the batches of each replica, from the one that contains from_offset, also of nodes that are down."""
        for node in self._cluster.nodes:
            # What cannot be read has no names in the verdict.
            with suppress(OSError):
                yield from batches_in_files(node.inner_files, topic, partition, from_offset)

    def hanging_transactions(self, topic: str) -> list[HangingTransaction]:
        """Return the transactions of the topic that no coordinator will end, by partition and offset.

        None while a node is down whose coordinator may end them.
        """
        opened = [
            (partition, entry)
            for partition in self.partitions(topic)
            if (log := self.find_log(topic, partition)) is not None
            for entry in log.producers.open_transactions()
        ]
        if not opened or not self._are_coordinators_running():
            return []
        known = {each.producer_id: each for each in coordinated_transactions(self._cluster)}
        return [
            _hanging(partition, entry, known.get(entry.producer_id))
            for partition, entry in opened
            if not _is_ended_later(known.get(entry.producer_id), (topic, partition))
        ]

    def _are_coordinators_running(self) -> bool:
        topic = self._cluster.image.find_topic(TRANSACTION_STATE_TOPIC)
        if topic is None:
            return True
        leaders = [(self._cluster.find_node(each.leader_id), each.index) for each in topic.partitions]
        # A node that is down has no partitions.
        return all(
            node is not None and node.replicas.find_partition(topic.topic_id, index) is not None
            for node, index in leaders
        )


def _is_ended_later(known: TransactionMetadata | None, partition: tuple[str, int]) -> bool:
    return known is not None and (known.is_ongoing or known.is_prepared) and partition in known.partitions


def _hanging(partition: int, entry: ProducerStateEntry, known: TransactionMetadata | None) -> HangingTransaction:
    assert entry.current_txn_first_offset is not None, "the producer has an open transaction"
    return HangingTransaction(
        partition,
        entry.current_txn_first_offset,
        entry.producer_id,
        entry.producer_epoch,
        None if known is None else known.transactional_id,
        None if known is None else known.state_name,
    )
