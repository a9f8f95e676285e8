"""Marks of methods that tools/async_methods.py reads; they change nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Method = TypeVar("Method", bound=Callable[..., object])


def blocking_only(method: Method) -> Method:
    """Mark a method that the class for an event loop does not have, because Python calls it and cannot await it."""
    return method


def arms(method: Method) -> Method:
    """Mark a method that returns the handle of a rule: for an event loop an Arming, for `await` or `async with`."""
    return method
