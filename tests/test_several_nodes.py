"""`fauxka serve --nodes`: ports, output, ready file, environment and wrong values."""

import json
import signal
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fauxka.admin.admin_options import AdminOptions, bind
from fauxka.admin.client.admin_client import find_admin_address
from fauxka.broker.lifecycle.serve_command import ServeOptions, prepare
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.scenarios.brokers.reserved_port import ReservedPort

from .broker.blocking_client import BlockingClient
from .serving_process import Serving, run, serving, stop

pytestmark = pytest.mark.processes


def ready_nodes(broker: Serving) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = json.loads(broker.ready_file.read_text())["nodes"]
    return nodes


def first_of_two_free_ports() -> int:
    """Return a port that is free now, and so is the next one."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            with suppress(OSError), socket.create_server(("127.0.0.1", port + 1)):
                return port


def test_each_node_has_a_free_port_and_knows_all_others(tmp_path: Path) -> None:
    with serving(tmp_path, "--nodes", "3", "--racks", "a,b,c") as broker:
        addresses = broker.bootstrap.split(",")
        seen: list[list[tuple[int, str, str | None]]] = []
        for address in addresses:
            with BlockingClient(address) as client:
                brokers = client.metadata().brokers
            seen.append([(each.node_id, f"{each.host}:{each.port}", each.rack) for each in brokers])
        nodes = ready_nodes(broker)

    expected = [(1, addresses[0], "a"), (2, addresses[1], "b"), (3, addresses[2], "c")]
    assert seen == [expected] * 3
    assert nodes == [{"node": node, "bootstrap": address, "rack": rack} for node, address, rack in expected]


def test_output_of_the_first_node_is_that_of_an_only_one_and_the_others_say_their_node(tmp_path: Path) -> None:
    listeners = ("--listener", "IN://127.0.0.1:0", "--listener", "OUT://127.0.0.1:0,broker.example:29094")
    with serving(tmp_path, "--nodes", "2", "--log-kafka-started", *listeners) as broker:
        first, second = broker.bootstrap.split(",")
        ended = stop(broker, signal.SIGTERM)

    assert ended.output == (
        f"IN://{first}\nOUT://broker.example:29094\nIN://{second} node 2\nOUT://broker.example:29095 node 2\n"
    )
    assert [f"[KafkaServer id={node}] started" in ended.log for node in (1, 2, 3)] == [True, True, False]


def test_ports_and_ids_are_consecutive_by_the_environment(tmp_path: Path) -> None:
    port = first_of_two_free_ports()
    variables = {"FAUXKA_NODES": "2", "FAUXKA_RACKS": "a, b", "KAFKA_NODE_ID": "7"}
    with serving(tmp_path, "--port", str(port), variables=variables) as broker:
        nodes = ready_nodes(broker)

    assert [(each["node"], each["bootstrap"], each["rack"]) for each in nodes] == [
        (7, f"127.0.0.1:{port}", "a"),
        (8, f"127.0.0.1:{port + 1}", "b"),
    ]


def test_health_of_several_nodes_is_that_of_one_that_answers(tmp_path: Path) -> None:
    port = first_of_two_free_ports()
    variables = {"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{port}", "FAUXKA_NODES": "2"}
    with socket.socket() as first_node:
        first_node.bind(("127.0.0.1", port))
        with serving(tmp_path, "--port", str(port + 1)):
            of_any = run("health", variables=variables)
            of_first = run("health", "--port", str(port), variables=variables)
        of_none = run("health", variables=variables)

    assert (of_any.exit_code, of_any.log) == (0, "")
    assert (of_first.exit_code, of_none.exit_code) == (1, 1)
    assert [f"127.0.0.1:{each}" in of_none.log for each in (port, port + 1)] == [True, True]
    assert len(of_none.log.splitlines()) == 1


def test_default_port_of_the_admin_api_may_be_that_of_a_node(tmp_path: Path) -> None:
    options = AdminOptions(host="127.0.0.9")

    bound = bind(options, {9092, options.port})

    with bound.bound:
        assert bound.is_other_port
        assert bound.port != options.port


def test_advertised_file_has_a_line_for_each_node(tmp_path: Path) -> None:
    file = tmp_path / "advertised"
    file.write_text("A://a.example:1\nA://b.example:7\n")
    port = first_of_two_free_ports()
    environment = {
        "KAFKA_LISTENERS": f"A://127.0.0.1:{port}",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "A:PLAINTEXT",
    }
    options = ServeOptions(environment=environment, nodes=2, advertised_file=str(file))

    listeners = prepare(options, None).built.listeners

    assert listeners == [
        [ListenerConfig("A", "127.0.0.1", port, "a.example", 1)],
        [ListenerConfig("A", "127.0.0.1", port + 1, "b.example", 7)],
    ]


def test_racks_of_one_node_are_its_rack(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--racks", "a", "-c", "broker.rack=other") as broker,
        BlockingClient(broker.bootstrap) as client,
    ):
        assert [each.rack for each in client.metadata().brokers] == ["a"]
        assert "nodes" not in json.loads(broker.ready_file.read_text())


def test_commands_find_the_admin_api_by_the_ready_file(tmp_path: Path) -> None:
    with serving(tmp_path, "--nodes", "2", "--admin-port", "0", "--seed-topic", "orders:4") as broker:
        assert find_admin_address(None, str(broker.ready_file)).url == broker.admin
        added = run("fault", "add", "lost_ack", "--node", "2", "--ready-file", str(broker.ready_file))
        topics = run("kafka-topics", "--bootstrap-server", broker.bootstrap.split(",")[1], "--list")
        exported = run("export", str(tmp_path / "out"), "--from", f"127.0.0.1:1,{broker.bootstrap}")

    assert (added.exit_code, "node 2" in added.output) == (0, True)
    assert topics.output == "orders\n"
    assert (exported.exit_code, "orders: partitions 4" in exported.output) == (0, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--nodes", "0"), "Invalid value for '--nodes': 0 is not in the range 1<=x<=16."),
        (("--nodes", "17"), "Invalid value for '--nodes': 17 is not in the range 1<=x<=16."),
        (("--nodes", "two"), "Invalid value for '--nodes': 'two' is not a valid integer range."),
        (("--nodes", "3", "--racks", "a,b"), "racks: expected a rack for each of 3 nodes, got 2: a, b"),
        (("--nodes", "2", "--racks", "a,"), "racks: expected a name for each node, got ['a', '']"),
        (("--racks", "a,b"), "racks: expected a rack for each of 1 nodes, got 2: a, b"),
        (
            ("--nodes", "3", "--port", "65534"),
            "PLAINTEXT of node 3 of 3 would have port 65536; the highest is 65535",
        ),
        (
            ("--nodes", "2", "--listener", "A://:9092,a:65535"),
            "A of node 2 of 2 would have port 65536; the highest is 65535",
        ),
        (
            ("--nodes", "2", "--listener", "A://:9092", "--listener", "B://:9093"),
            "port 9093 would be that of B of node 1 and of A of node 2: each of 2 nodes has the port of the node "
            "before plus one",
        ),
        (
            ("--nodes", "2", "-c", "node.id=2147483647"),
            "node.id 2147483647: 2 nodes need ids up to 2147483647 at most",
        ),
        (
            ("--nodes", "3", "--import-logs", "data"),
            "--import-logs: 1 folders for 3 nodes; each needs its own",
        ),
        (
            ("--port", "9192", "--admin-port", "9192"),
            "--admin-port: port 9192 is the port of a Kafka listener",
        ),
    ],
)
def test_wrong_value_is_one_line_and_exit_code_2(options: tuple[str, ...], message: str) -> None:
    ended = run("serve", *options)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == f"fauxka: {message}\n"


@contextmanager
def reserved_ports() -> Generator[int]:
    """Return a port that is free, and so is the next one; no other process gets them from the system."""
    with ExitStack() as opened:
        while True:
            first = ReservedPort()
            opened.callback(first.close)
            following = opened.enter_context(socket.socket())
            following.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError, OverflowError):
                following.bind(("127.0.0.1", first.number + 1))
                break
        yield first.number


def test_port_of_the_second_node_that_is_in_use_stops_the_first(tmp_path: Path) -> None:
    with reserved_ports() as port, serving(tmp_path, "--port", str(port + 1)):
        ended = run("serve", "--nodes", "2", "--port", str(port))

    assert ended.exit_code == 2
    assert f"cannot bind 127.0.0.1:{port + 1}: address already in use" in ended.log
    assert ended.output == ""
