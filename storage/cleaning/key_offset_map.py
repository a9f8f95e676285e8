"""A hash table of the greatest offset per key, with a fixed amount of memory.

Only a 16-byte hash of each key is stored, as in Kafka: 24 bytes per key.
Source: SkimpyOffsetMap, Kafka 4.3.0.
"""

from __future__ import annotations

import mmap
from hashlib import md5
from struct import Struct

# A hash of 16 bytes, an offset. MD5 as in Kafka, for its distribution, not for security.
_ENTRY = Struct(">16sq")
_HASH_SIZE = 16
_EMPTY = bytes(_HASH_SIZE)
_OFFSET = Struct(">q")

# The maximum fill ratio, so that lookups stay short (log.cleaner.io.buffer.load.factor).
LOAD_FACTOR_DEFAULT = 0.9

# Without room for one key, a cleaning would make no progress.
_SLOTS_MIN = 2

NO_OFFSET = -1


class KeyOffsetMap:
    """Keys with their greatest offsets; entries are never removed."""

    __slots__ = ("_entries_max", "_memory", "_size", "_slots", "latest_offset")

    def __init__(self, bytes_max: int, keys_expected: int, load_factor: float = LOAD_FACTOR_DEFAULT) -> None:
        """Reserve memory for keys_expected keys, at most bytes_max bytes; pages count only once they are written.

        latest_offset: the offset up to which records were mapped; the caller may raise it.
        """
        slots = min(bytes_max // _ENTRY.size, int((keys_expected + 1) / load_factor) + _SLOTS_MIN)
        self._slots = max(slots, _SLOTS_MIN)
        self._entries_max = max(1, int(self._slots * load_factor))
        self._memory = mmap.mmap(-1, self._slots * _ENTRY.size)
        self._size = 0
        self.latest_offset = NO_OFFSET

    @property
    def is_full(self) -> bool:
        """Whether put is no longer allowed, even for an existing key."""
        return self._size >= self._entries_max

    def put(self, key: bytes, offset: int) -> None:
        """Set the greatest offset of key; the map must not be full."""
        assert not self.is_full, f"{self._size} keys in {self._slots} slots"
        digest = md5(key, usedforsecurity=False).digest()
        position = self._position_of(digest)
        if self._memory[position : position + _HASH_SIZE] != digest:
            self._size += 1
        _ENTRY.pack_into(self._memory, position, digest, offset)
        self.latest_offset = offset

    def find(self, key: bytes) -> int:
        """Return the greatest offset of key, or NO_OFFSET."""
        digest = md5(key, usedforsecurity=False).digest()
        position = self._position_of(digest)
        if self._memory[position : position + _HASH_SIZE] != digest:
            return NO_OFFSET
        offset: int = _OFFSET.unpack_from(self._memory, position + _HASH_SIZE)[0]
        return offset

    def _position_of(self, digest: bytes) -> int:
        """Return the position of the entry of digest, or of its free slot; the search ends because a slot is free."""
        memory, slots = self._memory, self._slots
        slot = int.from_bytes(digest[:8], "big") % slots
        while True:
            position = slot * _ENTRY.size
            found = memory[position : position + _HASH_SIZE]
            if found in (digest, _EMPTY):
                return position
            slot = slot + 1 if slot + 1 < slots else 0

    def close(self) -> None:
        """Free the memory."""
        self._memory.close()
