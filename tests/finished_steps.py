"""Work in steps, all at once."""

from typing import TypeVar, cast

from fauxka.faults.work_steps import Steps

Result = TypeVar("Result")


def finished(steps: Steps[Result]) -> Result:
    """Return the result of the last step."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(Result, end.value)
