"""Connections that a node has just accepted when it crashes or stops.

turns: the turns of the event loop between the connects and the end of the node. Over their range the end comes before
the accept, before the first step of the task that attaches the socket, before connection_made, and after it.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.security.security_protocol import SecurityProtocol

from ..wire.frames import api_versions_request, correlation_id_of
from ..wire.wire_connection import WireConnection
from .running_node import Node, wait_until
from .security.secured_broker import secured_broker

# No more than the default of socket.listen.backlog.size.
CLIENTS = 20
TURNS = range(6)


@pytest.fixture(params=[new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def loop(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoop:
    made: asyncio.AbstractEventLoop = request.param()
    return made


def connect(address: str, stack: ExitStack) -> list[WireConnection]:
    """Open CLIENTS connections, which are closed with the stack."""
    return [stack.enter_context(WireConnection(address)) for _ in range(CLIENTS)]


async def connect_and_wait(node: Node, stack: ExitStack, turns: int) -> list[WireConnection]:
    """Open CLIENTS connections on the event loop of the node, and return them after some turns of it."""
    connections = connect(node.address, stack)
    for _ in range(turns):
        await asyncio.sleep(0)
    return connections


def receive_until_closed(connections: list[WireConnection]) -> list[bytes]:
    return [connection.receive_until_closed() for connection in connections]


def connect_and_crash(node: Node, stack: ExitStack, turns: int) -> list[WireConnection]:
    async def run() -> list[WireConnection]:
        connections = await connect_and_wait(node, stack, turns)
        node.server.crash()
        return connections

    return node.run(run)


@pytest.mark.parametrize("turns", TURNS)
def test_crash_closes_every_accepted_connection(loop: asyncio.AbstractEventLoop, turns: int) -> None:
    with ExitStack() as stack, Node(loop=loop) as node:
        connections = connect_and_crash(node, stack, turns)

        assert receive_until_closed(connections) == [b""] * CLIENTS
        wait_until(lambda: node.server.connection_count == 0)


@pytest.mark.parametrize("turns", TURNS)
def test_connections_from_before_a_crash_do_not_count_after_the_restart(
    loop: asyncio.AbstractEventLoop, turns: int
) -> None:
    with ExitStack() as stack, Node(loop=loop, config={"max.connections": str(CLIENTS)}) as node:
        connect_and_crash(node, stack, turns)
        node.restart()

        with WireConnection(node.address) as connection:
            connection.send(api_versions_request(5))
            response = connection.receive_frame()

    assert correlation_id_of(response) == 5


@pytest.mark.parametrize("turns", TURNS)
def test_stop_returns_after_every_accepted_connection_is_closed(loop: asyncio.AbstractEventLoop, turns: int) -> None:
    with ExitStack() as stack, Node(loop=loop) as node:

        async def run() -> list[bytes]:
            connections = await connect_and_wait(node, stack, turns)
            await node.server.stop()
            # Without a turn of the event loop, because it may end after the stop.
            return receive_until_closed(connections)

        received = node.run(run)

    assert received == [b""] * CLIENTS
    assert node.server.connection_count == 0


def test_crash_closes_connections_before_their_tls_handshake(tmp_path: Path) -> None:
    with ExitStack() as stack, secured_broker(SecurityProtocol.SSL, tmp_path) as broker:
        connections = connect(broker.bootstrap_servers, stack)

        broker.crash()

        assert receive_until_closed(connections) == [b""] * CLIENTS
