"""Java's long, which Kafka computes offsets and timestamps with."""

from __future__ import annotations

_SIGN = 2**63
_RANGE = 2**64


def wrapped_long(value: int) -> int:
    """Return value wrapped to 64 bits, as in Java's arithmetic."""
    return (value + _SIGN) % _RANGE - _SIGN
