"""Attempts of requests to an object store.

A store throttles its clients (HTTP status 503 or 429), fails for a moment (500, 502, 504), or drops connections. A
request that reads, lists or writes a whole object can be sent again, after a pause that grows and varies, so that the
tasks of a job do not come back all at once. What sending again does not mend, such as a missing object or a denied
access, fails at once.

The loop is written here, because the workers of a cluster would need any library for it.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from errno import EIO
from typing import TypeVar

from ..bad_option import BadOption

# The variable of Amazon's clients.
ATTEMPTS_VARIABLE = "AWS_MAX_ATTEMPTS"
ATTEMPTS_DEFAULT = 12
# A store that sends no response to a listing is most often a wrong address: a listing is the first request of a job.
UNANSWERED_ATTEMPTS_MAX = 3

# The first pause is at most this long, and each later one at most twice as long as the last.
_PAUSE_SECONDS_FIRST = 0.1
_PAUSE_SECONDS_MAX = 5.0

Result = TypeVar("Result")


class StoreFailure(OSError):
    """A failure of a store. is_passing: whether sending the request again may help.

    has_response: whether the store is known to have sent a response.
    """

    is_passing = False
    has_response = False


@dataclass(frozen=True, slots=True)
class Waits:
    """How many requests were sent again, and for how many seconds they waited."""

    count: int = 0
    seconds: float = 0.0

    def plus(self, other: Waits) -> Waits:
        """Return the sum of both."""
        return Waits(self.count + other.count, self.seconds + other.seconds)

    def since(self, earlier: Waits) -> Waits:
        """Return those that came after earlier ones."""
        return Waits(self.count - earlier.count, self.seconds - earlier.seconds)


@dataclass
class _Counted:
    """The waits of this process."""

    waits: Waits = field(default_factory=Waits)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, seconds: float) -> None:
        with self.lock:
            self.waits = Waits(self.waits.count + 1, self.waits.seconds + seconds)


_counted = _Counted()


def waits_of_process() -> Waits:
    """Return the waits of this process so far."""
    return _counted.waits


def parse_attempts(name: str, text: str) -> int:
    """Return the number of attempts in a text. name: of the option or variable, for the BadOption."""
    if not text.isdecimal() or int(text) < 1:
        raise BadOption(f"{name}: must be a whole number of 1 or more, not {text}")
    return int(text)


def attempts_of_environment() -> int:
    """Return the attempts of AWS_MAX_ATTEMPTS, or ATTEMPTS_DEFAULT. Raises BadOption."""
    text = os.environ.get(ATTEMPTS_VARIABLE)
    return ATTEMPTS_DEFAULT if not text else parse_attempts(ATTEMPTS_VARIABLE, text)


def attempted(call: Callable[[], Result], attempts_max: int, *, unanswered_max: int | None = None) -> Result:
    """Return what a call returns, which is made again after a StoreFailure that is_passing. Raises the last failure.

    unanswered_max: the attempts without a response; default is attempts_max.
    """
    unanswered = 0
    pause_max = _PAUSE_SECONDS_FIRST
    for _ in range(attempts_max - 1):
        try:
            return call()
        except StoreFailure as failure:
            unanswered += not failure.has_response
            if not failure.is_passing or unanswered >= (unanswered_max or attempts_max):
                raise
        pause = random.uniform(pause_max / 2, pause_max)
        _counted.add(pause)
        time.sleep(pause)
        pause_max = min(2 * pause_max, _PAUSE_SECONDS_MAX)
    return call()


def passing_failure(reason: str, uri: str, *, has_response: bool) -> StoreFailure:
    """Return a failure that sending the request again may mend."""
    failure = StoreFailure(EIO, reason, uri)
    failure.is_passing = True
    failure.has_response = has_response
    return failure
