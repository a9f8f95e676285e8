"""A connection of the admin API: uvicorn's, with limits for unfinished requests and unread responses.

A connection is in one of three phases:

- receiving: new, or with a part of a request. The request must be complete REQUEST_SECONDS_MAX after it began, which
  for a new connection is its first moment; more bytes do not extend the time. Then the response is 408, unless the
  response was sent before the end of the body, and the connection is closed.
- serving: the request is complete and its response is not. Waiting calls take as long as they ask for.
- idle: between two requests, for at most uvicorn's keep-alive time.

If `connections_max` are open, a new connection closes the oldest one that is receiving, else the oldest idle one: half
requests cannot keep other clients out. If all of them are serving, the new connection gets 503.

A request whose length is ambiguous is answered and ends the connection: request_framing has the rules.

A client that reads nothing of its response for STALLED_SECONDS_MAX is disconnected. All times are real time.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from http import HTTPStatus
from typing import Any, cast

import h11
import msgspec
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from .errors import CallError, too_many_connections, unfinished_request
from .operation import JSON
from .request_framing import find_framing_problem

# Time for the largest body at 52 KB/s. Half requests end within 30 s, also on a busy machine.
REQUEST_SECONDS_MAX = 20.0
# After a time in which the event loop was busy, its timers run before the bytes that arrived meanwhile are read.
LAST_BYTES_SECONDS = 0.5
# Without a byte of progress; a slow client that reads on gets its whole response.
STALLED_SECONDS_MAX = 75.0
# Request line and headers: enough for all journal parameters at their maximum length.
HEADER_BYTES_MAX = 512 * 1024


class Phase(Enum):
    """What a connection does."""

    RECEIVING = "receiving"
    SERVING = "serving"
    IDLE = "idle"


class ConnectionTable(ServerState):
    """The open connections of a server. Connections that may be closed for a new one are stored by age."""

    def __init__(self, connections_max: int) -> None:
        """connections_max: how many may be open."""
        super().__init__()
        self._connections_max = connections_max
        self._closable: dict[Phase, dict[HttpConnection, None]] = {Phase.RECEIVING: {}, Phase.IDLE: {}}

    def move(self, connection: HttpConnection, old: Phase | None, new: Phase | None) -> None:
        """Record that a connection changes its phase. None: not yet open, or closed."""
        if old in self._closable:
            self._closable[old].pop(connection, None)
        if new in self._closable:
            self._closable[new][connection] = None

    def make_room(self, newest: HttpConnection) -> None:
        """Close a connection if there are too many: one that is closable, else newest."""
        if len(self.connections) <= self._connections_max:
            return
        error = too_many_connections(self._connections_max)
        for connections in self._closable.values():
            oldest = next((connection for connection in connections if connection is not newest), None)
            if oldest is not None:
                oldest.close(error)
                return
        newest.close(error)


class HttpConnection(H11Protocol):
    """One connection, on the event loop's thread."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Called by uvicorn. server_state: a ConnectionTable."""
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(server_state, ConnectionTable), "HttpServer sets the state of its server"
        self._table = server_state
        self._parser = _Parser()
        self.conn = self._parser
        self._phase: Phase | None = None
        self._request_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._unwritten = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the time of the first request."""
        super().connection_made(cast(asyncio.Transport, transport))
        self._update_phase()
        self._table.make_room(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._set_phase(None)
        self._stop_write_timer()

    def data_received(self, data: bytes) -> None:
        """Parse the bytes and serve the requests in them."""
        super().data_received(data)
        self._update_phase()

    def on_response_complete(self) -> None:
        """Serve the next request, if it is here."""
        super().on_response_complete()
        self._update_phase()

    def timeout_keep_alive_handler(self) -> None:
        """Close the idle connection."""
        super().timeout_keep_alive_handler()
        self._update_phase()

    def send_400_response(self, msg: str) -> None:
        """Respond to bytes that are no HTTP request: 431 for too many headers, else mostly 400."""
        error = self._parser.error
        status = HTTPStatus.BAD_REQUEST if error is None else error.error_status_hint
        self.close(CallError(status, f"invalid HTTP request: {msg if error is None else error}"))

    def pause_writing(self) -> None:
        """Start to watch whether the client reads."""
        super().pause_writing()
        self._watch_writes()

    def resume_writing(self) -> None:
        """Stop to watch the client, unless a closed connection has more to write."""
        super().resume_writing()
        self._stop_write_timer()
        if self.transport.is_closing():
            self._watch_writes()

    def close(self, error: CallError) -> None:
        """Close the connection. The error is the response, unless there is one, or the connection is idle."""
        if self._parser.is_response_due:
            self._write_response(error)
        if self._parser.has_read_head:
            # The application's own response is too late.
            self.cycle.disconnected = True
        self.transport.close()
        self._update_phase()

    def _write_response(self, error: CallError) -> None:
        body = msgspec.json.encode(error.body())
        headers = [("content-type", JSON), ("content-length", str(len(body))), ("connection", "close")]
        response = h11.Response(status_code=error.status, headers=headers, reason=HTTPStatus(error.status).phrase)
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self._parser.send(event) or b"")

    def _update_phase(self) -> None:
        phase = self._find_phase()
        if phase is not self._phase:
            self._set_phase(phase)

    def _set_phase(self, phase: Phase | None) -> None:
        """Record the phase, and start the time of a request or stop it."""
        self._table.move(self, self._phase, phase)
        self._phase = phase
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None
        if phase is Phase.RECEIVING:
            self._request_timer = self.loop.call_later(REQUEST_SECONDS_MAX, self._read_last_bytes)
        elif phase is None and self._write_timer is None:
            self._watch_writes()

    def _find_phase(self) -> Phase | None:
        """Return the phase; None if the connection is closed, or closes when everything is written."""
        if self.transport.is_closing():
            return None
        if self._parser.is_receiving:
            return Phase.RECEIVING
        return Phase.SERVING if self._parser.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY) else Phase.IDLE

    def _read_last_bytes(self) -> None:
        self._request_timer = self.loop.call_later(LAST_BYTES_SECONDS, self._end_request)

    def _end_request(self) -> None:
        self.close(unfinished_request(REQUEST_SECONDS_MAX))

    def _watch_writes(self) -> None:
        self._unwritten = self.transport.get_write_buffer_size()
        self._write_timer = self.loop.call_later(STALLED_SECONDS_MAX, self._check_writes)

    def _check_writes(self) -> None:
        if self.transport.get_write_buffer_size() < self._unwritten:
            self._watch_writes()
        else:
            self.transport.abort()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class _Parser(h11.Connection):
    """h11's parser; reports how much of a request it has."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, HEADER_BYTES_MAX)
        self.error: h11.RemoteProtocolError | None = None
        # Whether the head of any request was complete.
        self.has_read_head = False
        # Bytes since the end of the last request, and those of them that belong to the head.
        self._bytes_of_request = 0
        self._head = bytearray()

    @property
    def _has_begun(self) -> bool:
        """Whether a request has begun; the first one begins with the connection."""
        return self._bytes_of_request > 0 or not self.has_read_head

    @property
    def is_receiving(self) -> bool:
        """Whether a request has begun and is not complete."""
        return self.their_state is h11.SEND_BODY or (self.their_state is h11.IDLE and self._has_begun)

    @property
    def is_response_due(self) -> bool:
        """Whether a request has begun and no part of its response was sent."""
        return self.our_state in (h11.IDLE, h11.SEND_RESPONSE) and self._has_begun

    def receive_data(self, data: bytes) -> None:
        super().receive_data(data)
        self._bytes_of_request += len(data)
        if self.their_state is h11.IDLE:
            self._head += data

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        if self.error is not None:
            raise self.error
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                self._check_head()
        except h11.RemoteProtocolError as error:
            self.error = error
            raise
        if isinstance(event, h11.EndOfMessage):
            self._head = bytearray(self.trailing_data[0])
            self._bytes_of_request = len(self._head)
        return event

    def _check_head(self) -> None:
        """Raise RemoteProtocolError if the length of the request is ambiguous."""
        head = bytes(self._head[: len(self._head) - len(self.trailing_data[0])])
        self._head.clear()
        problem = find_framing_problem(head)
        if problem is not None:
            raise h11.RemoteProtocolError(problem)
        self.has_read_head = True
