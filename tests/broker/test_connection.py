"""A connection without a socket: frames in any pieces, answers in order, and no memory for who does not read."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.network.busy_poll import BusyPoll
from fauxka.broker.network.connection import Connection
from fauxka.broker.network.connection_turns import SLICE_FRAMES_MAX, ConnectionTurns
from fauxka.broker.network.listeners import Listener
from fauxka.broker.network.receive_buffers import RECEIVE_BUFFER_BYTES, ReceiveBuffers
from fauxka.broker.network.response_queue import PENDING_BYTES_MAX, PENDING_MAX
from fauxka.broker.network.shared_parts import SharedParts
from fauxka.broker.network.turn_writes import FRAMES_MAX, READ_BYTES_MAX
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.broker.runtime.buffers import Buffers
from fauxka.broker.runtime.deferred import Deferred
from fauxka.protocol.frames import FrameError, wrong_size

from .kept_transport import KeptTransport

FRAME_BYTES_MAX = 1_000_000
CLUSTER = Cluster(BrokerConfig.from_entries({}))
LISTENER = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)
# What the connections have called in the next turn of the event loop.
SCHEDULED: list[Callable[[], None]] = []


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

    def refuse_size(self, context: RequestContext, size: int, bytes_max: int) -> Deferred[Buffers]:
        raise wrong_size(size, bytes_max)

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


def opened(
    buffers: ReceiveBuffers | None = None, turns: ConnectionTurns | None = None
) -> tuple[Connection, KeptTransport, EchoDispatcher]:
    dispatcher, transport = EchoDispatcher(), KeptTransport()
    context = RequestContext(CLUSTER.node, ConnectionInfo(1, LISTENER))
    turns = turns or ConnectionTurns(SCHEDULED.append)
    shared = SharedParts(
        dispatcher,  # type: ignore[arg-type]
        BusyPoll(0, 2, turns.writes),
        buffers or ReceiveBuffers(),
        turns,
        lambda _: None,
    )
    connection = Connection(shared, context, frame_bytes_max=FRAME_BYTES_MAX)
    connection.connection_made(transport)
    return connection, transport, dispatcher


@pytest.fixture(autouse=True)
def no_turns_of_other_tests() -> Iterator[None]:
    SCHEDULED.clear()
    yield
    SCHEDULED.clear()


def run_one_turn() -> None:
    """Call what is scheduled now."""
    scheduled = SCHEDULED[:]
    SCHEDULED.clear()
    for callback in scheduled:
        callback()


def run_turns() -> None:
    while SCHEDULED:
        run_one_turn()


def feed(connection: Connection, data: bytes, piece_bytes: int = 1 << 30) -> None:
    """Have the connection read data, with a turn of the event loop after each read until nothing is to be done."""
    position = 0
    while position < len(data):
        position += read_once(connection, data[position : position + piece_bytes])
        run_turns()


def read_once(connection: Connection, data: bytes) -> int:
    """Have the connection read as much of data as its buffer takes, and return how much that is."""
    room = connection.get_buffer(-1)
    piece = data[: len(room)]
    room[: len(piece)] = piece
    connection.buffer_updated(len(piece))
    return len(piece)


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

    assert len(connection.get_buffer(-1)) <= RECEIVE_BUFFER_BYTES


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
    run_turns()
    feed(connection, behind[fed:])

    assert fed <= RECEIVE_BUFFER_BYTES
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
    run_turns()

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


def test_connections_without_unread_bytes_share_one_buffer() -> None:
    buffers = ReceiveBuffers()
    first, second = opened(buffers)[0], opened(buffers)[0]

    feed(first, framed(b"request"))
    feed(second, framed(b"request"))

    assert first.get_buffer(-1) is second.get_buffer(-1) is buffers.shared


def test_interleaved_frames_of_connections_with_shared_buffers_are_answered_whole() -> None:
    buffers = ReceiveBuffers()
    pairs = [opened(buffers)[:2] for _ in range(3)]
    streams = [framed(b"%d" % number * 100_000) + framed(b"end %d" % number) for number in range(len(pairs))]

    for position in range(0, max(map(len, streams)), 7_000):
        for (connection, _), stream in zip(pairs, streams, strict=True):
            feed(connection, stream[position : position + 7_000])

    assert [bytes(transport.written) for _, transport in pairs] == streams


def test_a_read_without_bytes_leaves_the_shared_buffer_to_the_others() -> None:
    buffers = ReceiveBuffers()
    (first, answered, _), (second, *_) = opened(buffers), opened(buffers)
    first.get_buffer(-1)

    feed(second, framed(b"incomplete")[:-1])
    feed(first, framed(b"x" * 20))
    feed(second, b"e")

    assert bytes(answered.written) == framed(b"x" * 20)


def test_requests_that_arrive_while_the_connection_hangs_are_answered_after_it() -> None:
    buffers = ReceiveBuffers()
    (hanging, answered, _), (other, *_) = opened(buffers), opened(buffers)
    hanging.hang()

    feed(hanging, framed(b"late"))
    feed(other, framed(b"something else"))
    hanging.wake()

    assert bytes(answered.written) == framed(b"late")


def test_a_connection_that_hangs_twice_continues_after_the_second_wake() -> None:
    connection, transport, _ = opened()
    connection.hang()
    connection.hang()
    feed(connection, framed(b"late"))

    connection.wake()
    after_one = bytes(transport.written)
    connection.wake()

    assert (after_one, bytes(transport.written)) == (b"", framed(b"late"))


def test_a_request_behind_a_pending_one_waits_while_the_connection_hangs() -> None:
    connection, transport, dispatcher = opened()
    feed(connection, framed(b"wait") + framed(b"behind"))
    connection.hang()

    dispatcher.waiting[0].complete([framed(b"first")])
    while_hanging = bytes(transport.written)
    connection.wake()

    assert (while_hanging, bytes(transport.written)) == (framed(b"first"), framed(b"first") + framed(b"behind"))


def test_a_second_large_frame_is_received_in_the_kept_buffer_of_the_first() -> None:
    buffers = ReceiveBuffers()
    connection, transport, _ = opened(buffers)
    large = framed(bytes(900_000))

    feed(connection, large)
    room = len(connection.get_buffer(-1))
    feed(connection, large)

    assert room >= len(large)
    assert bytes(transport.written) == large * 2


def test_buffers_of_many_connections_are_freed() -> None:
    buffers = ReceiveBuffers()
    connections = [opened(buffers)[0] for _ in range(100)]
    for connection in connections:
        feed(connection, framed(bytes(600_000))[:-1])

    for connection in connections:
        feed(connection, b"\0")

    assert 0 < buffers.kept_bytes <= 16 * 1024 * 1024


def test_bytes_after_a_bad_frame_stay_out_of_the_shared_buffer() -> None:
    buffers = ReceiveBuffers()
    (closing, transport, dispatcher), (other, answered, _) = opened(buffers), opened(buffers)
    feed(closing, framed(b"flush") + framed(b"bad") + framed(b"behind"))

    feed(other, framed(b"first"))
    feed(closing, framed(b"later"))
    feed(other, framed(b"second"))
    dispatcher.waiting[0].complete([framed(b"flushed")])

    assert bytes(answered.written) == framed(b"first") + framed(b"second")
    assert bytes(transport.written) == framed(b"flushed")
    assert dispatcher.frames == [b"flush", b"bad"]


def test_a_closed_connection_is_freed_without_the_garbage_collector() -> None:
    connection, _, dispatcher = opened()
    feed(connection, framed(b"wait"))
    # Compiled objects have no weak references. Only the connection has this one.
    gate = EchoDispatcher()
    connection.guard(gate)
    alive = weakref.ref(gate)
    del gate
    gc.disable()
    try:
        connection.connection_lost(None)
        del connection

        assert alive() is None
    finally:
        gc.enable()
    assert len(dispatcher.waiting) == 1


def test_many_requests_of_one_read_are_handled_in_slices() -> None:
    connection, transport, dispatcher = opened()
    count = 3 * SLICE_FRAMES_MAX

    read_once(connection, framed(b"small") * count)
    handled = [len(dispatcher.frames)]
    while SCHEDULED:
        run_one_turn()
        handled.append(len(dispatcher.frames))

    assert max(after - before for before, after in pairwise([0, *handled])) <= SLICE_FRAMES_MAX
    assert bytes(transport.written) == framed(b"small") * count


def test_request_of_another_connection_is_answered_after_one_slice_of_a_flood() -> None:
    buffers, turns = ReceiveBuffers(), ConnectionTurns(SCHEDULED.append)
    (flood, _, flooded), (other, answered, _) = opened(buffers, turns), opened(buffers, turns)
    read_once(flood, framed(b"small") * 10 * SLICE_FRAMES_MAX)

    read_once(other, framed(b"request"))

    assert bytes(answered.written) == framed(b"request")
    assert len(flooded.frames) <= SLICE_FRAMES_MAX


def test_connections_that_flood_take_turns() -> None:
    buffers, turns = ReceiveBuffers(), ConnectionTurns(SCHEDULED.append)
    floods = [opened(buffers, turns) for _ in range(3)]
    count = 5 * SLICE_FRAMES_MAX
    for connection, _, _ in floods:
        read_once(connection, framed(b"small") * count)

    turn_counts: list[list[int]] = []
    while SCHEDULED:
        run_one_turn()
        turn_counts.append([len(dispatcher.frames) for _, _, dispatcher in floods])

    assert all(max(counts) - min(counts) <= SLICE_FRAMES_MAX for counts in turn_counts)
    assert turn_counts[-1] == [count] * 3


def test_requests_that_arrive_before_the_turn_of_a_connection_are_handled_in_order() -> None:
    connection, transport, _ = opened()
    bodies = [b"%d" % number for number in range(3 * SLICE_FRAMES_MAX)]
    stream = b"".join(map(framed, bodies))
    half = len(stream) // 2

    read_once(connection, stream[:half])
    read_once(connection, stream[half:])
    run_turns()

    assert bytes(transport.written) == stream


def test_a_read_that_fills_the_buffer_is_the_last_one_of_the_turn() -> None:
    connection, transport, _ = opened()
    stream = framed(bytes(900)) * 1000

    fed = read_once(connection, stream)
    was_paused = transport.is_reading_paused
    run_one_turn()
    run_turns()
    feed(connection, stream[fed:])

    assert was_paused
    assert not transport.is_reading_paused
    assert bytes(transport.written) == stream


def test_a_flood_of_frames_that_wait_for_their_turn_takes_one_buffer() -> None:
    connection, transport, _ = opened()
    stream = framed(b"small") * 100_000
    fed = 0

    while not transport.is_reading_paused:
        fed += read_once(connection, stream[fed:])

    assert fed <= RECEIVE_BUFFER_BYTES


def test_a_connection_that_is_lost_before_its_turn_handles_nothing_more() -> None:
    connection, _, dispatcher = opened()
    read_once(connection, framed(b"small") * 2 * SLICE_FRAMES_MAX)
    handled = len(dispatcher.frames)

    connection.connection_lost(None)
    run_turns()

    assert len(dispatcher.frames) == handled


def test_a_connection_that_hangs_before_its_turn_goes_on_after_its_wake() -> None:
    connection, transport, dispatcher = opened()
    read_once(connection, framed(b"small") * 2 * SLICE_FRAMES_MAX)
    handled = len(dispatcher.frames)

    connection.hang()
    run_turns()
    while_hanging = len(dispatcher.frames)
    connection.wake()
    run_turns()

    assert while_hanging == handled
    assert bytes(transport.written) == framed(b"small") * 2 * SLICE_FRAMES_MAX


def busy_turns() -> ConnectionTurns:
    """Return turns of a loop that polls, after a turn with several reads."""
    turns = ConnectionTurns(SCHEDULED.append)
    turns.writes.request_arrived(0)
    turns.writes.request_arrived(0)
    turns.writes.end_turn(is_polling=True)
    return turns


def test_a_response_of_a_busy_loop_waits_for_the_end_of_the_turn() -> None:
    turns = busy_turns()
    connection, transport, _ = opened(turns=turns)

    read_once(connection, framed(b"one") + framed(b"two"))
    before = bytes(transport.written)
    turns.writes.end_turn(is_polling=True)

    assert before == b""
    assert bytes(transport.written) == framed(b"one") + framed(b"two")


def end_by_client(connection: Connection) -> None:
    connection.eof_received()


@pytest.mark.parametrize("end", [Connection.close, Connection.abort, Connection.drop, end_by_client])
def test_a_response_that_waits_is_written_before_its_connection_ends(end: Callable[[Connection], object]) -> None:
    connection, transport, _ = opened(turns=busy_turns())
    read_once(connection, framed(b"one"))

    end(connection)

    assert bytes(transport.written) == framed(b"one")


def test_responses_that_wait_are_written_before_a_large_read_is_handled() -> None:
    turns = busy_turns()
    small, transport, _ = opened(turns=turns)
    large, _, _ = opened(turns=turns)
    read_once(small, framed(b"one"))

    read_once(large, framed(bytes(READ_BYTES_MAX)))

    assert bytes(transport.written) == framed(b"one")


@pytest.mark.parametrize(("frames", "written"), [(FRAMES_MAX, b""), (FRAMES_MAX + 1, framed(b"one"))])
def test_responses_that_wait_are_written_before_many_frames_of_another_client(frames: int, written: bytes) -> None:
    turns = busy_turns()
    small, transport, _ = opened(turns=turns)
    other, _, _ = opened(turns=turns)
    read_once(small, framed(b"one"))

    read_once(other, framed(b"small") * frames)

    assert bytes(transport.written) == written


def test_a_pending_response_that_arrives_is_written_after_the_one_that_waits() -> None:
    connection, transport, dispatcher = opened(turns=busy_turns())
    read_once(connection, framed(b"one"))
    read_once(connection, framed(b"flush"))

    dispatcher.waiting[0].complete([framed(b"flushed")])

    assert bytes(transport.written) == framed(b"one") + framed(b"flushed")


def test_a_response_that_waits_is_written_before_a_frame_that_ends_the_connection() -> None:
    connection, transport, _ = opened(turns=busy_turns())
    read_once(connection, framed(b"one"))

    read_once(connection, framed(b"two") + framed(b"bad"))

    assert bytes(transport.written) == framed(b"one") + framed(b"two")
    assert transport.is_closed
