"""A rule that is about to be armed, for `await` and `async with`."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

Handle = TypeVar("Handle", bound=AbstractAsyncContextManager[Any])


class Arming(Generic[Handle]):
    """What a recipe returns on an event loop: `await` arms the rule and gives its handle.

    `async with faults.lost_ack(topic="orders") as rule:` arms it, and removes it at the end of the block.
    """

    def __init__(self, armed: Coroutine[Any, Any, Handle]) -> None:
        """armed: arms the rule and returns its handle."""
        self._armed = armed
        self._rule: Handle | None = None

    def __await__(self) -> Generator[Any, Any, Handle]:
        """Arm the rule, and return its handle."""
        return self._armed.__await__()

    async def __aenter__(self) -> Handle:
        """Arm the rule, and return its handle."""
        self._rule = await self._armed
        return self._rule

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the rule. A stopped broker has none."""
        if self._rule is not None:
            await self._rule.__aexit__(kind, error, trace)
