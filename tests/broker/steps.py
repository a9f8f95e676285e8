"""Takes the steps of a handler that is called without a broker around it."""

from collections.abc import Coroutine
from typing import TypeVar

from fauxka.broker.runtime.deferred import Deferred
from fauxka.broker.runtime.long_work import Step

Result = TypeVar("Result")


def result_of(steps: Coroutine[Step, object, Result | Deferred[Result]]) -> Result:
    """Take all steps at once, and return their result. Nothing may wait: neither for a thread nor for a disk."""
    try:
        while True:
            assert steps.send(None) is None, "in memory nothing waits"
    except StopIteration as end:
        result: Result | Deferred[Result] = end.value
        assert not isinstance(result, Deferred), "in memory nothing waits"
        return result
