"""The partition of a key, as Kafka's producer chooses it.

Source: Utils.murmur2 and BuiltInPartitioner.partitionForKey, Kafka 4.3.0.
"""

from __future__ import annotations

_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_SHIFT = 24
_INT = 0xFFFFFFFF
_POSITIVE = 0x7FFFFFFF


def partition_of_key(key: bytes, partition_count: int) -> int:
    """Return the partition of a key in a topic with so many partitions."""
    return (murmur2(key) & _POSITIVE) % partition_count


def murmur2(data: bytes) -> int:
    """Return the 32-bit hash of data, 0 and up; Kafka's int has the same bits."""
    size = len(data)
    whole = size & ~3
    hashed = _SEED ^ size
    for position in range(0, whole, 4):
        word = int.from_bytes(data[position : position + 4], "little") * _MULTIPLIER & _INT
        word = (word ^ word >> _SHIFT) * _MULTIPLIER & _INT
        hashed = hashed * _MULTIPLIER & _INT ^ word
    if size > whole:
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _INT
    hashed = (hashed ^ hashed >> 13) * _MULTIPLIER & _INT
    return hashed ^ hashed >> 15
