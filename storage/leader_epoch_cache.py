"""Which leader epoch began at which offset, and where it ended.

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
    """The greatest known epoch up to the one asked for, and the offset after its last record; -1 and -1 for none."""

    leader_epoch: int
    end_offset: int


class LeaderEpochCache:
    """The epochs of one log with their first offsets; both only grow."""

    __slots__ = ("_epochs", "_start_offsets", "latest_epoch")

    def __init__(self, entries: Sequence[tuple[int, int]] = ()) -> None:
        """Start with these epochs and their first offsets, as entries() gives them."""
        self._epochs: list[int] = []
        self._start_offsets: list[int] = []
        self.latest_epoch = NO_LEADER_EPOCH
        for leader_epoch, start_offset in entries:
            self.assign(leader_epoch, start_offset)

    def assign(self, leader_epoch: int, start_offset: int) -> bool:
        """Note that the epoch begins at start_offset, unless it or a later one is known; return whether it was noted.

        Epochs in which nothing was written, which began there as well, are forgotten.
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
        """Return the epoch that offset was written in; -1 if it lies before every known one."""
        index = bisect_right(self._start_offsets, offset) - 1
        return self._epochs[index] if index >= 0 else NO_LEADER_EPOCH

    def end_offset_for(self, leader_epoch: int, log_end_offset: int) -> EpochEndOffset:
        """Return where the epoch ended.

        The latest epoch ends at log_end_offset; one after it is not known: -1.
        Source: LeaderEpochFileCache.endOffsetFor, Kafka 4.3.0.
        """
        if leader_epoch == NO_LEADER_EPOCH or leader_epoch > self.latest_epoch:
            return EpochEndOffset(NO_LEADER_EPOCH, NO_OFFSET)
        if leader_epoch == self.latest_epoch:
            return EpochEndOffset(leader_epoch, log_end_offset)
        after = bisect_right(self._epochs, leader_epoch)
        if not after:
            # Kafka answers an epoch before the first with that epoch, ending where the first begins.
            return EpochEndOffset(leader_epoch, self._start_offsets[0])
        return EpochEndOffset(self._epochs[after - 1], self._start_offsets[after])

    def truncate_from_start(self, start_offset: int) -> bool:
        """Forget the epochs that ended before start_offset; the one that holds it begins there.

        Returns whether that changed anything.
        """
        index = bisect_right(self._start_offsets, start_offset) - 1
        if index < 0 or self._start_offsets[0] == start_offset:
            return False
        del self._epochs[:index], self._start_offsets[:index]
        self._start_offsets[0] = start_offset
        return True

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget the epochs that begin behind end_offset, where nothing is any more.

        One that begins at end_offset is kept: its leader may have written nothing yet.
        """
        index = bisect_left(self._start_offsets, end_offset + 1)
        del self._epochs[index:], self._start_offsets[index:]
        self.latest_epoch = self._epochs[-1] if self._epochs else NO_LEADER_EPOCH

    def entries(self) -> list[tuple[int, int]]:
        """Return the epochs with their first offsets, as the checkpoint file has them."""
        return list(zip(self._epochs, self._start_offsets, strict=True))
