"""The leaders of a partition, to find out whether the log of the present one has what another leader has appended.

A record is identified by its leader epoch and its offset, because an epoch has one leader. The offset alone is not
enough: a leader that was replaced and could not be reached continues to append at offsets of its own.
"""

from __future__ import annotations

from ...storage.leader_change import LeaderChange
from ...storage.leader_epoch_cache import NO_LEADER_EPOCH, LeaderEpochCache

# Leaders that are kept of one partition. A node that is still cut off after that many changes is not found any more.
LEADERS_MAX = 1000
_NO_END = 2**63 - 1


class LeaderHistory:
    """The leaders of one partition by their epochs, and the epochs of the present leader's log."""

    __slots__ = ("_append_epochs", "_changes", "_log")

    def __init__(self, first: LeaderChange) -> None:
        """first: the first leader that is known."""
        self._changes: dict[int, LeaderChange] = {}
        self._log = LeaderEpochCache()
        # The epochs in which the nodes append since they were elected last.
        self._append_epochs: dict[int, int] = {}
        self.begin(first)

    def begin(self, change: LeaderChange) -> None:
        """Take a new leader."""
        if len(self._changes) >= LEADERS_MAX:
            del self._changes[next(iter(self._changes))]
        self._changes[change.epoch] = change._replace(log_epochs=())
        self._log = LeaderEpochCache(change.log_epochs)
        self._append_epochs[change.node] = self._log.latest_epoch

    def shared_end_offset(self, change: LeaderChange) -> int:
        """Return up to which offset the log of a new leader equals that of the present one.

        Records that were deleted at its start, by retention or DeleteRecords, are not lost.
        """
        own, other = self._log, LeaderEpochCache(change.log_epochs)
        known = {epoch for epoch, _ in own.entries()}
        shared = [epoch for epoch, _ in other.entries() if epoch in known]
        _, start_offset = other.entries()[0]
        if not shared:
            return start_offset
        ends = (
            own.end_offset_for(shared[-1], _NO_END).end_offset,
            other.end_offset_for(shared[-1], change.end_offset).end_offset,
        )
        return max(start_offset, min(ends))

    def epoch_at(self, offset: int) -> int:
        """Return the epoch of an offset in the log of the present leader."""
        return self._log.epoch_of(offset)

    def is_appended_by(self, node: int, offset: int) -> bool:
        """Return whether the node appended what the log of the present leader has at the offset."""
        return self.find_node(self.epoch_at(offset)) in (node, None)

    def has(self, epoch: int, offset: int) -> bool:
        """Return whether the log of the present leader has what was appended at this offset in this epoch."""
        return epoch != NO_LEADER_EPOCH and self._log.epoch_of(offset) == epoch

    def find_node(self, epoch: int) -> int | None:
        """Return the leader of an epoch; None for an epoch before the first one that is known."""
        change = self._changes.get(epoch)
        return None if change is None else change.node

    def find_append_epoch(self, node: int) -> int | None:
        """Return the epoch in which the node appends, or would append. None if it was never the leader."""
        return self._append_epochs.get(node)

    def change_after(self, epoch: int) -> LeaderChange:
        """Return the change that ended an epoch; the last one for the present epoch."""
        return next((change for change in self._changes.values() if change.epoch > epoch), self.last)

    @property
    def last(self) -> LeaderChange:
        """The change to the present leader."""
        return next(reversed(self._changes.values()))
