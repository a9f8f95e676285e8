"""The leader epochs of a log and the offset at which each starts.

* Epochs and start offsets grow strictly. An epoch without records is dropped when a later one starts at its offset.
* An epoch ends where the next one starts; the latest ends at the log end offset.
* When the log start moves, the epoch that contains it starts there; earlier epochs are dropped.
* After truncation, an epoch that starts at the log end stays: its leader may not have written yet.
* The cache lives in memory. PartitionLog writes it to leader-epoch-checkpoint before the first batch of a new epoch.
Source: LeaderEpochFileCache, Kafka 4.3.0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

NO_LEADER_EPOCH = -1
NO_OFFSET = -1


@dataclass(frozen=True, slots=True)
class EpochEndOffset:
    """The greatest epoch up to the requested one, and the offset after its last record; -1 and -1 for none."""

    leader_epoch: int
    end_offset: int


class LeaderEpochCache:
    """The epochs of one log."""

    __slots__ = ("_epochs", "_start_offsets", "latest_epoch")

    def __init__(self, entries: Sequence[tuple[int, int]] = ()) -> None:
        """entries: epochs with their start offsets, as entries() returns them."""
        self._epochs: list[int] = []
        self._start_offsets: list[int] = []
        self.latest_epoch = NO_LEADER_EPOCH
        for leader_epoch, start_offset in entries:
            self.assign(leader_epoch, start_offset)

    def assign(self, leader_epoch: int, start_offset: int) -> bool:
        """Start the epoch at start_offset and return True; return False if it is not above the latest epoch.

        Source: LeaderEpochFileCache.maybeTruncateNonMonotonicEntries, Kafka 4.3.0.
        """
        if leader_epoch <= self.latest_epoch:
            return False
        while self._start_offsets and self._start_offsets[-1] >= start_offset:
            del self._epochs[-1], self._start_offsets[-1]
        self._epochs.append(leader_epoch)
        self._start_offsets.append(start_offset)
        self.latest_epoch = leader_epoch
        return True

    def epoch_of(self, offset: int) -> int:
        """Return the epoch of the record at offset; -1 before the first epoch."""
        index = bisect_right(self._start_offsets, offset) - 1
        return self._epochs[index] if index >= 0 else NO_LEADER_EPOCH

    def end_offset_for(self, leader_epoch: int, log_end_offset: int) -> EpochEndOffset:
        """Return where the epoch ended; -1 and -1 for an epoch after the latest.

        Source: LeaderEpochFileCache.endOffsetFor, Kafka 4.3.0.
        """
        if leader_epoch == NO_LEADER_EPOCH or leader_epoch > self.latest_epoch:
            return EpochEndOffset(NO_LEADER_EPOCH, NO_OFFSET)
        if leader_epoch == self.latest_epoch:
            return EpochEndOffset(leader_epoch, log_end_offset)
        after = bisect_right(self._epochs, leader_epoch)
        if not after:
            # For an epoch before the first, Kafka returns that epoch, ending where the first starts.
            return EpochEndOffset(leader_epoch, self._start_offsets[0])
        return EpochEndOffset(self._epochs[after - 1], self._start_offsets[after])

    def truncate_from_start(self, start_offset: int) -> bool:
        """Drop the epochs that end at or before start_offset, and return whether anything changed."""
        index = bisect_right(self._start_offsets, start_offset) - 1
        if index < 0 or self._start_offsets[0] == start_offset:
            return False
        del self._epochs[:index], self._start_offsets[:index]
        self._start_offsets[0] = start_offset
        return True

    def truncate_from_end(self, end_offset: int) -> None:
        """Drop the epochs that start after end_offset."""
        index = bisect_left(self._start_offsets, end_offset + 1)
        del self._epochs[index:], self._start_offsets[index:]
        self.latest_epoch = self._epochs[-1] if self._epochs else NO_LEADER_EPOCH

    def entries(self) -> list[tuple[int, int]]:
        """Return the epochs with their start offsets, in the order of the checkpoint file."""
        return list(zip(self._epochs, self._start_offsets, strict=True))
