"""A time as it is given on a command line."""

from __future__ import annotations

from datetime import UTC, datetime

from .bad_option import BadOption

# 9999-12-31, behind which there is no calendar.
_MILLISECONDS_MAX = 253_402_300_799_999


def milliseconds_of(text: str) -> int:
    """Return a time in milliseconds since 1970: as such a number, or in the words of ISO 8601, UTC unless they say.

    Raises BadOption.
    """
    if text.isdecimal() and int(text) <= _MILLISECONDS_MAX:
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise BadOption(f"as-of: a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970, not {text}") from None
    return round((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp() * 1000)
