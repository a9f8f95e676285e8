"""Call interfaces for the broker's thread, the only one that may access the broker's state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ..admin.control import Control

Result = TypeVar("Result")

# The default wait of a test. Events that happen at all happen within milliseconds.
AWAIT_TIMEOUT_MS = 5_000


class Call(Protocol):
    """Runs a function on the broker's thread."""

    def __call__(self, function: Callable[[], Result], /) -> Result:
        """Return the result of function, or raise its exception."""
        ...


class ControlCall(Protocol):
    """Runs a function with the broker's Control on the broker's thread."""

    def __call__(self, function: Callable[[Control], Result], /) -> Result:
        """Return the result of function, or raise its exception."""
        ...
