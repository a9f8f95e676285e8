"""Waits for the first bytes of a client on a listener with TLS, before anything of TLS is created for it.

A handshake has buffers of about 50 KB. A client that sends nothing has a socket only, until its time is over. A client
that speaks Kafka without TLS is recognised by its first byte, and its connection is closed at once.
"""

from __future__ import annotations

import asyncio
import socket

# The content type of a TLS record with a handshake (RFC 8446, section 5.1). A request of Kafka begins with its size,
# and one of this byte would be longer than any broker accepts.
_HANDSHAKE = 0x16
# asyncio refuses a timeout of 0.
_SECONDS_MIN = 0.001


# The unread bytes of a socket that is closed make the system send a RST, which its client cannot tell from a crash.
_DISCARDED_BYTES_MAX = 64 * 1024


async def wait_for_client_hello(accepted: socket.socket, seconds_max: float) -> float:
    """Return when a client begins a TLS handshake; its bytes stay unread. Returns the rest of seconds_max, above 0.

    accepted: does not block. Raises OSError: TimeoutError after seconds_max, and ConnectionAbortedError if the client
    closes the connection or begins with other bytes.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds_max
    try:
        async with asyncio.timeout_at(deadline):
            await _wait_readable(accepted)
    except TimeoutError as error:
        raise TimeoutError(f"the client began no TLS handshake in {seconds_max:.0f} s") from error
    first = accepted.recv(1, socket.MSG_PEEK)
    if not first:
        raise ConnectionAbortedError("the client closed it before the TLS handshake")
    if first[0] != _HANDSHAKE:
        accepted.recv(_DISCARDED_BYTES_MAX)
        raise ConnectionAbortedError("the client does not use TLS, and the listener does")
    return max(deadline - loop.time(), _SECONDS_MIN)


async def _wait_readable(accepted: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(accepted.fileno(), _set, readable)
    try:
        await readable
    finally:
        loop.remove_reader(accepted.fileno())


def _set(readable: asyncio.Future[None]) -> None:
    if not readable.done():
        readable.set_result(None)
