"""What a program promises of each event."""

from __future__ import annotations

from enum import Enum

from .errors import BadHuntOption


class Promise(Enum):
    """What the program promises of each event.

    AT_LEAST_ONCE_IN_ORDER: a key never goes back, unless all that follows is repeated, too.
    EFFECTIVELY_ONCE: the last event of each key, which is its state, is the right one.
    """

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_LEAST_ONCE_IN_ORDER = "at-least-once-in-order"
    EFFECTIVELY_ONCE = "effectively-once"
    AT_MOST_ONCE = "at-most-once"

    @property
    def allows_doubles(self) -> bool:
        """Whether an event may be there again, and a record may be processed again."""
        return self not in (Promise.EXACTLY_ONCE, Promise.AT_MOST_ONCE)


PROMISES = [promise.value for promise in Promise]


def promise_of(text: str, name: str = "--expect") -> Promise:
    """Return the promise. Raises BadHuntOption with the name."""
    try:
        return Promise(text)
    except ValueError:
        raise BadHuntOption(f"{name}: {text!r} is no promise; allowed: {', '.join(PROMISES)}") from None
