"""Small responses of one turn of the event loop are written together, in order, and none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.network.connection_turns import ConnectionTurns
from fauxka.broker.network.transport_writer import TransportWriter
from fauxka.broker.network.turn_writes import RESPONSE_BYTES_MAX, WAIT_NS_MAX, TurnWrites

ONE = b"one"
TWO = b"two"
LARGE = bytes(RESPONSE_BYTES_MAX + 1)


class KeptTransport(asyncio.Transport):
    """A transport that adds its writes to a list."""

    def __init__(self, written: list[bytes]) -> None:
        super().__init__()
        self.written = written
        self.is_closed = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.is_closed
        self.written.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


class Scene:
    """Writers of connections, whose writes are in one list."""

    def __init__(self, connections: int = 1) -> None:
        scheduled: list[Callable[[], None]] = []
        self.turns = ConnectionTurns(scheduled.append)
        self.scheduled = scheduled
        self.writes = self.turns.writes
        self.written: list[bytes] = []
        self.transports = [KeptTransport(self.written) for _ in range(connections)]
        self.writers = [TransportWriter(each, self.turns, lambda: None) for each in self.transports]

    def have_several_reads(self) -> None:
        """End a turn with two reads, so that responses may wait from now on."""
        self.writes.request_arrived(0)
        self.writes.request_arrived(0)
        self.writes.end_turn(is_polling=True)


def scene_of_busy_loop(connections: int = 1) -> Scene:
    scene = Scene(connections)
    scene.have_several_reads()
    return scene


def test_response_to_the_only_read_of_a_turn_is_written_at_once() -> None:
    scene = Scene()
    scene.writes.begin_polling()

    for _ in range(3):
        scene.writers[0].write_in_turn([ONE])
        scene.writes.request_arrived(0)

        assert scene.written.pop() == ONE
        scene.writes.end_turn(is_polling=True)


def test_responses_after_a_turn_with_several_reads_wait_for_the_end_of_the_turn() -> None:
    scene = scene_of_busy_loop(connections=2)

    scene.writers[1].write_in_turn([ONE])
    scene.writers[0].write_in_turn([TWO, ONE])
    before = scene.written.copy()
    scene.writes.end_turn(is_polling=True)

    assert before == []
    assert scene.written == [ONE, TWO + ONE]


def test_responses_after_the_last_poll_are_written_at_once() -> None:
    scene = scene_of_busy_loop()
    scene.writers[0].write_in_turn([ONE])

    scene.writes.end_turn(is_polling=False)
    scene.writers[0].write_in_turn([TWO])

    assert scene.written == [ONE, TWO]


def test_responses_wait_again_when_polling_begins() -> None:
    scene = scene_of_busy_loop()
    scene.writes.end_turn(is_polling=False)

    scene.writes.begin_polling()
    scene.writers[0].write_in_turn([ONE])

    assert scene.written == []


def test_responses_wait_no_longer_than_the_maximum() -> None:
    scene = scene_of_busy_loop(connections=2)
    scene.writers[0].write_in_turn([ONE])

    scene.writes.request_arrived(1)
    scene.writes.request_arrived(WAIT_NS_MAX + 1)
    before = scene.written.copy()
    scene.writes.request_arrived(WAIT_NS_MAX + 2)

    assert before == []
    assert scene.written == [ONE]


def test_large_response_does_not_wait() -> None:
    scene = scene_of_busy_loop()

    scene.writers[0].write_in_turn([LARGE])
    scene.writers[0].write_in_turn([memoryview(ONE)])

    assert scene.written == [LARGE, ONE]


def test_second_response_of_a_connection_is_written_after_the_first() -> None:
    scene = scene_of_busy_loop()

    scene.writers[0].write_in_turn([ONE])
    scene.writers[0].write_in_turn([TWO])
    scene.writes.end_turn(is_polling=True)

    assert scene.written == [ONE, TWO]


def test_waiting_response_is_written_before_records() -> None:
    scene = scene_of_busy_loop()

    scene.writers[0].write_in_turn([ONE])
    scene.writers[0].write([memoryview(TWO)])

    assert scene.written == [ONE, TWO]


def test_waiting_response_is_written_before_the_connection_closes() -> None:
    scene = scene_of_busy_loop()

    scene.writers[0].write_in_turn([ONE])
    scene.writers[0].close()

    assert scene.written == [ONE]
    assert scene.transports[0].is_closed


def test_waiting_response_is_discarded_with_its_lost_connection() -> None:
    scene = scene_of_busy_loop(connections=2)

    scene.writers[0].write_in_turn([ONE])
    scene.writers[1].write_in_turn([TWO])
    scene.transports[0].close()
    scene.writers[0].discard()
    scene.writes.end_turn(is_polling=True)

    assert scene.written == [TWO]


def test_waiting_response_is_written_before_connections_that_wait_for_their_turn() -> None:
    scene = scene_of_busy_loop()
    scene.writers[0].write_in_turn([ONE])

    scene.turns.wait(lambda: scene.written.append(b"turn"))
    scene.scheduled.pop()()

    assert scene.written == [ONE, b"turn"]


def test_waiting_response_is_written_before_the_next_piece_of_a_large_one() -> None:
    scene = scene_of_busy_loop(connections=2)
    scene.writers[1].transport_full()
    scene.writers[0].write_in_turn([ONE])

    scene.writers[1].transport_ready()

    assert scene.written == [ONE]


def test_writer_that_fails_keeps_no_other_from_the_next_turn() -> None:
    class Failing:
        def end_turn(self) -> None:
            raise RuntimeError

    scene = scene_of_busy_loop()
    scene.writes.add(Failing())
    scene.writers[0].write_in_turn([ONE])

    for _ in range(2):
        try:
            scene.writes.end_turn(is_polling=True)
        except RuntimeError:
            assert scene.written == []

    assert scene.written == [ONE]


CONNECTIONS = 3
steps = st.one_of(
    st.tuples(st.sampled_from(["read", "answer", "records"]), st.integers(0, CONNECTIONS - 1)),
    st.tuples(st.sampled_from(["end", "sleep", "begin", "turn"]), st.just(0)),
)


@given(st.lists(steps, max_size=60), st.integers(1, WAIT_NS_MAX))
def test_each_connection_gets_all_its_responses_in_order(drawn: list[tuple[str, int]], step_ns: int) -> None:
    turns = ConnectionTurns(lambda _: None)
    writes: TurnWrites = turns.writes
    transports = [KeptTransport([]) for _ in range(CONNECTIONS)]
    writers = [TransportWriter(each, turns, lambda: None) for each in transports]
    expected: list[list[bytes]] = [[] for _ in range(CONNECTIONS)]
    for number, (step, connection) in enumerate(drawn):
        response = b"%d" % number
        if step == "read":
            writers[connection].write_in_turn([response])
            writes.request_arrived(number * step_ns)
        elif step == "answer":
            writers[connection].write([response])
        elif step == "records":
            writers[connection].write_in_turn([memoryview(response)])
        elif step == "begin":
            writes.begin_polling()
        elif step == "turn":
            writes.write()
        else:
            writes.end_turn(is_polling=step == "end")
        if step in ("read", "answer", "records"):
            expected[connection].append(response)

    writes.end_turn(is_polling=False)

    assert [each.written for each in transports] == expected
