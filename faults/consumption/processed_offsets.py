"""The offsets of a partition that an application has reported as processed, and how often it has reported each.

Adjacent offsets are one range, so that the memory follows the gaps and not the records.
"""

from __future__ import annotations

from bisect import bisect_right

from .delivered_spans import outside

# Ranges of one partition, and offsets that were reported several times. Reports beyond that are only counted.
RANGES_MAX = 10_000
REPEATED_MAX = 10_000


class ProcessedOffsets:
    """Offsets in ranges that neither overlap nor touch.

    repeated: how often each offset was reported that was reported more than once. left_out: reports beyond the limits.
    """

    __slots__ = ("_ends", "_firsts", "left_out", "repeated")

    def __init__(self) -> None:
        """Start without reports."""
        self._firsts: list[int] = []
        self._ends: list[int] = []
        self.repeated: dict[int, int] = {}
        self.left_out = 0

    def __bool__(self) -> bool:
        """Whether an offset was reported."""
        return bool(self._firsts)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The first offset of each range and the one after its last."""
        return list(zip(self._firsts, self._ends, strict=True))

    @property
    def first(self) -> int | None:
        """The first reported offset; None without one."""
        return self._firsts[0] if self._firsts else None

    @property
    def end(self) -> int | None:
        """The offset after the last reported one; None without one."""
        return self._ends[-1] if self._ends else None

    @property
    def count(self) -> int:
        """The number of different offsets."""
        return sum(self._ends) - sum(self._firsts)

    def add(self, offset: int) -> None:
        """Note that an offset was reported once more."""
        after = bisect_right(self._firsts, offset)
        before = after - 1
        if before >= 0 and offset < self._ends[before]:
            self._repeat(offset)
            return
        joins_before = before >= 0 and self._ends[before] == offset
        joins_after = after < len(self._firsts) and self._firsts[after] == offset + 1
        if joins_before and joins_after:
            self._ends[before] = self._ends[after]
            del self._firsts[after], self._ends[after]
        elif joins_before:
            self._ends[before] = offset + 1
        elif joins_after:
            self._firsts[after] = offset
        elif len(self._firsts) < RANGES_MAX:
            self._firsts.insert(after, offset)
            self._ends.insert(after, offset + 1)
        else:
            self.left_out += 1

    def _repeat(self, offset: int) -> None:
        if offset in self.repeated or len(self.repeated) < REPEATED_MAX:
            self.repeated[offset] = self.repeated.get(offset, 1) + 1
        else:
            self.left_out += 1

    def missing(self, first: int, end: int) -> list[tuple[int, int]]:
        """Return the ranges of offsets from first to before end that were not reported."""
        return outside(self.ranges, first, end) if first < end else []

    def truncate(self, end: int) -> None:
        """Remove the offsets from end on: other records will have them."""
        ranges = [(first, min(range_end, end)) for first, range_end in self.ranges if first < end]
        self._firsts, self._ends = [first for first, _ in ranges], [range_end for _, range_end in ranges]
        self.repeated = {offset: times for offset, times in self.repeated.items() if offset < end}

    def copy(self) -> ProcessedOffsets:
        """Return the same reports, for more to be added."""
        copied = ProcessedOffsets()
        copied._firsts, copied._ends = self._firsts.copy(), self._ends.copy()
        copied.repeated, copied.left_out = self.repeated.copy(), self.left_out
        return copied
