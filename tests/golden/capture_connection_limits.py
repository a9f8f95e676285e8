"""Limits of connections: python -m tests.golden.capture_connection_limits HOST:PORT.

Needs a fresh broker that was started with CONFIG. An answer of a connection is RESPONSE, CLOSED (a FIN, without a
response) or NO_RESPONSE (it stays open, for longer than RESPONSE_SECONDS_MAX).
"""

import time
from contextlib import ExitStack

from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

from ..wire.frames import api_versions_request
from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError, WireConnection
from .capture_configs import BROKER, DELETE, SET, changing
from .capture_recorder import Recorder, main

IDLE_MS = 2000
LIMITED_ADDRESS, OTHER_ADDRESS = "127.0.0.2", "127.0.0.3"
CONFIG = {"connections.max.idle.ms": str(IDLE_MS), "max.connections.per.ip.overrides": f"{LIMITED_ADDRESS}:2"}
REQUEST = api_versions_request()
# A response takes milliseconds, and a connection for which there is no room waits until another one is closed.
RESPONSE_SECONDS_MAX = 0.5
# Kafka looks for idle connections three times a second.
CLOSED_SECONDS_MAX = IDLE_MS / 1000 + 5
POLL_SECONDS = 0.02
SETTLE_SECONDS = 0.3
OVERRIDES = "max.connections.per.ip.overrides"


class Client:
    """A connection of which it is asked whether it is served."""

    def __init__(self, recorder: Recorder, opened: ExitStack, address: str = "127.0.0.1") -> None:
        """opened: closes the socket. address: of this side."""
        self._recorder = recorder
        self.wire = opened.enter_context(WireConnection(recorder.bootstrap, source=address))

    def case(self, case: str, *, is_sent: bool = True) -> None:
        """Record how a request is answered. is_sent: it was sent before."""
        if is_sent:
            self.wire.send(REQUEST)
        self._recorder.outcome(case, _outcome_of(self.wire, RESPONSE_SECONDS_MAX))


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.create_topic("events")
    _keys(recorder)
    for scene in (_per_address, _altogether, _idle):
        with ExitStack() as opened:
            scene(recorder, opened)


def _keys(recorder: Recorder) -> None:
    """The values that are refused, and the keys that are not dynamic."""
    values = {
        "max.connections": ["-1", "x"],
        "max.connections.per.ip": ["-1"],
        OVERRIDES: ["foo", "foo:bar", "foo:", "a b:1", "a:1,,b:1", "a/b:1,c d:2", "127.0.0.8:99999999999"],
        "socket.listen.backlog.size": ["5"],
        "connections.max.idle.ms": ["5"],
    }
    for name, texts in values.items():
        for text in texts:
            for broker in ("", "1"):
                where = f"broker {broker}" if broker else "all brokers"
                recorder.case(f"{name}={text}, {where}", 1, changing((BROKER, broker, [(name, SET, text)])))
    for name, text in {OVERRIDES: "127.0.0.8:-1, ::1:5,127.0.0.9:7,127.0.0.9:8,", "max.connections": "1000"}.items():
        recorder.case(f"{name}={text}", 1, changing((BROKER, "1", [(name, SET, text)])))
        recorder.case(f"{name} deleted", 1, changing((BROKER, "1", [(name, DELETE, None)])))
    no_address = changing((BROKER, "", [("max.connections.per.ip", SET, "0"), (OVERRIDES, SET, "")]))
    recorder.case("no connection from any address", 1, no_address)
    recorder.settle()


def _per_address(recorder: Recorder, opened: ExitStack) -> None:
    first, second = Client(recorder, opened, LIMITED_ADDRESS), Client(recorder, opened, LIMITED_ADDRESS)
    first.case("first of two connections from an address")
    second.case("second of two connections from an address")
    third = Client(recorder, opened, LIMITED_ADDRESS)
    third.case("third connection from the address", is_sent=False)
    Client(recorder, opened, OTHER_ADDRESS).case("another address")
    first.case("first again")
    first.wire.close()
    time.sleep(SETTLE_SECONDS)
    fourth = Client(recorder, opened, LIMITED_ADDRESS)
    fourth.case("fourth connection, after the first was closed")


def _altogether(recorder: Recorder, opened: ExitStack) -> None:
    # The recorder has one of the connections.
    recorder.call(changing((BROKER, "", [("max.connections", SET, "3")])), 1)
    time.sleep(IDLE_MS / 1000)
    recorder.reconnect()
    recorder.settle()
    first, second = Client(recorder, opened), Client(recorder, opened)
    first.case("second of three connections")
    second.case("third of three connections")
    waiting = Client(recorder, opened)
    waiting.case("fourth connection, with a maximum of three")
    first.case("second again")
    first.wire.close()
    waiting.case("fourth connection, after one was closed", is_sent=False)
    second.case("third again")
    time.sleep(POLL_SECONDS)
    recorder.call(changing((BROKER, "", [("max.connections", DELETE, None)])), 1)
    time.sleep(SETTLE_SECONDS)
    Client(recorder, opened).case("fifth connection, without a maximum")


def _idle(recorder: Recorder, opened: ExitStack) -> None:
    silent, asking, partial = Client(recorder, opened), Client(recorder, opened), Client(recorder, opened)
    asking.case("response before the connection is idle")
    partial.wire.send(REQUEST[:7])
    waiting = opened.enter_context(MessageClient(recorder.bootstrap))
    partition = FetchPartition(partition=0, partition_max_bytes=1000)
    fetch = FetchRequest(
        max_wait_ms=4 * IDLE_MS,
        min_bytes=1,
        max_bytes=1000,
        topics=[FetchTopic(topic="events", partitions=[partition])],
    )
    waiting.send(fetch, 11)
    slow = Client(recorder, opened)
    for byte in REQUEST[:-1]:
        # Longer than the time, from the first byte to the last.
        slow.wire.send(bytes([byte]))
        time.sleep(IDLE_MS / 1000 / 8)
    idle = {
        "nothing was sent": silent.wire,
        "a request was answered": asking.wire,
        "a part of a request was sent": partial.wire,
        "a response is pending": waiting.wire,
    }
    for case, connection in idle.items():
        recorder.outcome(f"idle: {case}", _outcome_of(connection, CLOSED_SECONDS_MAX))
    slow.wire.send(REQUEST[-1:])
    slow.case("a request in pieces, each in time", is_sent=False)


def _outcome_of(connection: WireConnection, seconds_max: float) -> str:
    if not connection.has_received(seconds_max):
        return "NO_RESPONSE"
    try:
        connection.receive_frame()
    except ConnectionClosedError as error:
        return "RESET" if error.is_reset else "CLOSED"
    return "RESPONSE"


if __name__ == "__main__":
    main(capture)
