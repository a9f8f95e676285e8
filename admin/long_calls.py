"""Calls that take long run in slices between the requests of clients, by the rules of broker/runtime/long_work."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, TypeVar, cast

from ..broker.runtime.deferred import Deferred
from ..broker.runtime.long_work import Step
from ..faults.rule_error import InvalidValueError
from .control import Control
from .errors import CallError, conflict

if TYPE_CHECKING:
    Refusal = CallError | InvalidValueError

Result = TypeVar("Result")

# The errors of calls that are no internal errors.
REFUSALS = (CallError, InvalidValueError)
# The name of the work in the log, in place of a connection.
CALLER = "a call of the admin API"


async def run_long_call(control: Control, work: Coroutine[Step, object, Result | Deferred[Result]]) -> Result:
    """Run the work in slices and return its result, or the result that it waits for.

    Raises the CallError or InvalidValueError of a step, and CallError 409 if the node crashes or is reset meanwhile.
    Without an event loop no client can be delayed: the caller takes the steps.
    """
    if not _has_event_loop():
        return cast("Result", await work)
    answered = cast("Coroutine[Step, object, Result | Refusal | Deferred[Result | Refusal]]", _with_refusal(work))
    result: object = control.node.long_work.run(answered, CALLER)
    if isinstance(result, Deferred):
        result = await _completed(cast("Deferred[object]", result))
    outcome = cast("Result | Refusal", result)
    if isinstance(outcome, REFUSALS):
        raise outcome
    return outcome


def _has_event_loop() -> bool:
    """Whether a loop runs. That of a test has ended when the report of its failure is written."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def wait_until_saved(control: Control) -> None:
    """Wait until the metadata is saved. Raises CallError 409 if that fails; the change is in force all the same."""
    error = await control.cluster.controller.saved()
    if error is not None:
        raise conflict(error.message)


async def _with_refusal(work: Coroutine[Step, object, Result]) -> Result | Refusal:
    """Return the refusal of a step as its result: long work logs what a later step raises as an internal error."""
    try:
        return await work
    except REFUSALS as error:
        return error


async def _completed(deferred: Deferred[Result]) -> Result:
    done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    def complete(result: Result) -> None:
        if not done.done():
            done.set_result(result)

    def fail() -> None:
        if not done.done():
            done.set_exception(conflict("the node has crashed, was reset, or failed; its log has the reason"))

    deferred.deliver_to(complete, fail)
    return await done
