"""The TLS handshake of an accepted socket. Nothing of TLS is created before the client has sent its first bytes.

A handshake has buffers of about 50 KB. A client that sends nothing has a socket only, until its time is over. A client
that speaks Kafka without TLS is recognised by its first byte, and its connection is closed at once.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from ssl import SSLContext

from ..security.tls.alerting_handshake import with_alert

# The content type of a TLS record with a handshake (RFC 8446, section 5.1). A request of Kafka begins with its size,
# and one of this byte would be longer than any broker accepts.
_HANDSHAKE = 0x16
# asyncio refuses a timeout of 0.
_SECONDS_MIN = 0.001
# The unread bytes of a socket that is closed make the system send a RST, which its client cannot tell from a crash.
_DISCARDED_BYTES_MAX = 64 * 1024


async def connect_with_tls(
    make_protocol: Callable[[], asyncio.BufferedProtocol],
    accepted: socket.socket,
    context: SSLContext,
    seconds_max: float,
) -> None:
    """Give a socket a transport with TLS. Its task must end if that fails.

    accepted: does not block. seconds_max: of the handshake. Raises OSError, of which SSLError is one.
    """
    left = await _wait_for_client_hello(accepted, seconds_max)
    loop = asyncio.get_running_loop()
    await with_alert(loop.connect_accepted_socket(make_protocol, accepted, ssl=context, ssl_handshake_timeout=left))


async def _wait_for_client_hello(accepted: socket.socket, seconds_max: float) -> float:
    """Return when a client begins a TLS handshake; its bytes stay unread. Returns the rest of seconds_max, above 0.

    Raises OSError: TimeoutError after seconds_max, and ConnectionAbortedError if the client
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
