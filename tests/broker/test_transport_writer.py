"""A large response is written in pieces, over several turns of the event loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fauxka.broker.network.connection_turns import TURN_CONNECTIONS_MAX, ConnectionTurns
from fauxka.broker.network.transport_writer import BYTES_AT_ONCE_MAX, PIECE_BYTES_MAX, TransportWriter

from .kept_transport import KeptTransport

PIECES_AT_ONCE = BYTES_AT_ONCE_MAX // PIECE_BYTES_MAX
LARGE = bytes(range(256)) * (3 * BYTES_AT_ONCE_MAX // 256) + b"end"


class FillingTransport(KeptTransport):
    """Keeps what is written to it at once, and calls full in the write with which it becomes full."""

    def __init__(self, full_after: int = 1 << 40) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.full_after = full_after
        self.full: Callable[[], None] = lambda: None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writelines([data])

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.pieces.append(b"".join(list_of_data))
        if len(self.pieces) == self.full_after:
            self.full()


class WriterScene:
    """A writer, its transport, and the turns of the event loop."""

    def __init__(self, full_after: int = 1 << 40) -> None:
        self.scheduled: list[Callable[[], None]] = []
        self.turns = ConnectionTurns(self.scheduled.append)
        self.transport = FillingTransport(full_after)
        self.resumed = 0
        self.writer = TransportWriter(self.transport, self.turns, self._count_resumed)
        self.transport.full = self.writer.transport_full

    def _count_resumed(self) -> None:
        self.resumed += 1

    def run_one_turn(self) -> None:
        scheduled, self.scheduled[:] = self.scheduled[:], []
        for callback in scheduled:
            callback()

    def run_turns(self) -> None:
        while self.scheduled:
            self.run_one_turn()


def test_small_responses_are_written_at_once() -> None:
    scene = WriterScene()

    scene.writer.write([b"one", b"two"])
    scene.writer.write([b"three", memoryview(b"four")])

    assert scene.transport.pieces == [b"onetwo", b"threefour"]
    assert not scene.writer.is_paused


def test_large_response_is_written_in_pieces_over_several_turns() -> None:
    scene = WriterScene()

    scene.writer.write([b"size", memoryview(LARGE)])
    written = [len(scene.transport.pieces)]
    while scene.scheduled:
        scene.run_one_turn()
        written.append(len(scene.transport.pieces))

    assert b"".join(scene.transport.pieces) == b"size" + LARGE
    assert max(map(len, scene.transport.pieces)) <= PIECE_BYTES_MAX
    assert written == [PIECES_AT_ONCE, 2 * PIECES_AT_ONCE, 3 * PIECES_AT_ONCE, 3 * PIECES_AT_ONCE + 1]


def test_no_request_is_handled_until_the_last_piece_is_written() -> None:
    scene = WriterScene()
    scene.writer.write([memoryview(LARGE)])
    was_paused, resumed_before = scene.writer.is_paused, scene.resumed

    scene.run_turns()

    assert (was_paused, resumed_before) == (True, 0)
    assert (scene.writer.is_paused, scene.resumed) == (False, 1)


def test_response_after_a_large_one_is_written_after_its_last_piece() -> None:
    scene = WriterScene()
    scene.writer.write([memoryview(LARGE)])

    scene.writer.write([b"later"])
    scene.run_turns()

    assert b"".join(scene.transport.pieces) == LARGE + b"later"


def test_no_piece_is_written_while_the_client_does_not_read() -> None:
    scene = WriterScene(full_after=2)
    scene.writer.write([memoryview(LARGE)])
    scene.run_turns()
    while_full = len(scene.transport.pieces)

    scene.writer.transport_ready()
    scene.run_turns()

    assert while_full == 2
    assert b"".join(scene.transport.pieces) == LARGE
    assert not scene.writer.is_paused


def test_connection_closes_after_its_last_piece() -> None:
    scene = WriterScene()
    scene.writer.write([memoryview(LARGE)])

    scene.writer.close()
    was_closed = scene.transport.is_closed
    scene.writer.write([b"after the end"])
    scene.run_turns()

    assert not was_closed
    assert scene.writer.is_closing
    assert scene.transport.is_closed
    assert b"".join(scene.transport.pieces) == LARGE


def test_connection_closes_after_its_last_piece_when_the_client_reads_late() -> None:
    scene = WriterScene(full_after=1)
    scene.writer.write([memoryview(LARGE)])
    scene.writer.close()
    scene.run_turns()
    was_closed = scene.transport.is_closed

    scene.writer.transport_ready()
    scene.run_turns()

    assert not was_closed
    assert scene.transport.is_closed
    assert b"".join(scene.transport.pieces) == LARGE


def test_pieces_of_a_lost_connection_are_discarded() -> None:
    scene = WriterScene()
    scene.writer.write([memoryview(LARGE)])

    scene.writer.discard()
    scene.run_turns()

    assert len(scene.transport.pieces) == PIECES_AT_ONCE
    assert scene.resumed == 0


def test_held_writer_stays_paused_although_the_client_has_read() -> None:
    scene = WriterScene()
    scene.writer.hold()

    scene.writer.transport_full()
    scene.writer.transport_ready()
    was_paused = scene.writer.is_paused
    scene.writer.release()

    assert was_paused
    assert (scene.writer.is_paused, scene.resumed) == (False, 1)


def test_a_turn_serves_a_bounded_number_of_connections_and_the_others_first_in_the_next() -> None:
    scheduled: list[Callable[[], None]] = []
    turns = ConnectionTurns(scheduled.append)
    served: list[int] = []
    count = TURN_CONNECTIONS_MAX + 5
    for number in range(count):
        turns.wait(lambda number=number: served.append(number))  # type: ignore[misc]

    scheduled.pop()()
    first_turn = list(served)
    turns.wait(lambda: served.append(count))
    scheduled.pop()()

    assert first_turn == list(range(TURN_CONNECTIONS_MAX))
    assert served == list(range(count + 1))
