"""Whose rules a producer is judged by: what changed about them from Kafka to Kafka.

Only the rules for sequences change with it, not the APIs that are advertised.
Source: ProducerStateManager and Log of the tags 0.11.0.0 to 4.3.0; KAFKA-5494, KAFKA-5793, KAFKA-6683, KAFKA-7298,
KIP-360; KAFKA-15591 for 4.5.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ...protocol.error_codes import ErrorCode

# The newest version whose rules are known.
_NEWEST = (4, 5)
_DEFAULT = "4.3"


class UnknownProducerRule(Enum):
    """What a partition does with the first batch of a producer it does not know."""

    OUT_OF_ORDER_UNLESS_ZERO = "sequence 0, or OUT_OF_ORDER_SEQUENCE_NUMBER"
    UNKNOWN_UNLESS_ZERO = "sequence 0, or UNKNOWN_PRODUCER_ID"
    ANY_SEQUENCE = "any sequence"
    ANY_SEQUENCE_UNLESS_EMPTY = "any sequence, but sequence 0 where nothing was ever written"


class EmulatedVersion(NamedTuple):
    """The producer rules of one Kafka version.

    batches_remembered: how many of a producer's newest batches are recognised when they come again.
    older_than_remembered: the answer to a batch that lies before all of them.
    sequence_after_marker: the answer to a sequence other than 0 of a producer of whom only a marker is left.
    """

    name: str
    batches_remembered: int
    unknown_producer: UnknownProducerRule
    older_than_remembered: ErrorCode
    sequence_after_marker: ErrorCode

    @classmethod
    def parse(cls, text: str) -> EmulatedVersion:
        """Return the rules of the version that text names, "major.minor" and perhaps more.

        Raises ValueError for a text that is no version, and for one before 0.11 or after 4.5.
        """
        parts = text.split(".")
        if len(parts) < 2 or not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(f"not a Kafka version: {text!r}; one is written like {_DEFAULT}")
        version = (int(parts[0]), int(parts[1]))
        if not (0, 11) <= version <= _NEWEST:
            raise ValueError(f"no producer rules are known of Kafka {text}; those of 0.11 to 4.5 are")
        return cls(
            name=text,
            batches_remembered=1 if version < (1, 0) else 5,
            unknown_producer=_unknown_producer_rule(version),
            older_than_remembered=(
                ErrorCode.DUPLICATE_SEQUENCE_NUMBER if version == (1, 0) else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            ),
            sequence_after_marker=(
                ErrorCode.UNKNOWN_PRODUCER_ID if (2, 1) <= version < (2, 5) else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            ),
        )

    @classmethod
    def latest(cls) -> EmulatedVersion:
        """Return the rules of the Kafka that everything else here follows."""
        return cls.parse(_DEFAULT)


def _unknown_producer_rule(version: tuple[int, int]) -> UnknownProducerRule:
    if version < (1, 0):
        return UnknownProducerRule.OUT_OF_ORDER_UNLESS_ZERO
    if version < (2, 5):
        return UnknownProducerRule.UNKNOWN_UNLESS_ZERO
    if version < (4, 5):
        return UnknownProducerRule.ANY_SEQUENCE
    return UnknownProducerRule.ANY_SEQUENCE_UNLESS_EMPTY
