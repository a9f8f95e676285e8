"""The errors of this package, and tracebacks that end in the line of the caller.

Every error for a wrong argument or call is a FauxkaError:

- RuleError: an invalid rule, recipe argument, filter or value; `field`, `value` and `allowed` are attributes.
- CallError: a call that the state of the broker does not allow, with the status that the admin API responds with.
- WaitTimeoutError: fewer hits than expected within the timeout; a CallError and a TimeoutError.
- ConfigError: a config that Kafka would refuse. UnknownConfigKey: a key that does not exist.
- BrokerStateError: a call before the start or after the stop.

A public class of this package is decorated with `ends_in_caller`. pytest hides a frame with __tracebackhide__, so its
report of such an error ends in the line of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property, wraps
from inspect import iscoroutinefunction
from types import FunctionType
from typing import ParamSpec, TypeVar, cast

from .. import FauxkaError
from ..admin.errors import CallError, WaitTimeoutError
from ..broker.config.config_types import ConfigError, UnknownConfigKey
from ..faults.rule_error import RuleError

__all__ = [
    "BrokerStateError",
    "CallError",
    "ConfigError",
    "FauxkaError",
    "RuleError",
    "UnknownConfigKey",
    "WaitTimeoutError",
    "ends_in_caller",
]

AnyClass = TypeVar("AnyClass", bound=type)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# The special methods that a caller uses. `with` calls __exit__, whose errors must not hide the error of the block.
_SPECIAL_METHODS = frozenset({"__init__", "__enter__", "__aenter__", "__getitem__", "__contains__", "__iter__"})


class BrokerStateError(FauxkaError, RuntimeError):
    """A call that needs a running broker, before its start or after its stop; or a second start."""


def ends_in_caller(decorated: AnyClass) -> AnyClass:
    """Decorate a class: a FauxkaError of a public method or property has no frames of this package in pytest."""
    for name, value in list(vars(decorated).items()):
        if name in _SPECIAL_METHODS or not name.startswith("_"):
            setattr(decorated, name, _hidden(value))
            if isinstance(value, cached_property):
                vars(decorated)[name].__set_name__(decorated, name)
    return decorated


def _hidden(value: object) -> object:
    """Return a member of a class with its frames hidden; a member that is not called is returned as it is."""
    if isinstance(value, FunctionType):
        return hide_async_frames(value) if iscoroutinefunction(value) else hide_frames(value)
    if isinstance(value, property):
        getter = cast("Callable[[object], object] | None", value.fget)
        return value if getter is None else value.getter(hide_frames(getter))
    if isinstance(value, cached_property):
        return cached_property(hide_frames(cast("Callable[[object], object]", value.func)))
    return value


def hide_frames(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return function, with a traceback that begins here for each FauxkaError that it raises."""

    @wraps(function)
    def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        __tracebackhide__ = True
        try:
            return function(*arguments, **keywords)
        except FauxkaError as error:
            raise error.with_traceback(None) from None

    return call


def hide_async_frames(
    function: Callable[Parameters, Coroutine[object, object, Result]],
) -> Callable[Parameters, Coroutine[object, object, Result]]:
    """Return a coroutine function, with a traceback that begins here for each FauxkaError that it raises."""

    @wraps(function)
    async def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        __tracebackhide__ = True
        try:
            return await function(*arguments, **keywords)
        except FauxkaError as error:
            raise error.with_traceback(None) from None

    return call
