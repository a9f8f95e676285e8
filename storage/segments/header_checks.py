"""Checks the batch headers of a segment that was written by an earlier process, each header once.

* Recovery reads every batch, and the batches of this process are right. All other batches are checked when a read first
  covers them, because reading whole segments at start-up would take too long.
* Checked: magic, length, and that the offsets grow and stay below the next segment. The CRC covers none of the three.
  It is left to the consumers, as in Kafka.
* A position counts as checked only together with the batches before it, from a known batch on. So a search begins at a
  checked position or at one that the offset index confirms.
* Each damage is logged once.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from struct import Struct

from ...protocol.batches.record_batch import HEADER_SIZE, LOG_OVERHEAD, MAGIC_V2
from ...protocol.error_codes import ErrorCode, KafkaError
from ..file_systems.file_system import File

logger = logging.getLogger(__name__)

# base_offset, length, magic and last_offset_delta of a batch header.
_CHECKED = Struct(">qi4xb6xi")
# One read for headers: several small batches, or the start of a large one.
_READ_BYTES = 64 * 1024
# Readers at more places than this check headers again.
_RANGES_MAX = 16


class DamagedSegmentError(KafkaError):
    """A read met damage in a segment. Kafka returns CORRUPT_MESSAGE if a batch has an impossible length.

    position: of the damaged batch in the segment. next_offset: the offset after the segment.
    """

    def __init__(self, message: str, position: int, next_offset: int) -> None:
        """Create the error with the message of the log line."""
        super().__init__(ErrorCode.CORRUPT_MESSAGE, message)
        self.position = position
        self.next_offset = next_offset


@dataclass(frozen=True, slots=True)
class Damage:
    """The position of a damaged batch, and what is wrong with it."""

    position: int
    fault: str


@dataclass(slots=True)
class _CheckedRange:
    """Checked positions; last_offset: of the last batch before end."""

    start: int
    end: int
    last_offset: int


def next_begins_within(file: File, position: int, size: int, offsets: range) -> bool:
    """Whether a whole batch at position has a base offset within offsets.

    offsets: from the end of the last undamaged batch to the last offset of the batch in question. If the next batch
    begins there, the batch in question is damaged.
    """
    if size - position < HEADER_SIZE:
        return False
    base_offset, length, magic, _ = _CHECKED.unpack(file.read(position, _CHECKED.size))
    is_whole = magic == MAGIC_V2 and HEADER_SIZE <= length + LOG_OVERHEAD <= size - position
    return is_whole and base_offset in offsets


class HeaderChecks:
    """The checks of one segment."""

    __slots__ = ("_base_offset", "_file", "_path", "_ranges", "_reported")

    def __init__(self, file: File, path: str, base_offset: int) -> None:
        """file: the .log file; path: its path, for the log."""
        self._file = file
        self._path = path
        self._base_offset = base_offset
        self._ranges: list[_CheckedRange] = []
        self._reported = set[int]()

    def check(self, start: int, end: int, last_offset_max: int) -> Damage | None:
        """Check the batches that begin at start or later and before end. Return the first damage.

        start: the position of a batch. last_offset_max: the last offset that a batch of the segment can have.
        """
        checked = self._range_at(start)
        position = checked.end
        # The search for this batch has confirmed its offsets. The offsets before it are unknown.
        is_confirmed = position == start > 0
        block, block_start = memoryview(b""), position
        size = self._file.size
        while position < end:
            at = position - block_start
            if at + _CHECKED.size > len(block):
                block = self._file.read(position, min(_READ_BYTES, size - position))
                block_start, at = position, 0
            if len(block) - at < HEADER_SIZE and size - position < HEADER_SIZE:
                return Damage(position, f"{size - position} bytes are left for a batch")
            base_offset, length, magic, last_offset_delta = _CHECKED.unpack_from(block, at)
            batch_size, last_offset = length + LOG_OVERHEAD, base_offset + last_offset_delta
            if magic != MAGIC_V2:
                return Damage(position, f"the magic is {magic}, not {MAGIC_V2}")
            if not HEADER_SIZE <= batch_size <= size - position:
                return Damage(position, f"the length is {length}, and {size - position - LOG_OVERHEAD} bytes follow it")
            if last_offset_delta < 0 or not checked.last_offset < base_offset or last_offset > last_offset_max:
                return Damage(
                    position,
                    f"the offsets are {base_offset} to {last_offset}, "
                    f"not between {checked.last_offset + 1} and {last_offset_max}",
                )
            is_after_gap = base_offset > checked.last_offset + 1 and not is_confirmed
            if is_after_gap and next_begins_within(
                self._file, position + batch_size, size, range(checked.last_offset + 1, last_offset + 1)
            ):
                return Damage(position, f"the offsets are {base_offset} to {last_offset}, and the next batch is lower")
            position += batch_size
            checked.end, checked.last_offset, is_confirmed = position, last_offset, False
        return None

    def last_offset_before(self, start: int) -> int:
        """Return the last offset before the end of the checked batches that begin at start or earlier."""
        return self._range_at(start).last_offset

    def report(self, damage: Damage, next_offset: int) -> DamagedSegmentError:
        """Log the damage, unless it was logged before, and return the error for a read that needs the batch."""
        message = f"{self._path} is damaged at byte {damage.position}: {damage.fault}"
        if damage.position not in self._reported:
            self._reported.add(damage.position)
            logger.error("%s; reads of the lost records return CORRUPT_MESSAGE", message)
        return DamagedSegmentError(message, damage.position, next_offset)

    def _range_at(self, position: int) -> _CheckedRange:
        """Return the checked range that contains position, joined with the ranges that it reaches, or a new range."""
        found = next((each for each in self._ranges if each.start <= position <= each.end), None)
        if found is None:
            found = _CheckedRange(position, position, self._base_offset - 1)
            self._ranges = [*self._ranges[1 - _RANGES_MAX :], found]
        for other in [each for each in self._ranges if each is not found and found.start <= each.start <= found.end]:
            if other.end > found.end:
                found.end, found.last_offset = other.end, other.last_offset
            self._ranges.remove(other)
        return found
