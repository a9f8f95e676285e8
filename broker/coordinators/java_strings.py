"""What Java makes of a string, where Kafka's answers depend on it."""

from __future__ import annotations

from collections.abc import Collection

INT32_MASK = 0xFFFFFFFF
INT32_SIGN = 0x80000000

# A java.util.HashMap starts with this many buckets and doubles them when three quarters are in use.
HASH_MAP_BUCKETS_MIN = 16


def java_string_length(text: str) -> int:
    """Return String.length of the text: UTF-16 units, two for a character outside the basic plane."""
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def java_string_hash(text: str) -> int:
    """Return String.hashCode of the text as a signed 32-bit number; "abc" gives 96354."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(encoded), 2):
        value = (value * 31 + (encoded[position] << 8 | encoded[position + 1])) & INT32_MASK
    return value - (INT32_MASK + 1) if value & INT32_SIGN else value


def java_hash_order(names: Collection[str]) -> list[str]:
    """Return the names in the order in which a HashMap iterates over them; equal buckets keep the order given."""
    buckets = HASH_MAP_BUCKETS_MIN
    while len(names) * 4 > buckets * 3:
        buckets *= 2

    def bucket(name: str) -> int:
        value = java_string_hash(name) & INT32_MASK
        return (value ^ value >> 16) & (buckets - 1)

    return sorted(names, key=bucket)
