"""Parsing of times in options: --as-of, --since and --until, and of durations: --late-after."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from .bad_option import BadOption

# The end of 9999-12-31, the last day that datetime supports.
_MILLISECONDS_MAX = 253_402_300_799_999

# Such numbers are seconds since 1970, or a day such as 20260131; as milliseconds they would all be in early 1970.
_NO_MILLISECONDS = range(10_000_000, 100_000_000_000)

# Python reads no more than some thousand digits as a number.
_DIGITS_MAX = 100
_DURATION = re.compile(r"([0-9]{1,9})(ms|[smhd])")
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def milliseconds_of(name: str, text: str, now_ms: int) -> int:
    """Return the milliseconds since 1970 of a time. Raises BadOption.

    name: of the option, for the message. text: such milliseconds, an ISO 8601 time (UTC by default), or a duration
    before now_ms such as 24h (ms, s, m, h or d).
    """
    found = find_milliseconds(text, now_ms)
    if found is None:
        raise BadOption(
            f"{name}: must be a time such as 2026-01-31T12:00:00Z, milliseconds since 1970, or a duration such as 24h,"
            f" not {text}"
        )
    return found


def duration_ms(name: str, text: str) -> int:
    """Return the milliseconds of a duration such as 5m (ms, s, m, h or d). name: of the option. Raises BadOption."""
    duration = _DURATION.fullmatch(text)
    if duration is None:
        raise BadOption(f"{name}: must be a duration such as 5m, in ms, s, m, h or d, not {text}")
    return int(duration[1]) * _UNIT_MS[duration[2]]


def find_milliseconds(text: str, now_ms: int) -> int | None:
    """Return what milliseconds_of returns, or None for a text that is not a time."""
    if text.isdecimal():
        number = int(text) if len(text) <= _DIGITS_MAX else _MILLISECONDS_MAX + 1
        return None if number > _MILLISECONDS_MAX or number in _NO_MILLISECONDS else number
    duration = _DURATION.fullmatch(text)
    if duration is not None:
        return max(now_ms - int(duration[1]) * _UNIT_MS[duration[2]], 0)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp() * 1000)
