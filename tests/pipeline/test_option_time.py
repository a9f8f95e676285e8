"""Times in options."""

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.option_time import duration_ms, milliseconds_of

NOON_MS = 1_767_268_800_000
NOW_MS = NOON_MS + 36 * 3_600_000


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T12:00:00Z",
        "2026-01-01T13:00:00+01:00",
        "2026-01-01 12:00",
        "1767268800000",
        "36h",
        "129600s",
    ],
)
def test_a_time_is_iso_8601_or_milliseconds_or_a_duration(text: str) -> None:
    assert milliseconds_of("as-of", text, NOW_MS) == NOON_MS


@pytest.mark.parametrize(
    "text", ["", "noon", "2026-13-01", "-5", "1e12", "9" * 30, "9" * 5000, "1767225600", "20260131", "1w", "h", "-1h"]
)
def test_an_invalid_time_is_an_error(text: str) -> None:
    with pytest.raises(BadOption, match=r"since: must be a time such as .* not "):
        milliseconds_of("since", text, NOW_MS)


@pytest.mark.parametrize(("text", "ms"), [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("1h", 3_600_000)])
def test_durations(text: str, ms: int) -> None:
    assert duration_ms("late-after", text) == ms


@pytest.mark.parametrize("text", ["", "5", "h", "-1s", "1.5h", "2026-01-31T12:00:00Z"])
def test_no_duration(text: str) -> None:
    with pytest.raises(BadOption, match="late-after: must be a duration such as 5m, in ms, s, m, h or d, not "):
        duration_ms("late-after", text)
