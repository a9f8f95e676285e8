"""The option --as-of."""

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.option_time import milliseconds_of

NOON_MS = 1_767_268_800_000


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T12:00:00Z",
        "2026-01-01T13:00:00+01:00",
        "2026-01-01 12:00",
        "1767268800000",
    ],
)
def test_a_time_is_iso_8601_or_milliseconds(text: str) -> None:
    assert milliseconds_of(text) == NOON_MS


@pytest.mark.parametrize("text", ["", "noon", "2026-13-01", "-5", "1e12", "9" * 30])
def test_an_invalid_time_is_an_error(text: str) -> None:
    with pytest.raises(BadOption, match="as-of: must be a time such as"):
        milliseconds_of(text)
