"""Parsing of the option --as-of."""

from __future__ import annotations

from datetime import UTC, datetime

from .bad_option import BadOption

# The end of 9999-12-31, the last day that datetime supports.
_MILLISECONDS_MAX = 253_402_300_799_999


def milliseconds_of(text: str) -> int:
    """Return milliseconds since 1970, from such a number or an ISO 8601 time (UTC by default). Raises BadOption."""
    if text.isdecimal() and int(text) <= _MILLISECONDS_MAX:
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        message = f"as-of: must be a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970, not {text}"
        raise BadOption(message) from None
    return round((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp() * 1000)
