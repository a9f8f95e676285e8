"""Follows the leaders of all partitions, to know which batches the log of the present leader does not have.

- When a leader is elected, the counted batches that its log does not have become diverged ones.
- A leader that was replaced, and does not know it because it is cut off, appends batches that are diverged at once.
- A diverged batch is lost if it was acknowledged. It is counted again when a leader is elected whose log has it.
A cluster of one node has no leader changes.
"""

from __future__ import annotations

from dataclasses import replace

from ...storage.append_result import AppendResult
from ...storage.leader_change import LeaderChange
from .diverged_batches import DivergedBatch, DivergedBatches
from .journaled_batch import BatchPlace, appended_fields
from .leader_history import LeaderHistory
from .lost_batches import Failover, LostBatch
from .unacknowledged_batches import UnacknowledgedBatch

# Partitions whose leaders are kept. Of the oldest beyond that, the next change is the first one that is known.
PARTITIONS_MAX = 50_000


class Failovers:
    """The leaders of all partitions, and the batches that the present ones do not have.

    histories: the leaders by topic and partition; empty with one node.
    """

    __slots__ = ("diverged", "histories")

    def __init__(self) -> None:
        """Start without a leader."""
        self.histories: dict[tuple[str, int], LeaderHistory] = {}
        self.diverged = DivergedBatches()

    def history_before(self, change: LeaderChange) -> LeaderHistory | None:
        """Return the leaders before a new one. None for the first one, which is kept."""
        place = (change.topic_name, change.partition)
        history = self.histories.get(place)
        if history is not None and change.epoch_before >= 0:
            return history
        self.histories.pop(place, None)
        if len(self.histories) >= PARTITIONS_MAX:
            del self.histories[next(iter(self.histories))]
        self.histories[place] = LeaderHistory(change)
        return None

    # -- batches that diverge

    def replaced(
        self,
        change: LeaderChange,
        removed: LostBatch,
        unacknowledged: UnacknowledgedBatch | None,
        *,
        is_acknowledged: bool,
    ) -> None:
        """Keep a counted batch that the log of a new leader does not have. Called before the change."""
        history = self.histories[change.topic_name, change.partition]
        epoch = history.epoch_at(removed.base_offset)
        failover = Failover(history.find_node(epoch), epoch, change)
        acknowledged_by = removed.request_id if is_acknowledged else None
        self.diverged.add(DivergedBatch(replace(removed, failover=failover), epoch, acknowledged_by, unacknowledged))

    def appended_elsewhere(
        self, request_id: int, node: int, batch: tuple[str, int, AppendResult], *, is_acknowledged: bool
    ) -> bool:
        """Return whether a node has appended a batch to another log than the present leader's; it is kept then."""
        topic, partition, result = batch
        history = self.histories.get((topic, partition))
        epoch = None if history is None else history.find_append_epoch(node)
        if history is None or epoch is None or history.has(epoch, result.base_offset):
            return False
        change = history.change_after(epoch)
        failover = Failover(node, epoch, change, was_replaced=True)
        lost = LostBatch(*appended_fields(request_id, batch), change.end_offset, failover)
        self.diverged.add(DivergedBatch(lost, epoch, request_id if is_acknowledged else None))
        return True

    def find_repeated(self, place: BatchPlace, node: int) -> DivergedBatch | None:
        """Return the diverged batch that a duplicate repeats. node: recognised the duplicate at this place."""
        topic, partition, offset = place
        history = self.histories.get((topic, partition))
        epoch = None if history is None else history.find_append_epoch(node)
        if history is None or epoch is None or history.last.node == node:
            return None
        found = self.diverged.find_newest(place, epoch)
        is_shared = found is not None and found.epoch < history.epoch_at(offset) <= epoch
        return None if is_shared else found

    def take_present(self, change: LeaderChange) -> list[DivergedBatch]:
        """Remove the diverged batches that the log of the present leader has, and return them by their offsets."""
        history = self.histories[change.topic_name, change.partition]
        return self.diverged.take(
            change.topic_name, change.partition, lambda each: history.has(each.epoch, each.batch.base_offset)
        )
