"""The hunt for programs of this process: functions and coroutine functions that get the broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from .arguments import How, options_of
from .budget import Budget
from .functions import CheckFunction, Function
from .hunt_program import hunt_program
from .result import Result

if TYPE_CHECKING:
    from ..broker import Broker

BUDGET = Budget(seconds=60)


def hunt(
    run: Callable[[Broker], object], check: Callable[[Broker], object] | None = None, **how: Unpack[How]
) -> Result:
    """Call `run` with a broker of its own for each fault that its requests can meet, and return what broke it.

    result = hunt(send_orders, topics=["orders"])
    assert not result.findings, report_text(result)

    run: a function or a coroutine function. An AssertionError says that its result is wrong; another exception is an
    error that it reports. It is called in a thread, in `jobs` threads at a time.
    check: called after a run that has ended well, without faults; any exception says that the result is wrong.
    how: see How; the default of budget is 60 s.
    Raises CannotHunt if `run` fails without a fault or differs from call to call, BadHuntOption, and as Broker does.
    """
    options = options_of(how, None if check is None else CheckFunction(check), BUDGET)
    return hunt_program(Function(run), options)
