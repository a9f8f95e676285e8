"""What a client can make the server hold: sizes that are only announced, unread responses, dropped connections."""

import random
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

from ..ready_sockets import is_writable
from ..wire.frames import api_versions_request, header
from ..wire.wire_connection import WireConnection, still_serves
from .blocking_client import BlockingClient, batch
from .server_process import ServerProcess, running_server

MIB = 1024 * 1024
# socket.request.max.bytes by default: what a frame may claim.
LARGEST_FRAME = 100 * MIB
# What allocator and interpreter keep to themselves, on top of what is really held.
SLACK_MIB = 16
WAIT_SECONDS_MAX = 15.0
# A server that is going to read on does so within a few milliseconds, even on a machine that does much else.
REFUSED_SECONDS = 1.0
POLL_SECONDS = 0.02
TOPIC = "large"
# fetch.max.bytes of clients by default, about.
FETCH_BYTES_MAX = 50_000_000
STORED_BATCHES = 60
BATCH_BYTES = 900_000
DROPPED_ROUNDS = 50
# Fewer than the backlog of the listening socket: beyond it the kernel lets clients wait for a second.
DROPPED_IN_A_ROUND = 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("server"), "num.partitions=1") as running:
        assert still_serves(running.address)
        yield running
        assert "Traceback" not in running.log()


@pytest.fixture(scope="module")
def filled(server: ServerProcess) -> ServerProcess:
    """The server with 54 MB in partition 0 of a topic."""
    records = batch(bytes(BATCH_BYTES))
    with BlockingClient(server.address) as client:
        client.create_topic(TOPIC)
        for _ in range(STORED_BATCHES):
            assert client.produce(TOPIC, records).error_code == 0
    return server


def fetch_request() -> bytes:
    """A framed fetch of all there is, up to Kafka's usual 50 MB."""
    topic = FetchTopic(topic=TOPIC, partitions=[FetchPartition(partition_max_bytes=100 * MIB)])
    request = FetchRequest(max_bytes=FETCH_BYTES_MAX, session_epoch=-1, topics=[topic])
    return request_frame(APIS[ApiKey.FETCH], 11, 1, request)


def send_until_refused(sending: socket.socket, data: bytes) -> int:
    """Send data over and over until the peer takes no more for a while; return how many bytes it took."""
    taken = 0
    while is_writable(sending, REFUSED_SECONDS):
        position = taken % len(data)
        taken += sending.send(data[position:])
        assert taken < 100 * MIB, "the server reads on although nobody reads its answers"
    return taken


def drop_with_a_reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(POLL_SECONDS)


def test_claimed_sizes_take_no_memory(server: ServerProcess) -> None:
    before = server.memory_mib()
    with ExitStack() as connections:
        for _ in range(50):
            connection = connections.enter_context(WireConnection(server.address))
            connection.send(struct.pack(">i", LARGEST_FRAME) + bytes(1000))
        is_serving = still_serves(server.address)
        grown = server.memory_mib() - before

    assert is_serving
    # Each has a receive buffer of 256 KiB, and none has what it claims to need.
    assert grown < 50 * 0.25 + SLACK_MIB


def test_a_frame_of_the_largest_size_is_given_back(server: ServerProcess) -> None:
    before = server.memory_mib()
    piece = bytes(MIB)
    with WireConnection(server.address) as connection:
        connection.send(struct.pack(">i", LARGEST_FRAME) + header(999, 0, 1))
        for _ in range(99):
            connection.send_what_is_taken(piece)
        connection.send_what_is_taken(bytes(MIB - len(header(999, 0, 1))))

        assert connection.receive_until_closed() == b""

    assert still_serves(server.address)
    assert server.memory_mib() - before < SLACK_MIB


def test_a_client_that_does_not_read_is_no_longer_read_from(filled: ServerProcess) -> None:
    server = filled
    before = server.memory_mib()
    requests = fetch_request() * 100
    with WireConnection(server.address) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        connection.socket.setblocking(False)
        asked_bytes = send_until_refused(connection.socket, requests)
        is_serving = still_serves(server.address)
        grown = server.memory_mib() - before

    # Hundreds of fetches of 50 MB each were asked for; the socket's buffers hold the requests, no memory the answers.
    assert asked_bytes > len(requests)
    assert is_serving
    assert grown < SLACK_MIB


def test_a_client_that_reads_late_gets_every_answer(filled: ServerProcess) -> None:
    with WireConnection(filled.address) as connection:
        connection.send(fetch_request() * 3 + api_versions_request(9))

        sizes = [len(connection.receive_frame()) for _ in range(4)]

    assert sizes[0] == sizes[1] == sizes[2] > 40 * MIB > sizes[3]


def test_connections_opened_and_dropped_leave_nothing(server: ServerProcess) -> None:
    chance = random.Random(1)
    open_files, before = server.open_files(), server.memory_mib()
    for _ in range(DROPPED_ROUNDS):
        for _ in range(DROPPED_IN_A_ROUND):
            with WireConnection(server.address) as connection:
                connection.send_what_is_taken(api_versions_request()[: chance.randrange(15)])
                if chance.random() < 0.5:
                    drop_with_a_reset(connection.socket)
        assert still_serves(server.address)

    wait_until(lambda: server.open_files() <= open_files)
    assert server.memory_mib() - before < SLACK_MIB
