"""A broker whose process has no file descriptor left: new clients wait, all others go on, and the log says so once."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ..wire.frames import api_versions_request, correlation_id_of
from ..wire.wire_connection import WireConnection
from .server_process import ServerProcess, running_server
from .topic_client import TopicClient

DESCRIPTORS_MAX = 80
# More than the process may open.
CLIENTS = 100
WAITING_SECONDS = 0.3
NO_DESCRIPTOR = "has no file descriptor left"
SERVED = api_versions_request(5)
# The kernel lets no client beyond the backlog connect.
BACKLOG = "socket.listen.backlog.size=200"


@pytest.fixture(scope="module", params=["uvloop in memory", "uvloop on disk", "asyncio in memory", "asyncio on disk"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """No test before that of first requests may send other requests than ApiVersions."""
    loop, _, storage = str(request.param).partition(" ")
    folder = tmp_path_factory.mktemp("server")
    options = ["--data-dir", str(folder / "data")] if storage == "on disk" else []
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    with running_server(
        folder, BACKLOG, options=options, descriptors_max=DESCRIPTORS_MAX, uvloop=loop == "uvloop"
    ) as running:
        yield running
        assert "Traceback" not in running.log()
        assert "exception" not in running.log()


def opened_beyond_the_limit(server: ServerProcess, stack: ExitStack) -> list[WireConnection]:
    """Open CLIENTS connections, send a request on each, and return the connections that got a response."""
    connections = [stack.enter_context(WireConnection(server.address)) for _ in range(CLIENTS)]
    for connection in connections:
        connection.send(SERVED)
    served: list[WireConnection] = []
    for connection in connections:
        if not connection.has_received(WAITING_SECONDS):
            break
        assert correlation_id_of(connection.receive_frame()) == 5
        served.append(connection)
    return served


@pytest.mark.processes
def test_clients_beyond_the_descriptors_wait_and_the_others_are_served(server: ServerProcess) -> None:
    with ExitStack() as stack:
        served = opened_beyond_the_limit(server, stack)
        for connection in served:
            connection.send(SERVED)
        answers = [correlation_id_of(connection.receive_frame()) for connection in served]

    assert DESCRIPTORS_MAX / 3 < len(served) < DESCRIPTORS_MAX
    assert answers == [5] * len(served)


def test_clients_that_wait_are_served_when_others_have_closed(server: ServerProcess) -> None:
    with ExitStack() as stack:
        waiting = ExitStack()
        stack.enter_context(waiting)
        with ExitStack() as first:
            served = opened_beyond_the_limit(server, first)
            late = waiting.enter_context(WireConnection(server.address))
            late.send(SERVED)
            assert not late.has_received(WAITING_SECONDS)
        answer = late.receive_frame()

    assert len(served) > 0
    assert correlation_id_of(answer) == 5


def test_first_requests_of_apis_are_answered_without_a_descriptor_for_connections(server: ServerProcess) -> None:
    with TopicClient(server.address) as client, ExitStack() as stack:
        opened_beyond_the_limit(server, stack)
        created = client.create_topic("events")
        produced = client.produce(0)
        fetched = client.fetch()
        listed = client.list_offset(-1)
        deleted = client.delete_records(1)

    assert (created, produced.error_code, produced.base_offset) == (0, 0, 0)
    assert fetched.records
    assert (listed.error_code, listed.offset) == (0, 1)
    assert (deleted.error_code, deleted.low_watermark) == (0, 1)


@pytest.mark.processes
def test_many_partitions_are_written_without_a_descriptor_for_connections(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path / "data")]
    with running_server(tmp_path, BACKLOG, options=options, descriptors_max=DESCRIPTORS_MAX) as server:
        with TopicClient(server.address) as client, ExitStack() as stack:
            for number in range(20):
                assert client.create_topic(f"topic-{number}") == 0
            assert client.create_topic("events") == 0
            opened_beyond_the_limit(server, stack)
            client.send_produce(0, 1, 2, partitions=2)
            codes = [[partition.error_code for partition in client.receive_produced()] for _ in range(3)]
            later = [client.create_topic(f"later-{number}") for number in range(20)]

        assert codes == [[0, 0]] * 3
        assert later == [0] * 20
        assert "Traceback" not in server.log()
        assert "exception" not in server.log()


def test_the_log_has_no_line_for_each_client_that_waits(server: ServerProcess) -> None:
    before = server.log().count(NO_DESCRIPTOR)
    with ExitStack() as stack:
        opened_beyond_the_limit(server, stack)
        for _ in range(20):
            # Each close lets another client in.
            stack.enter_context(WireConnection(server.address)).close()
        still_waiting = server.log().count(NO_DESCRIPTOR)

    assert still_waiting >= 1
    assert still_waiting - before <= 1
