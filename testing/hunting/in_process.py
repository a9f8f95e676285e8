"""The hunt for programs of this process: functions and coroutine functions that get the broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from .arguments import How, options_of
from .budget import Budget
from .errors import StoppedEarly
from .functions import CheckFunction, Function
from .hunt_program import hunt_program
from .options import Options
from .report import report_text
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
    check: a function or a coroutine function, called after a run that has ended well, without faults, for 60 s at most;
    any exception says that the result is wrong.
    how: see How; the default of budget is 60 s.
    Raises CannotHunt if `run` fails without a fault or differs from call to call, BadHuntOption, as Broker does, and
    KeyboardInterrupt with the report so far if a person has stopped the hunt.
    """
    options = options_of(how, None if check is None else CheckFunction(check), BUDGET)
    return hunt_function(Function(run), options)


def hunt_function(function: Function, options: Options) -> Result:
    """Hunt a function. Raises CannotHunt, and KeyboardInterrupt: what called the hunt is to be stopped too."""
    try:
        result = hunt_program(function, options)
    except StoppedEarly as error:
        raise KeyboardInterrupt(str(error)) from None
    if result.is_stopped:
        raise KeyboardInterrupt(report_text(result))
    return result
