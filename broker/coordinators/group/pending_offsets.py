"""Offsets of open transactions. A commit marker commits them, an abort marker deletes them.

Source: OffsetMetadataManager (pendingTransactionalOffsets, openTransactions), Kafka 4.3.0.
"""

from __future__ import annotations

from .offset_store import CommittedOffset, GroupTopicPartition


class PendingOffsets:
    """Offsets by transaction: a partition of __consumer_offsets and a producer id."""

    __slots__ = ("_open", "_transactions")

    def __init__(self) -> None:
        """Create the store without open transactions."""
        self._transactions: dict[tuple[int, int], dict[GroupTopicPartition, CommittedOffset]] = {}
        # For each key of an offset, the transactions that have an offset for it.
        self._open: dict[GroupTopicPartition, set[tuple[int, int]]] = {}

    def put(
        self, log_partition: int, producer_id: int, partition: GroupTopicPartition, committed: CommittedOffset
    ) -> None:
        """Store an offset of the producer's transaction in place of an earlier one.

        log_partition: the group's partition of __consumer_offsets, to which the marker will be written.
        """
        transaction = (log_partition, producer_id)
        self._transactions.setdefault(transaction, {})[partition] = committed
        self._open.setdefault(partition, set()).add(transaction)

    def end(self, log_partition: int, producer_id: int) -> dict[GroupTopicPartition, CommittedOffset]:
        """Delete the producer's transaction in that partition, and return its offsets."""
        transaction = (log_partition, producer_id)
        offsets = self._transactions.pop(transaction, {})
        for partition in offsets:
            transactions = self._open[partition]
            transactions.discard(transaction)
            if not transactions:
                del self._open[partition]
        return offsets

    def is_pending(self, partition: GroupTopicPartition) -> bool:
        """Return whether any open transaction has an offset for the partition."""
        return partition in self._open

    def of_group(self, group_id: str) -> list[GroupTopicPartition]:
        """Return the group's partitions for which open transactions have offsets."""
        return [partition for partition in self._open if partition.group_id == group_id]

    def of_topic(self, topic_name: str) -> list[tuple[GroupTopicPartition, CommittedOffset]]:
        """Return the offsets of open transactions for a topic of that name."""
        return [
            (partition, committed)
            for offsets in self._transactions.values()
            for partition, committed in offsets.items()
            if partition.topic_name == topic_name
        ]

    def remove(self, partition: GroupTopicPartition) -> None:
        """Delete the offsets of open transactions for the partition."""
        for transaction in self._open.pop(partition, set()):
            offsets = self._transactions[transaction]
            del offsets[partition]
            if not offsets:
                del self._transactions[transaction]
