"""The order in which Java's hash tables iterate, where it decides which member gets which partition.

A table has a power of two of buckets, at least 16, and iterates bucket by bucket; what is in one bucket keeps the order
in which it came. Source: java.util.HashMap and HashSet, and Uuid.hashCode, Kafka 4.3.0.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from typing import TypeVar

from .java_strings import HASH_MAP_BUCKETS_MIN, INT32_MASK

Key = TypeVar("Key")

_UUID_HALVES = struct.Struct(">QQ")
_UUID_WORDS = struct.Struct(">qq")


def buckets_of_grown(count: int) -> int:
    """Return how many buckets a table has that so many keys were put into one by one."""
    buckets = HASH_MAP_BUCKETS_MIN
    while count * 4 > buckets * 3:
        buckets *= 2
    return buckets


def buckets_of_copy(count: int) -> int:
    """Return how many buckets a HashSet has that was made of a collection of that size."""
    wanted = max(int(count / 0.75) + 1, HASH_MAP_BUCKETS_MIN)
    return 1 << (wanted - 1).bit_length()


def in_hash_order(keys: Collection[Key], hash_of: Callable[[Key], int], buckets: int) -> list[Key]:
    """Return the keys in the order of a table; those in one bucket in the order given."""

    def bucket(key: Key) -> int:
        value = hash_of(key) & INT32_MASK
        return (value ^ value >> 16) & (buckets - 1)

    return sorted(keys, key=bucket)


def uuid_hash(uuid: bytes) -> int:
    """Return Uuid.hashCode of 16 bytes as 32 bits."""
    mixed: int = _UUID_HALVES.unpack(uuid)[0] ^ _UUID_HALVES.unpack(uuid)[1]
    return (mixed >> 32 ^ mixed) & INT32_MASK


def uuid_sort_key(uuid: bytes) -> tuple[int, int]:
    """Return what Uuid.compareTo compares: two signed numbers."""
    high, low = _UUID_WORDS.unpack(uuid)
    return high, low


def int_hash(number: int) -> int:
    """Return Integer.hashCode."""
    return number
