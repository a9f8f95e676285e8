"""The release of Kafka that a cluster follows: 0.11 to 4.5, with the producer state rules of each.

The versions of the APIs and the features follow from `release` (protocol/apis/api.py, broker/metadata/features.py).
Source: ProducerStateManager and Log of the tags 0.11.0.0 to 4.3.0; KAFKA-5494, KAFKA-5793, KAFKA-6683, KAFKA-7298,
KIP-360; KAFKA-15591 for 4.5.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ...protocol.apis.api import DEFAULT_RELEASE, Release
from ...protocol.error_codes import ErrorCode
from ...protocol.release_rules import ReleaseRules, rules_of

# The newest supported version.
_NEWEST = (4, 5)
_DEFAULT = ".".join(map(str, DEFAULT_RELEASE))


class UnknownProducerRule(Enum):
    """Which first sequence a partition accepts from a producer without an entry."""

    OUT_OF_ORDER_UNLESS_ZERO = "sequence 0, or OUT_OF_ORDER_SEQUENCE_NUMBER"
    UNKNOWN_UNLESS_ZERO = "sequence 0, or UNKNOWN_PRODUCER_ID"
    ANY_SEQUENCE = "any sequence"
    ANY_SEQUENCE_UNLESS_EMPTY = "any sequence, but sequence 0 where nothing was ever written"


class EmulatedVersion(NamedTuple):
    """The release and the producer rules of one Kafka version.

    name: as given, such as "4.4.0".
    batches_retained: the number of batches per producer that are recognised as duplicates.
    older_than_retained: the error for a batch before all of them.
    sequence_after_marker: the error for a sequence other than 0 if only a marker of the producer is left.
    orders_without_epoch: whether the sequences of a producer id in epoch -1 must follow each other (until KIP-360).
    keeps_deleted_producers: whether a producer keeps its state when all of its batches are deleted (KAFKA-7190).
    release: its major and minor version.
    rules: what else the release decides differently.
    """

    name: str
    batches_retained: int
    unknown_producer: UnknownProducerRule
    older_than_retained: ErrorCode
    sequence_after_marker: ErrorCode
    orders_without_epoch: bool
    keeps_deleted_producers: bool
    release: Release
    rules: ReleaseRules

    @classmethod
    def parse(cls, text: str) -> EmulatedVersion:
        """Return the rules of version text, "major.minor" or longer.

        Raises ValueError if text is not a version, or is below 0.11 or above 4.5.
        """
        parts = text.split(".")
        if len(parts) < 2 or not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(f"not a Kafka version: {text!r}; expected a version like {_DEFAULT}")
        version = (int(parts[0]), int(parts[1]))
        if not (0, 11) <= version <= _NEWEST:
            raise ValueError(f"the producer rules of Kafka {text} are not supported; supported are 0.11 to 4.5")
        return cls(
            name=text,
            batches_retained=1 if version < (1, 0) else 5,
            unknown_producer=_unknown_producer_rule(version),
            older_than_retained=(
                ErrorCode.DUPLICATE_SEQUENCE_NUMBER if version == (1, 0) else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            ),
            sequence_after_marker=(
                ErrorCode.UNKNOWN_PRODUCER_ID if (2, 1) <= version < (2, 5) else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            ),
            orders_without_epoch=version < (2, 5),
            keeps_deleted_producers=version >= (2, 4),
            release=version,
            rules=rules_of(version),
        )

    @classmethod
    def latest(cls) -> EmulatedVersion:
        """Return the rules of Kafka 4.4, the version that fauxka follows by default."""
        return cls.parse(_DEFAULT)


def _unknown_producer_rule(version: tuple[int, int]) -> UnknownProducerRule:
    if version < (1, 0):
        return UnknownProducerRule.OUT_OF_ORDER_UNLESS_ZERO
    if version < (2, 5):
        return UnknownProducerRule.UNKNOWN_UNLESS_ZERO
    if version < (4, 5):
        return UnknownProducerRule.ANY_SEQUENCE
    return UnknownProducerRule.ANY_SEQUENCE_UNLESS_EMPTY
