"""The server's side of a TLS handshake: a failed one sends its alert before the connection closes, as Kafka does.

OpenSSL leaves the alert in a buffer that asyncio and uvloop write only while the handshake goes on. So a failed step is
reported to them as one that needs more bytes, and the task of the handshake is cancelled in the next turn of the loop.
Without the alert a client cannot tell a missing certificate from a broken connection, and Java's client tries again.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")

# Called with the error of a failed handshake. The callbacks of a transport run in a copy of the context of its task.
_handshake_failed: ContextVar[Callable[[ssl.SSLError], None]] = ContextVar("handshake_failed")


class AlertingSSLObject(ssl.SSLObject):
    """One connection of a context whose sslobject_class this is."""

    def do_handshake(self) -> None:
        """Take a step of the handshake. Raises SSLWantReadError for a failed one in with_alert, else SSLError."""
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLSyscallError):
            raise
        except ssl.SSLError as error:
            report = _handshake_failed.get(None)
            if report is None:
                raise
            report(error)
            raise ssl.SSLWantReadError from error


async def with_alert(connecting: Coroutine[object, object, Result]) -> Result:
    """Return the result of connect_accepted_socket. Raises SSLError for a failed handshake, after the alert is written.

    The current task must end then.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None, "a coroutine runs in a task"
    failures: list[ssl.SSLError] = []

    def report(error: ssl.SSLError) -> None:
        failures.append(error)
        loop.call_soon(task.cancel)

    _handshake_failed.set(report)
    try:
        return await connecting
    except asyncio.CancelledError:
        if not failures:
            raise
        error = failures.pop()
        try:
            raise error from None
        finally:
            # Its traceback has this frame, and would keep everything of the handshake in a cycle.
            del error
