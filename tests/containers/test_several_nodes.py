"""Several nodes in one container: FauxkaContainer, and `docker run` with a published range of ports."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Message, Producer
from confluent_kafka.admin import AdminClient
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from fauxka.testcontainers import NETWORK_PORT_OF_SEVERAL, FauxkaContainer

from ..image.built_image import wait_until
from ..reference.kafka_process import free_ports
from .engine import IMAGE, Engine

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1200)]

NODES = (1, 2, 3)
RACKS = ["a", "b", "c"]
FIRST_PORT = 9092
# More than the start of the container and an election take on a loaded machine.
CLIENT_SECONDS_MAX = 60


class Orders:
    """An idempotent producer with acks=all, and a consumer with a group, that go on over a failover."""

    def __init__(self, bootstrap: str) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
        self._consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "readers", "auto.offset.reset": "earliest"}
        )
        self._consumer.subscribe(["orders"])

    def close(self) -> None:
        self._consumer.close()

    def produce(self, *values: bytes) -> None:
        """Produce values, each of which has to be acknowledged."""
        errors: list[object] = []

        def delivered(error: object, _: Message) -> None:
            if error is not None:
                errors.append(error)

        for value in values:
            self._producer.produce("orders", value, on_delivery=delivered)
        assert self._producer.flush(CLIENT_SECONDS_MAX) == 0
        assert errors == []

    def consume(self, count: int) -> list[bytes | None]:
        """Return the next values in order; fewer after CLIENT_SECONDS_MAX without one."""
        values: list[bytes | None] = []
        while len(values) < count and (message := self._consumer.poll(CLIENT_SECONDS_MAX)) is not None:
            if message.error() is None:
                values.append(message.value())
        return values


@pytest.fixture
def cluster(of_engine: Engine) -> Iterator[FauxkaContainer]:
    """Three nodes in a container, with a topic `orders` of one partition on all of them."""
    with FauxkaContainer(IMAGE, nodes=3, racks=RACKS).with_config("default.replication.factor", "3") as fauxka:
        fauxka.broker.call("POST", "/v1/topics", {"name": "orders", "partitions": 1})
        yield fauxka


def test_clients_go_on_after_the_leader_was_killed_over_the_admin_api(cluster: FauxkaContainer) -> None:
    orders = Orders(cluster.get_bootstrap_server())
    orders.produce(b"one coffee")
    before_the_kill = orders.consume(1)
    (before,) = cluster.broker.partitions("orders")

    cluster.broker.stop_node(before.leader, controlled=False, noticed=True)
    orders.produce(b"one tea", b"one cake")
    after_the_kill = orders.consume(2)

    (after,) = cluster.broker.partitions("orders")
    orders.close()
    assert (before_the_kill, after_the_kill) == ([b"one coffee"], [b"one tea", b"one cake"])
    assert sorted(before.isr) == list(NODES)
    assert (after.leader in before.isr, after.leader_epoch) == (True, before.leader_epoch + 1)
    cluster.broker.verdict("orders").assert_exactly_once()


def test_stopped_node_serves_again_at_its_published_port(cluster: FauxkaContainer) -> None:
    last_address = cluster.get_bootstrap_server().split(",")[2]
    cluster.broker.stop_node(3)
    seen_without = brokers_seen_from(cluster.get_bootstrap_server())

    cluster.broker.start_node(3)

    assert sorted(seen_without) == [1, 2]
    assert brokers_seen_from(last_address) == dict(zip(NODES, cluster.get_bootstrap_server().split(","), strict=True))
    assert [node.rack for node in cluster.broker.nodes()] == RACKS
    wait_until(lambda: sorted(cluster.broker.partitions("orders")[0].isr) == list(NODES))


def test_container_is_healthy_while_one_of_its_nodes_is_up(of_engine: Engine, cluster: FauxkaContainer) -> None:
    container = cluster.get_wrapped_container().id or ""
    cluster.broker.stop_node(1)
    cluster.broker.stop_node(2, controlled=False)
    with_one_node = of_engine.podman("healthcheck", "run", container)
    cluster.broker.stop_node(3, controlled=False)

    without_nodes = of_engine.podman("healthcheck", "run", container)

    assert (with_one_node.exit_code, without_nodes.exit_code) == (0, 1), with_one_node.log


def test_containers_of_a_network_reach_every_node_by_the_alias(of_engine: Engine) -> None:
    with (
        Network() as network,
        FauxkaContainer(IMAGE, nodes=3).with_network(network).with_network_aliases("broker") as fauxka,
        DockerContainer(IMAGE).with_network(network).with_command(["sh", "-c", "sleep 600"]) as other,
    ):
        ports = [NETWORK_PORT_OF_SEVERAL + index for index in range(len(NODES))]
        checks = [other.exec(["sh", "-c", f"fauxka health --host broker --port {port}"]) for port in ports]
        log = fauxka.get_logs()[0].decode()

    assert [exit_code for exit_code, _ in checks] == [0, 0, 0], checks
    assert [f"NETWORK://broker:{port}" in log for port in ports] == [True, True, True]


def test_published_range_of_ports_serves_every_node(engine: Engine) -> None:
    first_port = free_ports(len(NODES))
    options = (
        f"--publish=127.0.0.1:{first_port}-{first_port + 2}:{FIRST_PORT}-{FIRST_PORT + 2}",
        f"--env=KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:{FIRST_PORT}",
        f"--env=KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:{first_port}",
    )
    with engine.running(*options, "--", "serve", "--nodes", "3", "-c", "default.replication.factor=3") as broker:
        assert_all_nodes_serve(engine, broker, first_port)

        assert engine.podman("healthcheck", "run", broker).exit_code == 0


def test_nodes_and_racks_of_the_environment_serve_at_the_same_ports_of_the_host(engine: Engine) -> None:
    """As `docker run -p 9092-9094:9092-9094`: a port is the same within and outside of the container."""
    first_port = free_ports(len(NODES))
    ports = f"{first_port}-{first_port + 2}"
    options = (
        f"--publish=127.0.0.1:{ports}:{ports}",
        "--env=FAUXKA_NODES=3",
        "--env=FAUXKA_RACKS=a,b,c",
        "--env=KAFKA_DEFAULT_REPLICATION_FACTOR=3",
    )
    with engine.running(*options, "--", "serve", "--port", str(first_port)) as broker:
        assert_all_nodes_serve(engine, broker, first_port)

        listed = engine.step("exec", broker, "sh", "-c", "fauxka health --port $0", str(first_port + 2))

    assert listed == ""


def assert_all_nodes_serve(engine: Engine, container: str, first_port: int) -> None:
    """Find all nodes from each address, and have a producer and a consumer bootstrap from each one."""
    expected = [first_port, first_port + 1, first_port + 2]
    wait_until(lambda: f"node {NODES[-1]}" in engine.log(container))
    for index, port in enumerate(expected):
        seen = brokers_seen_from(f"127.0.0.1:{port}")
        assert list(seen) == list(NODES)
        assert [int(address.rpartition(":")[2]) for address in seen.values()] == expected
        orders = Orders(f"127.0.0.1:{port}")
        orders.produce(b"order %d" % index)
        assert orders.consume(1) == [b"order %d" % index]
        orders.close()


def brokers_seen_from(bootstrap: str) -> dict[int, str]:
    """Return the addresses of all brokers by id, as a client gets them from one of bootstrap."""
    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=CLIENT_SECONDS_MAX)
    brokers = sorted(metadata.brokers.values(), key=lambda broker: broker.id)
    return {broker.id: f"{broker.host}:{broker.port}" for broker in brokers}
