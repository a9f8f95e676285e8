"""The iteration order of Java's hash tables, which decides how Kafka assigns partitions.

A table has a power of two of buckets, at least 16. It iterates bucket by bucket, and over the keys of one bucket in
insertion order. Source: java.util.HashMap and HashSet, and Uuid.hashCode, Kafka 4.3.0.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from typing import TypeVar

from .java_strings import INT32_MASK, java_string_hash

Key = TypeVar("Key")

# A HashMap doubles its buckets when three quarters of them are in use.
HASH_MAP_BUCKETS_MIN = 16

_UUID_HALVES = struct.Struct(">QQ")
_UUID_WORDS = struct.Struct(">qq")


def buckets_of_grown(count: int) -> int:
    """Return the bucket count of a table after count insertions."""
    buckets = HASH_MAP_BUCKETS_MIN
    while count * 4 > buckets * 3:
        buckets *= 2
    return buckets


def buckets_of_capacity(capacity: int, count: int) -> int:
    """Return the bucket count of a HashMap that was created with a capacity, after count insertions."""
    buckets = 1 << max(capacity - 1, 0).bit_length()
    while count * 4 > buckets * 3:
        buckets *= 2
    return buckets


def computed_hash_order(names: Collection[str], capacity: int) -> list[str]:
    """Return the names in the iteration order of a HashMap of this capacity that computeIfAbsent filled one by one.

    It puts a new name before the others of its bucket, and doubles the buckets before it adds to a full table.
    """
    buckets = buckets_of_capacity(capacity, len(names) - 1)
    return in_hash_order(list(names)[::-1], java_string_hash, buckets)


def buckets_of_sized(expected: int, count: int) -> int:
    """Return the bucket count of a table after count insertions, created by AssignorHelpers for expected elements."""
    buckets = 1 << (int((expected + 1) / 0.75 + 1) - 1).bit_length()
    while count * 4 > buckets * 3:
        buckets *= 2
    return buckets


def buckets_of_copy(count: int) -> int:
    """Return the bucket count of a HashSet that was created from a collection of count elements."""
    wanted = max(int(count / 0.75) + 1, HASH_MAP_BUCKETS_MIN)
    return 1 << (wanted - 1).bit_length()


def in_hash_order(keys: Collection[Key], hash_of: Callable[[Key], int], buckets: int) -> list[Key]:
    """Return the keys in the iteration order of a table with this many buckets."""

    def bucket(key: Key) -> int:
        value = hash_of(key) & INT32_MASK
        return (value ^ value >> 16) & (buckets - 1)

    return sorted(keys, key=bucket)


def java_hash_order(names: Collection[str]) -> list[str]:
    """Return the names in the iteration order of a HashMap into which they were put one by one."""
    return in_hash_order(names, java_string_hash, buckets_of_grown(len(names)))


def uuid_hash(uuid: bytes) -> int:
    """Return Uuid.hashCode of 16 bytes as 32 bits."""
    mixed: int = _UUID_HALVES.unpack(uuid)[0] ^ _UUID_HALVES.unpack(uuid)[1]
    return (mixed >> 32 ^ mixed) & INT32_MASK


def uuid_sort_key(uuid: bytes) -> tuple[int, int]:
    """Return the two signed numbers that Uuid.compareTo compares."""
    high, low = _UUID_WORDS.unpack(uuid)
    return high, low


def int_hash(number: int) -> int:
    """Return Integer.hashCode."""
    return number
