"""No client of an earlier test reaches the broker of the next one: each test has its own addresses."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer

from fauxka.testing import AsyncBroker, Broker
from fauxka.testing.isolated_tests import TESTS_KEPT_MAX, EarlierClient

from .child_pytest import SEND, prepare, run_tests
from .producing import DELIVERED_SECONDS_MAX

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.clients

WAIT_SECONDS_MAX = 30.0
# A Metadata request from kcat's header on: size, API key, version, correlation id and the client id "shop".
HEADER = b"\x00\x00\x00\x16\x00\x03\x00\x01\x00\x00\x00\x01\x00\x04shop"

OPEN_CLIENTS = """
import time
from confluent_kafka import Consumer, Producer
from kafka import KafkaProducer

kept = {}

def test_first(fauxka):
    bootstrap = fauxka.bootstrap_servers
    quiet = {"bootstrap.servers": bootstrap, "log_level": 0}
    kept["confluent"] = Producer({**quiet, "client.id": "confluent", "enable.idempotence": True})
    kept["confluent"].produce("orders", "first")
    assert kept["confluent"].flush(30) == 0
    kept["python"] = KafkaProducer(bootstrap_servers=bootstrap, client_id="python")
    kept["python"].send("orders", b"first").get(30)
    reader = Consumer({**quiet, "client.id": "reader", "group.id": "shop", "auto.offset.reset": "earliest"})
    reader.subscribe(["orders"])
    assert len(reader.consume(2, 30)) == 2
    kept["reader"] = reader
    assert [group.group_id for group in fauxka.groups.list()] == ["shop"]

def tried(broker):
    # A client may close a connection before it has sent its name.
    return {client.client_id for client in broker.earlier_clients if client.client_id is not None}

def test_second(fauxka):
    kept["confluent"].produce("orders", "late")
    late = kept["python"].send("orders", b"late")
    ends = time.monotonic() + 30
    while not {"confluent", "reader"} <= tried(fauxka) or not any("python" in name for name in tried(fauxka)):
        assert time.monotonic() < ends, tried(fauxka)
        kept["reader"].poll(0.1)
    assert fauxka.topics.list() == [] and fauxka.groups.list() == []
    send(fauxka.bootstrap_servers)
    assert [record.text for record in fauxka.records("orders")] == ["one coffee"]
    assert {entry.client_id for entry in fauxka.journal.entries()} == {"rdkafka"}
    assert not late.is_done
    {end}
"""

# Clients that are open can hold the end of their process for a minute: they wait for a broker that rejects them.
END_AT_ONCE = """
import os

def pytest_sessionfinish(exitstatus):
    pytest_sessionfinish.status = int(exitstatus)

def pytest_unconfigure(config):
    config.get_terminal_writer().flush()
    os._exit(pytest_sessionfinish.status)
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    pytester.makeconftest(END_AT_ONCE)
    return prepare(pytester, monkeypatch)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def test_producers_and_a_consumer_of_a_test_do_not_reach_the_next_one(run: pytest.Pytester) -> None:
    run.makepyfile(SEND + OPEN_CLIENTS.replace("{end}", "pass"))

    run_tests(run).assert_outcomes(passed=2)


def test_a_failed_test_names_the_clients_of_earlier_tests_that_tried_to_connect(run: pytest.Pytester) -> None:
    run.makepyfile(test_shop=SEND + OPEN_CLIENTS.replace("{end}", "assert False"))

    result = run_tests(run)

    result.assert_outcomes(passed=1, failed=1)
    rejected = "  client '{}' of test_shop.py::test_first at 127.0.0.1 was left open: * rejected"
    result.stdout.fnmatch_lines(["Earlier clients"])
    result.stdout.fnmatch_lines_random([rejected.format(name) for name in ("confluent", "reader", "*python*")])


def test_an_aiokafka_producer_of_a_test_does_not_reach_the_next_one(run: pytest.Pytester) -> None:
    run.makepyfile("""
import asyncio
from aiokafka import AIOKafkaProducer

loop = asyncio.new_event_loop()
kept = []

async def start(bootstrap):
    kept.append(AIOKafkaProducer(bootstrap_servers=bootstrap, client_id="async", enable_idempotence=True))
    await kept[0].start()
    await kept[0].send_and_wait("orders", b"first")

async def send_late(broker):
    await kept[0].send("orders", b"late")
    while "async" not in {client.client_id for client in broker.earlier_clients}:
        await asyncio.sleep(0.05)

def test_first(fauxka):
    loop.run_until_complete(start(fauxka.bootstrap_servers))

def test_second(fauxka):
    loop.run_until_complete(asyncio.wait_for(send_late(fauxka), 30))
    assert fauxka.topics.list() == []
""")

    run_tests(run).assert_outcomes(passed=2)


def test_a_test_after_a_session_fixture_with_the_broker_has_the_address_of_the_session(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture(scope="session")
def application(fauxka_broker):
    return fauxka_broker.bootstrap_servers

def test_first(fauxka):
    pass

def test_second(fauxka, application):
    assert application == fauxka.bootstrap_servers

def test_third(fauxka, application):
    assert application == fauxka.bootstrap_servers
""")

    run_tests(run).assert_outcomes(passed=3)


def test_each_node_has_a_new_address_also_one_that_the_earlier_test_has_killed() -> None:
    with Broker({"default.replication.factor": 3}, nodes=3) as broker:
        broker.begin_test("first")
        earlier = broker.bootstrap_servers.split(",")
        broker.stop_node(2, controlled=False, noticed=True)
        broker.isolate(3, ["controller"])

        broker.begin_test("second")

        addresses = broker.bootstrap_servers.split(",")
        assert len({*earlier, *addresses}) == 6
        assert [node.bootstrap for node in broker.nodes()] == addresses
        broker.topics.create("orders", partitions=3)
        producer = Producer({"bootstrap.servers": addresses[1], "log_level": 0})
        for partition in range(3):
            producer.produce("orders", value=b"", partition=partition)
        assert producer.flush(DELIVERED_SECONDS_MAX) == 0
        for address in earlier:
            assert connect_and_send(address, HEADER) == b""


def test_a_broker_on_the_loop_of_the_test_rejects_clients_of_earlier_tests() -> None:
    async def use() -> tuple[bytes, dict[EarlierClient, int]]:
        async with AsyncBroker() as broker:
            await broker.begin_test("first")
            address = broker.bootstrap_servers
            await broker.begin_test("second")
            received = await asyncio.to_thread(connect_and_send, address, HEADER)
            return received, dict(broker.earlier_clients)

    assert asyncio.run(use()) == (b"", {EarlierClient("first", "shop", "127.0.0.1"): 1})


def test_a_crashed_node_restarts_on_the_address_of_its_test(broker: Broker) -> None:
    broker.begin_test("first")
    broker.begin_test("second")
    address = broker.bootstrap_servers

    broker.crash()
    broker.restart()

    assert broker.bootstrap_servers == address
    socket.create_connection(host_and_port(address), 10).close()


def test_a_client_of_a_secured_broker_is_rejected_and_has_no_name() -> None:
    with Broker(security_protocol="SASL_SSL", users={"alice": "secret"}) as broker:
        broker.begin_test("first")
        kept = Producer({**broker.client_config(), "log_level": 0})

        broker.begin_test("second")

        kept.poll(0)
        wait_for(lambda: EarlierClient("first", None, "127.0.0.1") in broker.earlier_clients)


def test_a_client_id_that_arrives_in_pieces_is_read(broker: Broker) -> None:
    address = begin_two_tests(broker)

    with socket.create_connection(host_and_port(address), 10) as client:
        for byte in HEADER:
            client.sendall(bytes([byte]))
        assert client.recv(1) == b""

    wait_for(lambda: broker.earlier_clients == {EarlierClient("first", "shop", "127.0.0.1"): 1})


@pytest.mark.parametrize("first_bytes", [b"", b"\x16\x03", b"\xff" * 100, HEADER[:12] + b"\xff\xff"])
def test_a_client_without_a_client_id_is_counted_too(broker: Broker, first_bytes: bytes) -> None:
    address = begin_two_tests(broker)

    assert connect_and_send(address, first_bytes) == b""

    wait_for(lambda: broker.earlier_clients == {EarlierClient("first", None, "127.0.0.1"): 1})


def test_the_count_of_a_test_begins_at_0(broker: Broker) -> None:
    address = begin_two_tests(broker)
    connect_and_send(address, HEADER)

    broker.begin_test("third")

    assert broker.earlier_clients == {}


def test_the_addresses_of_the_oldest_tests_are_closed_and_no_test_gets_them_again(broker: Broker) -> None:
    addresses: list[str] = []
    for number in range(TESTS_KEPT_MAX + 2):
        broker.begin_test(f"test {number}")
        addresses.append(broker.bootstrap_servers)

    assert len(set(addresses)) == len(addresses)
    assert connect_and_send(addresses[1], HEADER) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(host_and_port(addresses[0]), 10)


def begin_two_tests(broker: Broker) -> str:
    """Begin two tests, and return the address of the first one."""
    broker.begin_test("first")
    address = broker.bootstrap_servers
    broker.begin_test("second")
    return address


def host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def connect_and_send(address: str, content: bytes) -> bytes:
    """Return what the broker responds to bytes; empty when it closes the connection."""
    with socket.create_connection(host_and_port(address), 10) as client:
        client.sendall(content)
        return client.recv(1)


def wait_for(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        assert time.monotonic() < ends, "the condition is not fulfilled"
        time.sleep(0.01)
