"""A connection that sends frames, several at a time, and checks every response to a whole frame.

A response must have the correlation id of a pending request, in the order of the requests, and decode to its last byte.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from random import Random
from typing import cast

from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.frames import FrameError
from fauxka.protocol.message import Message
from fauxka.protocol.primitives import Reader

from .frames import HEADER, RELEASE, SIZE, Frame

# The connection sends its next frames if nothing arrives for so long: some requests wait, and some have no response.
SILENCE_SECONDS_MAX = 0.1
FRAMES_OF_A_CONNECTION = (1, 5, 20, 40, 80)
FRAMES_AT_ONCE = (1, 1, 3, 8, 20)
RESET_SHARE, CUT_SHARE = 0.1, 0.1
# Larger responses are not decoded, because that takes longer than all others together.
DECODED_BYTES_MAX = 64 * 1024
_DO_NOT_LINGER = struct.pack("ii", 1, 0)


class WrongResponse(Exception):
    """A response that no request has, or that does not decode."""


@dataclass(slots=True)
class Flight:
    """Frames that were written together, and when. ended: when all had a response or the broker had closed."""

    frames: Sequence[Frame]
    sent: float
    ended: float = float("inf")


@dataclass(slots=True)
class Counts:
    """How many frames of an API were sent, had a response, and were the oldest one without when the broker closed."""

    sent: int = 0
    answered: int = 0
    closed: int = 0


@dataclass(slots=True)
class Tally:
    """What the connections of a run did. The counts are by the API that was drawn."""

    counts: dict[str, Counts] = field(default_factory=dict[str, Counts])
    connections: int = 0
    flights: list[Flight] = field(default_factory=list[Flight])

    def of(self, frame: Frame) -> Counts:
        return self.counts.setdefault(frame.api.name, Counts())


class FuzzedConnection(asyncio.Protocol):
    """The client's side of one connection.

    is_in_step: whether all frames so far had their size, so that the broker reads each as it was sent.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._pending: deque[Frame] = deque()
        self._arrived = asyncio.Event()
        self._after_wrong_size: list[Frame] = []
        self.is_in_step = True
        self.is_closed = False
        self.failure: WrongResponse | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._tally.connections += 1

    def data_received(self, data: bytes) -> None:
        self._received += data
        position = 0
        while position + SIZE.size <= len(self._received):
            (size,) = SIZE.unpack_from(self._received, position)
            end = position + SIZE.size + size
            if end > len(self._received):
                break
            self._response(bytes(self._received[position + SIZE.size : end]))
            position = end
        del self._received[:position]
        self._arrived.set()

    @property
    def unread(self) -> list[Frame]:
        """The frames after the one for which the broker closed the connection, or after one with a wrong size."""
        return list(self._after_wrong_size) if not self.is_in_step else list(self._pending)[1:]

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.is_closed and self._pending:
            self._tally.of(self._pending[0]).closed += 1
        self.is_closed = True
        self._arrived.set()

    def _response(self, response: bytes) -> None:
        if self.failure is not None:
            return
        (correlation_id,) = SIZE.unpack_from(response)
        while self._pending:
            frame = self._pending.popleft()
            if frame.correlation_id == correlation_id:
                self._tally.of(frame).answered += 1
                problem = problem_of(frame, response)
                if problem is not None:
                    self.failure = WrongResponse(f"{problem} in the response to {frame}: {response[:2000].hex()}")
                return
        if self.is_in_step:
            self.failure = WrongResponse(f"no request has correlation id {correlation_id}: {response[:200].hex()}")

    async def send(self, frames: Sequence[Frame]) -> None:
        """Write frames together, and return when all have a response, the broker has closed, or nothing arrives."""
        assert self._transport is not None
        flight = Flight(frames, time.monotonic())
        self._tally.flights.append(flight)
        for number, frame in enumerate(frames):
            self._pending.append(frame)
            if not frame.is_whole:
                self._after_wrong_size = list(frames[number + 1 :])
                self.is_in_step = False
                break
        self._transport.write(b"".join(frame.data for frame in frames))
        while self._pending and not self.is_closed and self.failure is None:
            self._arrived.clear()
            try:
                await asyncio.wait_for(self._arrived.wait(), SILENCE_SECONDS_MAX)
            except TimeoutError:
                break
        if not self._pending or self.is_closed:
            flight.ended = time.monotonic()

    def write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)

    def end(self, *, is_reset: bool) -> None:
        """Close the connection, perhaps with a RST."""
        assert self._transport is not None
        if is_reset:
            sock: socket.socket | None = self._transport.get_extra_info("socket")
            if sock is not None and not self.is_closed:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DO_NOT_LINGER)
        self.is_closed = True
        self._transport.abort()


class FuzzedClient:
    """Sends frames over one connection after the other: a new one after each that the broker closes."""

    def __init__(self, address: str, random: Random, tally: Tally) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))
        self._random = random
        self._tally = tally
        self._connection: FuzzedConnection | None = None

    async def run(self, frames: Sequence[Frame]) -> None:
        """Send all frames. Raises WrongResponse, and OSError if it cannot connect."""
        try:
            waiting = deque(frames)
            while waiting:
                count = min(self._random.choice(FRAMES_AT_ONCE), len(waiting))
                unread = await self._send([waiting.popleft() for _ in range(count)])
                waiting.extendleft(reversed(unread))
            if self._connection is not None and self._random.random() < CUT_SHARE:
                data = frames[-1].data
                self._connection.write(data[: self._random.randrange(1, len(data) + 1)])
        finally:
            self._close()

    async def _send(self, frames: Sequence[Frame]) -> Sequence[Frame]:
        """Send frames together, and return those after the one for which the broker closed."""
        connection = self._connection
        if connection is None:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(lambda: FuzzedConnection(self._tally), *self._address)
            self._connection = connection
        await connection.send(frames)
        if connection.failure is not None:
            raise connection.failure
        if not connection.is_closed and connection.is_in_step:
            return ()
        self._close()
        return connection.unread

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.end(is_reset=self._random.random() < RESET_SHARE)
            self._connection = None


def problem_of(frame: Frame, response: bytes) -> str | None:
    """Return what is wrong with the response to a frame; None if it decodes."""
    api_key, version, _ = HEADER.unpack_from(frame.data, SIZE.size)
    api = APIS.get(api_key)
    if api is None or len(response) > DECODED_BYTES_MAX:
        return None if api is not None else f"api key {api_key} is not served"
    if version not in api.versions.in_release(RELEASE):
        if api.key is not ApiKey.API_VERSIONS:
            return f"version {version} is not served"
        version = 0
    reader = Reader(response, SIZE.size)
    try:
        if version >= api.versions.flexible_since and api.key is not ApiKey.API_VERSIONS:
            reader.skip_tagged_fields()
        _response_class(api).read(reader, version)
    except FrameError as error:
        # The codecs of Produce and Fetch compare the names of topics as bytes, and return those of the request.
        is_own_name = api.key in (ApiKey.PRODUCE, ApiKey.FETCH) and "is not UTF-8" in str(error)
        return None if is_own_name else str(error)
    return f"{reader.remaining} bytes after the end" if reader.remaining else None


@cache
def _response_class(api: Api) -> type[Message]:
    return cast(
        "type[Message]", getattr(import_module(f"fauxka.protocol.messages.{api.module}"), f"{api.name}Response")
    )
