"""The producer rules of Kafka versions."""

from __future__ import annotations

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.producers.emulated_version import EmulatedVersion, UnknownProducerRule

OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize(
    ("names", "batches", "rule", "older"),
    [
        (["0.11", "0.11.0.3"], 1, UnknownProducerRule.OUT_OF_ORDER_UNLESS_ZERO, OUT_OF_ORDER),
        (["1.0", "1.0.2"], 5, UnknownProducerRule.UNKNOWN_UNLESS_ZERO, ErrorCode.DUPLICATE_SEQUENCE_NUMBER),
        (["1.1", "2.0", "2.4", "2.4.1"], 5, UnknownProducerRule.UNKNOWN_UNLESS_ZERO, OUT_OF_ORDER),
        (["2.5", "3.9", "4.3", "4.3.0", "4.4"], 5, UnknownProducerRule.ANY_SEQUENCE, OUT_OF_ORDER),
        (["4.5"], 5, UnknownProducerRule.ANY_SEQUENCE_UNLESS_EMPTY, OUT_OF_ORDER),
    ],
)
def test_consecutive_versions_share_rules(
    names: list[str], batches: int, rule: UnknownProducerRule, older: ErrorCode
) -> None:
    versions = [EmulatedVersion.parse(name) for name in names]

    assert [version.name for version in versions] == names
    assert {(each.batches_retained, each.unknown_producer, each.older_than_retained) for each in versions} == {
        (batches, rule, older)
    }


def test_default_version_is_4_4() -> None:
    assert EmulatedVersion.latest() == EmulatedVersion.parse("4.4")


@pytest.mark.parametrize("text", ["", "4", "four", "4.x", "-4.3", "4..3", "4.3 "])
def test_text_that_is_not_a_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kafka version"):
        EmulatedVersion.parse(text)


@pytest.mark.parametrize("text", ["0.10", "4.6", "5.0"])
def test_unsupported_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"supported are 0\.11 to 4\.5"):
        EmulatedVersion.parse(text)
