"""What a program promises of each event."""

from __future__ import annotations

from enum import Enum

from .errors import BadHuntOption


class Promise(Enum):
    """What the program promises of each event."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"


def promise_of(text: str, name: str = "--expect") -> Promise:
    """Return the promise. Raises BadHuntOption with the name."""
    try:
        return Promise(text)
    except ValueError:
        allowed = ", ".join(promise.value for promise in Promise)
        raise BadHuntOption(f"{name}: {text!r} is no promise; allowed: {allowed}") from None
