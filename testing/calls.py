"""How the objects of a test reach a broker: on the thread of its event loop, where alone its state may be touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ..admin.control import Control

Result = TypeVar("Result")

# What a test waits for by default. It happens within milliseconds or not at all.
AWAIT_TIMEOUT_MS = 5_000


class Call(Protocol):
    """Runs a function on the broker's thread, and returns what it returns."""

    def __call__(self, function: Callable[[], Result], /) -> Result:
        """Run function; what it raises is raised."""
        ...


class Ask(Protocol):
    """Runs a function of the broker's Control on the broker's thread, and returns what it returns."""

    def __call__(self, function: Callable[[Control], Result], /) -> Result:
        """Run function; what it raises is raised."""
        ...
