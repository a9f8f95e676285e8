"""A connection without a socket: frames in any pieces, answers in order, and no memory for who does not read."""

from __future__ import annotations

import asyncio
from functools import partial
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.network import connection as connections
from fauxka.broker.network.busy_poll import BusyPoll
from fauxka.broker.network.connection import Connection
from fauxka.broker.network.listeners import Listener
from fauxka.broker.network.response_queue import PENDING_BYTES_MAX, PENDING_MAX
from fauxka.broker.requests.request_context import ConnectionInfo, RequestContext
from fauxka.broker.runtime.deferred import Buffers, Deferred
from fauxka.protocol.frames import FrameError

FRAME_BYTES_MAX = 1_000_000
CLUSTER = Cluster(BrokerConfig.from_entries({}))
LISTENER = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)


class KeptTransport(asyncio.Transport):
    """A transport that records the written bytes and the calls."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.is_reading_paused = False
        self.is_closed = False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return ("127.0.0.1", 1) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


class EchoDispatcher:
    """Answers a frame with itself; b"wait" with a Deferred, b"flush" with an applied one, b"bad" with a FrameError."""

    observer = None

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.waiting: list[Deferred[Buffers]] = []

    def connection_opened(self, connection: Connection) -> None:
        pass

    def connection_closed(self, connection: Connection) -> None:
        pass

    def accepted(self, connection: Connection, info: ConnectionInfo) -> None:
        pass

    def handle(
        self, context: RequestContext, frame: memoryview, start: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        body = bytes(frame[start:end])
        self.frames.append(body)
        if body == b"bad":
            raise FrameError("bad")
        if body in (b"wait", b"flush"):
            self.waiting.append(Deferred(is_applied=body == b"flush"))
            return self.waiting[-1]
        return [framed(body)]


def framed(body: bytes) -> bytes:
    return pack(">i", len(body)) + body


def opened() -> tuple[Connection, KeptTransport, EchoDispatcher]:
    dispatcher, transport = EchoDispatcher(), KeptTransport()
    context = RequestContext(CLUSTER.node, ConnectionInfo(1, LISTENER))
    connection = Connection(dispatcher, context, BusyPoll(0), frame_bytes_max=FRAME_BYTES_MAX)  # type: ignore[arg-type]
    connection.connection_made(transport)
    return connection, transport, dispatcher


def feed(connection: Connection, data: bytes, piece_bytes: int = 1 << 30) -> None:
    position = 0
    while position < len(data):
        room = connection.get_buffer(-1)
        piece = data[position : position + min(piece_bytes, len(room))]
        room[: len(piece)] = piece
        connection.buffer_updated(len(piece))
        position += len(piece)


@given(st.lists(st.binary(max_size=600_000), max_size=5), st.integers(1, 300_000))
def test_frames_in_any_pieces_are_answered_in_order(bodies: list[bytes], piece_bytes: int) -> None:
    bodies = [body for body in bodies if body not in (b"bad", b"wait", b"flush")]
    connection, transport, _ = opened()
    stream = b"".join(map(framed, bodies))

    feed(connection, stream, piece_bytes)

    assert bytes(transport.written) == stream


def test_frames_byte_by_byte_are_answered_in_order() -> None:
    connection, transport, _ = opened()

    feed(connection, framed(b"one") + framed(b"") + framed(b"three"), 1)

    assert bytes(transport.written) == framed(b"one") + framed(b"") + framed(b"three")


@pytest.mark.parametrize("size", [-1, -(2**31), FRAME_BYTES_MAX + 1, 2**31 - 1])
def test_a_size_that_is_not_accepted_closes_as_soon_as_it_is_read(size: int) -> None:
    connection, transport, dispatcher = opened()

    feed(connection, pack(">i", size))

    assert transport.is_closed
    assert dispatcher.frames == []


def test_a_large_frame_that_is_only_announced_reserves_nothing() -> None:
    connection, _, _ = opened()

    feed(connection, pack(">i", FRAME_BYTES_MAX) + b"x")

    assert len(connection.get_buffer(-1)) <= connections.RECEIVE_BUFFER_BYTES


def test_requests_before_a_bad_frame_get_a_response_and_later_ones_none() -> None:
    connection, transport, dispatcher = opened()

    feed(connection, framed(b"good") + framed(b"bad") + framed(b"behind"))

    assert bytes(transport.written) == framed(b"good")
    assert transport.is_closed
    assert dispatcher.frames == [b"good", b"bad"]


def test_requests_behind_one_that_waits_are_looked_at_when_it_is_answered() -> None:
    connection, transport, dispatcher = opened()

    feed(connection, framed(b"first") + framed(b"wait") + framed(b"behind"))
    before = bytes(transport.written), list(dispatcher.frames)
    dispatcher.waiting[0].complete([framed(b"at last")])

    assert before == (framed(b"first"), [b"first", b"wait"])
    assert bytes(transport.written) == framed(b"first") + framed(b"at last") + framed(b"behind")


def test_a_socket_whose_requests_must_wait_is_read_no_further_than_the_buffer() -> None:
    connection, transport, dispatcher = opened()
    feed(connection, framed(b"wait"))
    behind = framed(b"x" * 1000) * 1000
    fed = 0

    while not transport.is_reading_paused:
        piece = behind[fed : fed + len(connection.get_buffer(-1))]
        feed(connection, piece)
        fed += len(piece)
    dispatcher.waiting[0].complete([framed(b"done")])
    feed(connection, behind[fed:])

    assert fed <= connections.RECEIVE_BUFFER_BYTES
    assert not transport.is_reading_paused
    assert bytes(transport.written) == framed(b"done") + behind


def test_a_client_that_does_not_read_has_no_more_requests_answered() -> None:
    connection, transport, dispatcher = opened()
    connection.pause_writing()

    feed(connection, framed(b"one") + framed(b"two"))
    before = list(dispatcher.frames)
    connection.resume_writing()

    assert before == []
    assert bytes(transport.written) == framed(b"one") + framed(b"two")


def test_the_wait_of_a_connection_that_is_lost_is_abandoned() -> None:
    connection, _, dispatcher = opened()
    abandoned: list[bool] = []
    feed(connection, framed(b"wait"))
    dispatcher.waiting[0].on_abandoned = lambda: abandoned.append(True)

    connection.connection_lost(None)
    dispatcher.waiting[0].complete([framed(b"too late")])

    assert abandoned == [True]


def test_requests_behind_one_that_is_applied_are_looked_at_and_answered_after_it() -> None:
    connection, transport, dispatcher = opened()

    feed(connection, framed(b"flush") + framed(b"flush") + framed(b"behind"))
    looked_at = list(dispatcher.frames)
    dispatcher.waiting[1].complete([framed(b"second")])
    before = bytes(transport.written)
    dispatcher.waiting[0].complete([framed(b"first")])

    assert looked_at == [b"flush", b"flush", b"behind"]
    assert before == b""
    assert bytes(transport.written) == framed(b"first") + framed(b"second") + framed(b"behind")


def test_behind_answers_of_many_bytes_that_are_held_back_nothing_is_looked_at() -> None:
    connection, transport, dispatcher = opened()
    held = bytes(PENDING_BYTES_MAX // 2)

    feed(connection, framed(b"flush") + framed(held) + framed(held) + framed(b"behind"))
    looked_at = list(dispatcher.frames)
    dispatcher.waiting[0].complete([framed(b"first")])

    assert looked_at == [b"flush", held, held]
    assert bytes(transport.written) == framed(b"first") + framed(held) + framed(held) + framed(b"behind")


def test_requests_behind_small_answers_that_are_held_back_are_worked_on() -> None:
    connection, transport, dispatcher = opened()

    feed(connection, framed(b"flush") + framed(b"held") + framed(b"behind"))
    looked_at = list(dispatcher.frames)
    dispatcher.waiting[0].complete([framed(b"first")])

    assert looked_at == [b"flush", b"held", b"behind"]
    assert bytes(transport.written) == framed(b"first") + framed(b"held") + framed(b"behind")


def test_a_pending_response_after_an_applied_one_stops_later_requests() -> None:
    connection, transport, dispatcher = opened()

    feed(connection, framed(b"flush") + framed(b"wait") + framed(b"behind"))
    looked_at = list(dispatcher.frames)
    dispatcher.waiting[1].complete([framed(b"waited")])
    dispatcher.waiting[0].complete([framed(b"flushed")])

    assert looked_at == [b"flush", b"wait"]
    assert bytes(transport.written) == framed(b"flushed") + framed(b"waited") + framed(b"behind")


def test_number_of_pending_responses_is_bounded() -> None:
    connection, transport, dispatcher = opened()

    feed(connection, framed(b"flush") * (PENDING_MAX + 10))
    looked_at = len(dispatcher.frames)
    for pending in list(dispatcher.waiting):
        pending.complete([framed(b"")])
    for pending in dispatcher.waiting[PENDING_MAX:]:
        pending.complete([framed(b"")])

    assert looked_at == PENDING_MAX
    assert bytes(transport.written) == framed(b"") * (PENDING_MAX + 10)


def test_pending_responses_before_a_bad_frame_are_written_before_the_close() -> None:
    connection, transport, dispatcher = opened()

    feed(connection, framed(b"flush") + framed(b"bad") + framed(b"behind"))
    was_closed = transport.is_closed
    dispatcher.waiting[0].complete([framed(b"flushed")])

    assert not was_closed
    assert bytes(transport.written) == framed(b"flushed")
    assert transport.is_closed
    assert dispatcher.frames == [b"flush", b"bad"]


def test_pending_responses_of_a_lost_connection_are_abandoned() -> None:
    connection, transport, dispatcher = opened()
    abandoned: list[int] = []
    feed(connection, framed(b"flush") + framed(b"wait"))
    for number, pending in enumerate(dispatcher.waiting):
        pending.on_abandoned = partial(abandoned.append, number)

    connection.connection_lost(None)
    dispatcher.waiting[0].complete([framed(b"too late")])

    assert abandoned == [0, 1]
    assert bytes(transport.written) == b""
