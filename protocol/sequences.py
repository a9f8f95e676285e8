"""Sequence numbers of a producer's records in a partition: 0 to 2147483647, then 0 again.

Source: DefaultRecordBatch, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import Final

# The sequence of a batch without a producer, and of a control batch.
NO_SEQUENCE: Final = -1
# Java's Integer.MAX_VALUE.
MAX_SEQUENCE: Final = 2**31 - 1


def increment_sequence(sequence: int, increment: int) -> int:
    """Return sequence + increment; 2147483647 is followed by 0, never by a negative number."""
    return (sequence + increment) & MAX_SEQUENCE


def decrement_sequence(sequence: int, decrement: int) -> int:
    """Return sequence - decrement; 0 is preceded by 2147483647."""
    return (sequence - decrement) & MAX_SEQUENCE
