"""Limits of the HTTP server: unfinished requests, sizes, the number of connections, and clients that do not read.

The times are shortened, except in the test of a thousand half requests. Both event loops serve.
"""

import asyncio
import resource
import select
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fauxka.admin import http_connection, http_server
from fauxka.admin.application import make_application
from fauxka.admin.http_connection import HEADER_BYTES_MAX
from fauxka.admin.http_server import HttpServer, connections_max
from fauxka.admin.operations.all_operations import OPERATIONS
from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.testing import AsyncBroker

from ..serving_process import serving
from .admin_client import AdminClient

CONNECTIONS = 4
# Reached only by a hang.
SECONDS_MAX = 60
# Long enough to connect and send a few lines on a busy machine.
SHORT_SECONDS = 1.0
POLL_SECONDS = 0.01
LONG_MS = 600_000

HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost:"
HALF_BODY = b'POST /v1/rules HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"point'
WAIT = b"GET /v1/rules/1/await?timeout_ms=%d HTTP/1.1\r\nHost: x\r\n\r\n"
RULE = b'{"point": "received", "action": {"kind": "observe"}}'
ADD_RULE = b"POST /v1/rules HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(RULE), RULE)


@dataclass(frozen=True)
class Client:
    """One connection to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def response(self) -> tuple[int, bytes]:
        """Return status and body of the next response."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        lines = head.decode().lower().split("\r\n")
        (length,) = [int(line.split(": ")[1]) for line in lines if line.startswith("content-length")]
        return int(lines[0].split()[1]), await self.reader.readexactly(length)

    async def rest(self) -> bytes:
        """Return what is sent until the server closes the connection."""
        try:
            return await self.reader.read()
        except ConnectionResetError:
            return b""


@dataclass(frozen=True)
class Scene:
    """A server, and its port."""

    server: HttpServer
    port: int
    clients: list[Client] = field(default_factory=list[Client])

    async def connect(self, data: bytes = b"") -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        await client.send(data)
        return client

    async def health(self) -> int:
        """Return the status of /healthz on a new connection."""
        client = await self.connect(HEALTHZ)
        status, _ = await client.response()
        client.writer.close()
        return status

    async def disconnect(self) -> None:
        for client in self.clients:
            client.writer.close()
            with suppress(OSError):
                await client.writer.wait_closed()


@asynccontextmanager
async def running() -> AsyncGenerator[Scene]:
    async with AsyncBroker() as broker:
        bound = socket.create_server(("127.0.0.1", 0))
        application = make_application(broker.control, OPERATIONS, token=None, stopping=asyncio.Event())
        server = HttpServer(application, bound)
        await server.start()
        scene = Scene(server, bound.getsockname()[1])
        try:
            yield scene
        finally:
            await scene.disconnect()
            await server.stop()


Story = Callable[[Scene], Awaitable[None]]
Play = Callable[[Story], None]


@pytest.fixture(params=[new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def play(request: pytest.FixtureRequest) -> Play:
    """Run a story on one of the event loops."""

    async def run(story: Story) -> None:
        async with asyncio.timeout(SECONDS_MAX), running() as scene:
            await story(scene)

    def play(story: Story) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(run(story))

    return play


@pytest.fixture
def short_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "REQUEST_SECONDS_MAX", SHORT_SECONDS)


@pytest.fixture
def few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "connections_max", lambda: CONNECTIONS)


# Unfinished requests.


@pytest.mark.usefixtures("short_requests")
@pytest.mark.parametrize("part", [b"", b"G", HALF_HEAD, HALF_BODY], ids=repr)
def test_unfinished_request_is_408_and_closed(play: Play, part: bytes) -> None:
    async def story(scene: Scene) -> None:
        client = await scene.connect(part)

        status, body = await client.response()

        assert (status, b"the request was not complete after" in body) == (408, True)
        assert await client.rest() == b""
        assert await scene.health() == 200

    play(story)


@pytest.mark.usefixtures("short_requests")
def test_bytes_do_not_extend_the_time_of_a_request(play: Play) -> None:
    async def story(scene: Scene) -> None:
        client = await scene.connect(HALF_HEAD)
        response = asyncio.ensure_future(client.response())

        while not response.done():
            client.writer.write(b"x")
            await asyncio.wait({response}, timeout=POLL_SECONDS)

        assert (await response)[0] == 408

    play(story)


@pytest.mark.usefixtures("short_requests")
@pytest.mark.parametrize("part", [HALF_HEAD, HALF_BODY], ids=["head", "body"])
def test_each_request_of_a_connection_has_its_own_time(play: Play, part: bytes) -> None:
    async def story(scene: Scene) -> None:
        client = await scene.connect(HEALTHZ + HEALTHZ + part)

        statuses = [(await client.response())[0] for _ in range(3)]

        assert statuses == [200, 200, 408]
        assert await client.rest() == b""

    play(story)


@pytest.mark.usefixtures("short_requests")
def test_unfinished_body_is_closed_without_a_second_response(play: Play) -> None:
    async def story(scene: Scene) -> None:
        client = await scene.connect(HALF_BODY.replace(b"/v1/rules", b"/v1/nothing"))

        status, _ = await client.response()

        assert status == 404
        assert await client.rest() == b""

    play(story)


@pytest.mark.usefixtures("short_requests")
def test_idle_and_waiting_connections_outlive_the_time_of_a_request(play: Play) -> None:
    async def story(scene: Scene) -> None:
        idle = await scene.connect(ADD_RULE)
        assert (await idle.response())[0] == 201
        waiting = await scene.connect(WAIT % int(SHORT_SECONDS * 2000))
        half = await scene.connect(HALF_HEAD)

        await half.rest()

        await idle.send(HEALTHZ)
        assert (await idle.response())[0] == 200
        status, body = await waiting.response()
        assert (status, b'"hits":0' in body) == (408, True)

    play(story)


# Sizes and malformed requests.


def test_headers_above_the_limit_are_431(play: Play) -> None:
    async def story(scene: Scene) -> None:
        client = await scene.connect(b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"x" * (2 * HEADER_BYTES_MAX))

        status, body = await client.response()

        assert (status, body.startswith(b'{"error":{')) == (431, True)

    play(story)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"POST /v1/rules HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"POST /v1/rules HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
    ],
    ids=["TLS", "no Host", "two hosts", "gzip", "chunk"],
)
@pytest.mark.parametrize("before", [b"", HEALTHZ], ids=["first", "second"])
def test_malformed_request_is_an_error_in_json(play: Play, before: bytes, request_bytes: bytes, status: int) -> None:
    async def story(scene: Scene) -> None:
        client = await scene.connect(before)
        if before:
            await client.response()
        await client.send(request_bytes)

        found, body = await client.response()

        assert (found, b"invalid HTTP request" in body) == (status, True)
        assert await client.rest() == b""
        assert await scene.health() == 200

    play(story)


# Connections.


@pytest.mark.usefixtures("few_connections")
@pytest.mark.parametrize("part", [b"", HALF_HEAD, HALF_BODY], ids=["new", "head", "body"])
def test_half_requests_make_room_for_other_connections(play: Play, part: bytes) -> None:
    async def story(scene: Scene) -> None:
        halves = [await scene.connect(part) for _ in range(CONNECTIONS * 3)]

        assert await scene.health() == 200
        assert [(await half.response())[0] for half in halves[:CONNECTIONS]] == [503] * CONNECTIONS

    play(story)


@pytest.mark.usefixtures("few_connections")
def test_oldest_idle_connection_makes_room_after_half_requests(play: Play) -> None:
    async def story(scene: Scene) -> None:
        idle = [await scene.connect(HEALTHZ) for _ in range(CONNECTIONS - 1)]
        for client in idle:
            await client.response()
        half = await scene.connect(HALF_HEAD)

        assert [(await (await scene.connect(HEALTHZ)).response())[0] for _ in range(2)] == [200, 200]

        assert b"503" in await half.rest()
        assert await idle[0].rest() == b""
        await idle[1].send(HEALTHZ)
        assert (await idle[1].response())[0] == 200

    play(story)


@pytest.mark.usefixtures("few_connections")
def test_connection_above_the_limit_is_503_while_all_others_wait_for_responses(play: Play) -> None:
    async def story(scene: Scene) -> None:
        first = await scene.connect(ADD_RULE)
        await first.response()
        await first.send(WAIT % LONG_MS)
        for _ in range(CONNECTIONS - 1):
            await scene.connect(WAIT % LONG_MS)
        while scene.server.calls < CONNECTIONS:
            await asyncio.sleep(POLL_SECONDS)

        status, body = await (await scene.connect()).response()
        first.writer.close()
        while scene.server.calls == CONNECTIONS:
            await asyncio.sleep(POLL_SECONDS)

        assert (status, b"4 connections" in body) == (503, True)
        assert await scene.health() == 200

    play(story)


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Enough file descriptors for a thousand connections of this process, and of those it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"needs {wanted} file descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("descriptors")
def test_connections_use_a_quarter_of_the_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    few = connections_max()
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, hard))

    assert (few, connections_max()) == (256, 1000)


# Clients that do not read.


@pytest.mark.parametrize("ending", [b"", b"Connection: close\r\n"], ids=["kept", "closed"])
def test_client_that_does_not_read_is_disconnected(play: Play, ending: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "STALLED_SECONDS_MAX", SHORT_SECONDS)
    request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n%s\r\n"

    async def story(scene: Scene) -> None:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", scene.port))
            # More than the kernel buffers.
            await loop.sock_sendall(client, request % b"" * 200 + request % ending)
            while not scene.server.connections:
                await asyncio.sleep(POLL_SECONDS)

            while scene.server.connections:
                await asyncio.sleep(POLL_SECONDS)

        assert await scene.health() == 200

    play(story)


# Real times.


@pytest.mark.deep
@pytest.mark.usefixtures("descriptors")
def test_a_thousand_half_requests_leave_the_api_answering_and_are_closed_within_30_seconds(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0") as broker:
        assert broker.admin is not None
        admin = AdminClient(broker.admin)
        host, _, port = admin.address.partition(":")
        halves = [socket.create_connection((host, int(port)), timeout=SECONDS_MAX) for _ in range(999)]
        for index, half in enumerate(halves):
            half.sendall(HALF_HEAD if index % 2 else HALF_BODY)
        sent = time.monotonic()

        status = admin.call("GET", "/healthz").status
        poll = select.poll()
        for half in halves:
            poll.register(half, select.POLLIN)
        ended_early = poll.poll(0)
        ends = [half.recv(1 << 16)[:12] for half in halves]
        seconds = time.monotonic() - sent
        for half in halves:
            half.close()

    assert status == 200
    assert ended_early == []
    assert set(ends) == {b"HTTP/1.1 408"}
    assert seconds < 30
