"""The first broker of a list of addresses that can be reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from .errors import ConnectionFailed

Address = tuple[str, int]
Result = TypeVar("Result")


def connect_to_first(addresses: Sequence[Address], connect: Callable[[str, int], Result]) -> Result:
    """Return the result of connect for the first address for which it does not raise ConnectionFailed.

    addresses: at least one. Raises ConnectionFailed of the last address, and AuthenticationFailed of the first one that
    refuses the login.
    """
    *others, last = addresses
    for host, port in others:
        with suppress(ConnectionFailed):
            return connect(host, port)
    return connect(*last)
