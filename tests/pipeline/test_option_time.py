"""Times on the command line."""

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
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(BadOption, match="as-of: must be a time such as"):
        milliseconds_of(text)
