"""The response of a plain handler that has appended records to the log of a coordinator.

A handler that is a coroutine awaits `flushed` itself. A plain one returns `after_flush`. Such a handler stays plain for
speed: without flush.messages nothing has to be awaited, and a coroutine would add a fifth to the cost of a heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TypeVar

from ...protocol.error_codes import ErrorCode
from ..runtime.deferred import Deferred
from ..runtime.long_work import Step

R = TypeVar("R")


def after_flush(
    flushed: Deferred[ErrorCode], response: R, make_error: Callable[[ErrorCode], R]
) -> R | Coroutine[Step, object, R]:
    """Return the response, which has to be awaited while the flush is pending; the response with its error if it fails.

    flushed: of the coordinator.
    """
    return response if flushed.response() is ErrorCode.NONE else _respond(flushed, response, make_error)


async def _respond(flushed: Deferred[ErrorCode], response: R, make_error: Callable[[ErrorCode], R]) -> R:
    error_code = await flushed
    return make_error(error_code) if error_code else response
