"""Java's length, hash code and order of strings, on which responses of Kafka depend."""

from __future__ import annotations

INT32_MASK = 0xFFFFFFFF
INT32_SIGN = 0x80000000


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


def java_string_order(text: str) -> bytes:
    """Return what sorts texts as String.compareTo does: by UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")
