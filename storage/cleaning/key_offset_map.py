"""The greatest offset of each key, in memory of a size that is set beforehand.

Keys are known by a 16-byte hash alone, as in Kafka: 24 bytes a key, whatever the key's size.
Source: SkimpyOffsetMap, Kafka 4.3.0.
"""

from __future__ import annotations

import mmap
from hashlib import md5
from struct import Struct

# A hash of 16 bytes, an offset. MD5 as in Kafka, which needs a hash that spreads keys well and no secrecy.
_ENTRY = Struct(">16sq")
_HASH_SIZE = 16
_EMPTY = bytes(_HASH_SIZE)
_OFFSET = Struct(">q")

# How much of the map may be filled, so that look-ups stay short (log.cleaner.io.buffer.load.factor).
LOAD_FACTOR_DEFAULT = 0.9

# A map that holds not even one key would never let cleaning get ahead.
_SLOTS_MIN = 2

NO_OFFSET = -1


class KeyOffsetMap:
    """Keys with their greatest offsets; entries are added and overwritten, never taken out."""

    __slots__ = ("_entries_max", "_memory", "_size", "_slots", "latest_offset")

    def __init__(self, bytes_max: int, keys_expected: int, load_factor: float = LOAD_FACTOR_DEFAULT) -> None:
        """Reserve room for so many keys, but not more than bytes_max bytes.

        The memory costs nothing before it is written to.
        latest_offset: set by the one who fills the map, up to which offset records have been looked at.
        """
        slots = min(bytes_max // _ENTRY.size, int((keys_expected + 1) / load_factor) + _SLOTS_MIN)
        self._slots = max(slots, _SLOTS_MIN)
        self._entries_max = max(1, int(self._slots * load_factor))
        self._memory = mmap.mmap(-1, self._slots * _ENTRY.size)
        self._size = 0
        self.latest_offset = NO_OFFSET

    @property
    def is_full(self) -> bool:
        """Whether no further record may be put in, not even one of a key that is known."""
        return self._size >= self._entries_max

    def put(self, key: bytes, offset: int) -> None:
        """Make offset the greatest of key; the map must not be full."""
        assert not self.is_full, f"{self._size} keys in {self._slots} slots"
        digest = md5(key, usedforsecurity=False).digest()
        position = self._position_of(digest)
        if self._memory[position : position + _HASH_SIZE] != digest:
            self._size += 1
        _ENTRY.pack_into(self._memory, position, digest, offset)
        self.latest_offset = offset

    def find(self, key: bytes) -> int:
        """Return the greatest offset of key; NO_OFFSET if there is none."""
        digest = md5(key, usedforsecurity=False).digest()
        position = self._position_of(digest)
        if self._memory[position : position + _HASH_SIZE] != digest:
            return NO_OFFSET
        offset: int = _OFFSET.unpack_from(self._memory, position + _HASH_SIZE)[0]
        return offset

    def _position_of(self, digest: bytes) -> int:
        """Return where the entry of digest is or would go; some slot is free, so the search ends."""
        memory, slots = self._memory, self._slots
        slot = int.from_bytes(digest[:8], "big") % slots
        while True:
            position = slot * _ENTRY.size
            found = memory[position : position + _HASH_SIZE]
            if found in (digest, _EMPTY):
                return position
            slot = slot + 1 if slot + 1 < slots else 0

    def close(self) -> None:
        """Give the memory back; the map is not used any more."""
        self._memory.close()
