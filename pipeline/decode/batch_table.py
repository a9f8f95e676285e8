"""The batches of a buffer as arrays: headers, CRC results and damage.

- Every byte of the buffer belongs to an entry: a valid batch, a batch with a wrong CRC, bytes that are not a batch, or
  a batch that is cut off. Behind bytes that are not a batch, the walk continues at the next batch with a right CRC.
- A message of magic 0 or 1 is an entry too. A batch of magic 2 with its records takes its place in the table's data, so
  that it is read as all others. The header has the magic and the CRC of the message.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct

import numpy as np
from fastcrc.crc32 import iscsi as crc32c
from numpy.typing import NDArray

from ...protocol.batches.compression import DECOMPRESSED_BYTES_MAX, BrokenPayload, PayloadTooLarge
from ...protocol.batches.message_sets import (
    MESSAGE_SIZE_MIN,
    CorruptMessageSet,
    InvalidMessageSet,
    stored_batch_of,
    stored_message,
)
from ...protocol.batches.record_batch import (
    ATTRIBUTES_POSITION,
    COMPRESSION_MASK,
    COMPRESSION_MAX,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    MAGIC_V2,
    BatchHeader,
)
from .batch_search import find_next_batch, is_right_batch
from .varints import Booleans, Longs

# No request can contain a larger batch, so a greater size field is damaged.
BATCH_BYTES_MAX = DECOMPRESSED_BYTES_MAX

# The fields of a header that the walk needs, from _WALKED_POSITION on: length, magic and CRC.
_WALKED = Struct(">i4xbI")
_WALKED_POSITION = 8
_SIZE = Struct(">i")
_SIZE_POSITION = 8
# A message with a right CRC whose content cannot be read.
_UNREADABLE = (CorruptMessageSet, InvalidMessageSet, BrokenPayload, PayloadTooLarge)

HEADER_TYPE = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("records_count", ">i4"),
    ]
)
assert HEADER_TYPE.itemsize == HEADER_SIZE, "HEADER_TYPE is the header of a v2 batch"


@dataclass(slots=True)
class BatchTable:
    """Batches in order, one entry each. positions, sizes: in data.

    stored_positions, stored_sizes: in the buffer that was read; they differ from those with messages of magic 0 or 1.
    headers: of HEADER_TYPE; zeros where has_header is false. damage: a description by index, for each batch whose
    records cannot be read.
    """

    data: memoryview
    positions: Longs
    sizes: Longs
    stored_positions: Longs
    stored_sizes: Longs
    headers: NDArray[np.void]
    has_header: Booleans
    has_valid_crc: Booleans
    damage: dict[int, str]

    def __len__(self) -> int:
        """Return the number of entries, including bytes that are not a batch."""
        return len(self.positions)

    def numbers(self, name: str) -> Longs:
        """Return a field of all headers."""
        return self.headers[name].astype(np.int64)

    def filter(self, is_kept: Booleans) -> BatchTable:
        """Return the batches where is_kept is true."""
        places = np.flatnonzero(is_kept).tolist()
        damage = {new: self.damage[old] for new, old in enumerate(places) if old in self.damage}
        return BatchTable(
            self.data,
            self.positions[is_kept],
            self.sizes[is_kept],
            self.stored_positions[is_kept],
            self.stored_sizes[is_kept],
            self.headers[is_kept],
            self.has_header[is_kept],
            self.has_valid_crc[is_kept],
            damage,
        )


@dataclass(slots=True)
class _Walk:
    """The positions of all entries. An entry ends where the next one begins, and the last one at end."""

    data: memoryview
    base_offset_min: int
    positions: list[int] = field(default_factory=list[int])
    end: int = 0
    damage: dict[int, str] = field(default_factory=dict[int, str])
    wrong_crcs: list[int] = field(default_factory=list[int])
    # The messages by index, with the batches in their place.
    of_messages: dict[int, tuple[BatchHeader, bytes]] = field(default_factory=dict[int, tuple[BatchHeader, bytes]])

    def add_message(self, position: int, message: BatchHeader) -> None:
        """Add a message of magic 0 or 1."""
        try:
            batch = stored_batch_of(self.data[position : position + message.size])
        except _UNREADABLE as error:
            self.add_damaged(position, f"a message of magic {message.magic}: {error}")
            return
        self.of_messages[len(self.positions)] = message, batch
        self.positions.append(position)

    def add_damaged(self, position: int, damage: str) -> None:
        self.damage[len(self.positions)] = damage
        self.wrong_crcs.append(len(self.positions))
        self.positions.append(position)


def read_batches(data: memoryview, *, base_offset_min: int = 0, may_be_cut_off: bool = False) -> BatchTable:
    """Return all batches of data, which begins with one.

    base_offset_min: base offset of the segment, for the search behind damage. may_be_cut_off: leave out an incomplete
    batch at the end, as a Fetch response can have.
    """
    walk = _Walk(data, base_offset_min)
    walk.end = _walk_batches(walk, may_be_cut_off)
    stored_positions = np.array(walk.positions, np.int64)
    stored_sizes = np.diff(stored_positions, append=walk.end)
    positions, sizes = stored_positions, stored_sizes
    if walk.of_messages:
        data, positions, sizes = _with_batches_of_messages(walk, stored_sizes)
    has_header = sizes >= HEADER_SIZE
    for index in walk.damage:
        # Bytes that are not a batch have no header, even if there are enough of them.
        has_header[index] &= has_header[index] and walk.data[walk.positions[index] + MAGIC_POSITION] == MAGIC_V2
    has_valid_crc = np.ones(len(positions), np.bool_)
    has_valid_crc[walk.wrong_crcs] = False
    headers = _headers(data, positions, has_header)
    for index, (message, _) in walk.of_messages.items():
        headers[index]["magic"], headers[index]["crc"] = message.magic, message.crc
    table = BatchTable(
        data, positions, sizes, stored_positions, stored_sizes, headers, has_header, has_valid_crc, walk.damage
    )
    _judge_headers(table)
    return table


def _with_batches_of_messages(walk: _Walk, sizes: Longs) -> tuple[memoryview, Longs, Longs]:
    """Return the data with batches in place of messages, and the positions and sizes in it."""
    stored = zip(walk.positions, sizes.tolist(), strict=True)
    parts = [
        walk.of_messages[index][1] if index in walk.of_messages else walk.data[position : position + size]
        for index, (position, size) in enumerate(stored)
    ]
    part_sizes = np.array([len(part) for part in parts], np.int64)
    return memoryview(b"".join(parts)), np.cumsum(part_sizes) - part_sizes, part_sizes


def _walk_batches(walk: _Walk, may_be_cut_off: bool) -> int:
    """Add all entries and return the end of the last one."""
    data = walk.data
    position, end = 0, len(data)
    # A small batch takes as long for each call here as for its CRC.
    fields_of, add = _WALKED.unpack_from, walk.positions.append
    while end - position >= MESSAGE_SIZE_MIN:
        length, magic, expected = fields_of(data, position + _WALKED_POSITION)
        after = position + length + LOG_OVERHEAD
        if magic == MAGIC_V2 and position + HEADER_SIZE <= after <= end:
            if (actual := crc32c(data[position + ATTRIBUTES_POSITION : after])) == expected:
                add(position)
                position = after
                continue
            why = f"its CRC-32C is {actual:08x}, its header says {expected:08x}"
        elif magic < MAGIC_V2 and (message := stored_message(data, position)) is not None:
            walk.add_message(position, message)
            position = after
            continue
        elif _is_rest(magic, after - position, end - position, may_be_cut_off=may_be_cut_off):
            break
        else:
            why = _why_no_batch(data, position, after - position)
        walk.add_damaged(position, why)
        position = _next_position(walk, position, after - position)
    if may_be_cut_off:
        return position
    if position < end:
        walk.add_damaged(position, f"the last {end - position} bytes are no whole batch")
    return end


def _is_rest(magic: int, size: int, bytes_left: int, *, may_be_cut_off: bool) -> bool:
    """Whether the last bytes begin a batch or message that is cut off, or are too few for a header."""
    if may_be_cut_off and 0 <= magic <= MAGIC_V2 and bytes_left < size <= BATCH_BYTES_MAX:
        return True
    return bytes_left < HEADER_SIZE and not _is_message_size(magic, size, bytes_left)


def _next_position(walk: _Walk, position: int, size: int) -> int:
    """Return the position at which to continue behind a damaged batch.

    If a valid batch begins directly behind it, its size is right. Otherwise the size may be wrong, so a valid batch
    within it has priority over a plausible header behind it.
    """
    data, base_offset_min = walk.data, walk.base_offset_min
    end, after = len(data), position + size
    is_within = MESSAGE_SIZE_MIN <= size <= end - position
    if is_within and is_right_batch(data, after):
        return after
    found = find_next_batch(data, position + 1, after if is_within else end, base_offset_min=base_offset_min)
    if found is None and is_within:
        if after == end or _may_begin(data, after):
            return after
        found = find_next_batch(data, after, end, base_offset_min=base_offset_min)
    return end if found is None else found


def _may_begin(data: memoryview, position: int) -> bool:
    """Whether the bytes at position are a plausible header of a batch or an older message."""
    if len(data) - position < HEADER_SIZE:
        return False
    size = _SIZE.unpack_from(data, position + _SIZE_POSITION)[0] + LOG_OVERHEAD
    return data[position + MAGIC_POSITION] <= MAGIC_V2 and MESSAGE_SIZE_MIN <= size <= len(data) - position


def _is_message_size(magic: int, size: int, bytes_left: int) -> bool:
    """Whether a message of magic 0 or 1 can have the size and be there as a whole."""
    return 0 <= magic < MAGIC_V2 and MESSAGE_SIZE_MIN <= size <= bytes_left


def _why_no_batch(data: memoryview, position: int, size: int) -> str:
    magic = data[position + MAGIC_POSITION]
    bytes_left = len(data) - position
    if _is_message_size(magic, size, bytes_left):
        return f"a message of magic {magic}, the format before Kafka 0.11, with a wrong CRC or size"
    if magic != MAGIC_V2:
        return f"no batch: its magic would be {magic}"
    if size < HEADER_SIZE or size > BATCH_BYTES_MAX:
        return f"no batch: it would have {size} bytes"
    return f"cut off: {bytes_left} of {size} bytes are there"


def _headers(data: memoryview, positions: Longs, has_header: Booleans) -> NDArray[np.void]:
    headers = np.zeros(len(positions), HEADER_TYPE)
    if has_header.any():
        # A view of data as a header at each position. Headers without fields are copied ten times as fast.
        at_all = np.ndarray((len(data) - HEADER_SIZE + 1,), f"V{HEADER_SIZE}", data, 0, (1,))
        headers[has_header] = at_all[positions[has_header]].view(HEADER_TYPE)
    return headers


def _judge_headers(table: BatchTable) -> None:
    """Add the damage of headers that have a right CRC but an unknown codec or a negative count."""
    codecs = table.numbers("attributes") & COMPRESSION_MASK
    counts = table.numbers("records_count")
    for index in np.flatnonzero(table.has_valid_crc & ((codecs > COMPRESSION_MAX) | (counts < 0))).tolist():
        codec, count = int(codecs[index]), int(counts[index])
        table.damage[index] = f"no codec has the number {codec}" if count >= 0 else f"it says {count} records"
