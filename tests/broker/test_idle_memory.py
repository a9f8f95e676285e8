"""The memory of a broker with thousands of idle connections."""

import resource
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ..wire.frames import api_versions_request
from ..wire.wire_connection import WireConnection, still_serves
from .server_process import ServerProcess, running_server

# Enough that the memory of each is more than the noise of the measurement.
CONNECTIONS = 2000
KIB_PER_CONNECTION_MAX = 40
# What remains after they have closed: the journal's records of their requests, and freed memory between used blocks.
KEPT_SHARE_MAX = 1 / 4
KIB_PER_MIB = 1024
DESCRIPTORS_BESIDE = 200


@pytest.fixture(scope="module", autouse=True)
def enough_descriptors() -> Iterator[None]:
    """A limit for the sockets of this process and, inherited, for those of the broker."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + DESCRIPTORS_BESIDE
    if limits[1] != resource.RLIM_INFINITY and limits[1] < wanted:
        pytest.skip(f"the limit of open files is {limits[1]}")
    if limits[0] != resource.RLIM_INFINITY and limits[0] < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def open_connections(server: ServerProcess, opened: ExitStack) -> None:
    for _ in range(CONNECTIONS):
        connection = opened.enter_context(WireConnection(server.address))
        connection.send(api_versions_request())
        connection.receive_frame()


def test_an_idle_connection_takes_little_memory_and_gives_it_back(tmp_path: Path) -> None:
    with running_server(tmp_path, "fauxka.journal.requests.max=1") as server:
        assert still_serves(server.address)
        before = server.memory_mib()
        with ExitStack() as opened:
            open_connections(server, opened)
            with_connections = server.memory_mib() - before
        assert still_serves(server.address)
        after = server.memory_mib() - before
        with ExitStack() as opened:
            open_connections(server, opened)
            with_connections_again = server.memory_mib() - before

    most = CONNECTIONS * KIB_PER_CONNECTION_MAX / KIB_PER_MIB
    assert with_connections < most
    assert after < most * KEPT_SHARE_MAX
    # What was freed is used again.
    assert with_connections_again < with_connections + most * KEPT_SHARE_MAX
