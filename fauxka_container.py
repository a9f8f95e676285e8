"""A broker in a container for tests: `fauxka.testcontainers`, with the extra `testcontainers`.

with FauxkaContainer() as fauxka:
    fauxka.broker.faults.lost_ack(topic="orders")
    send_order(fauxka.get_bootstrap_server())
    fauxka.broker.verdict("orders").assert_exactly_once()

The host's port is known only after the start of the container, and the broker has to advertise it. So the broker waits
for a file with its addresses.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self

from testcontainers.core.container import DockerContainer

from .broker.config.environment_variables import variable_of
from .broker.lifecycle.health import UnhealthyError, check_health
from .testing.remote_broker import RemoteBroker

IMAGE = "fauxka:0.1.0"
# For clients of the host, and for containers of the same network.
HOST_PORT, NETWORK_PORT, ADMIN_PORT = 9092, 9093, 9099
# The ports of the first of several nodes. Each further node has the next ones, up to 16 nodes.
HOST_PORT_OF_SEVERAL, NETWORK_PORT_OF_SEVERAL = 19092, 29092
ADVERTISED_FILE = "/tmp/advertised"
START_SECONDS_MAX = 30.0
RESPONSE_SECONDS_MAX = 1.0
POLL_SECONDS = 0.005


class FauxkaContainer(DockerContainer):
    """A container with a broker or several, the bootstrap address, and the admin API as `broker`.

    Containers of the same network reach it at NETWORK_PORT of its alias, which with_network_aliases sets; several nodes
    at the ports from NETWORK_PORT_OF_SEVERAL on.
    """

    def __init__(self, image: str = IMAGE, *, nodes: int = 1, racks: Sequence[str] = (), **options: Any) -> None:
        """image: name and tag. nodes: how many. racks: of each node. options: of DockerContainer."""
        super().__init__(image, **options)
        host, network = (HOST_PORT, NETWORK_PORT) if nodes == 1 else (HOST_PORT_OF_SEVERAL, NETWORK_PORT_OF_SEVERAL)
        # The ports of each node.
        self._ports = [(host + index, network + index) for index in range(nodes)]
        self.with_exposed_ports(*(port for port, _ in self._ports), ADMIN_PORT)
        self.with_env("FAUXKA_NODES", str(nodes))
        if racks:
            self.with_env("FAUXKA_RACKS", ",".join(racks))
        self.with_env("KAFKA_LISTENERS", f"PLAINTEXT://0.0.0.0:{host},NETWORK://0.0.0.0:{network}")
        self.with_env("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "PLAINTEXT:PLAINTEXT,NETWORK:PLAINTEXT")
        self.with_env("FAUXKA_ADVERTISED_FILE", ADVERTISED_FILE)
        self._broker: RemoteBroker | None = None

    def with_config(self, key: str, value: str) -> Self:
        """Set a key of Kafka's broker configs, such as num.partitions."""
        return self.with_env(variable_of(key), value)

    def start(self) -> Self:
        """Start, and return when clients can connect. Raises TimeoutError with the log."""
        self._broker = None
        super().start()
        names = self._network_aliases or [self.get_wrapped_container().attrs["Config"]["Hostname"]]
        lines = [
            f"PLAINTEXT://{self._published(host)},NETWORK://{names[0]}:{network}\n" for host, network in self._ports
        ]
        self.copy_into_container("".join(lines).encode(), ADVERTISED_FILE)
        for host, _ in self._ports:
            self._wait_until_ready(self._published(host))
        return self

    def get_bootstrap_server(self) -> str:
        """Return "host:port" for a client's bootstrap.servers; of several nodes all, joined by commas."""
        return ",".join(self._published(host) for host, _ in self._ports)

    def get_admin_address(self) -> str:
        """Return "host:port" of the admin API."""
        return self._published(ADMIN_PORT)

    @property
    def broker(self) -> RemoteBroker:
        """The fault rules, the verdict and the other calls of the admin API. Raises RuntimeError before the start."""
        if self._container is None:
            raise RuntimeError("the container has not started")
        if self._broker is None:
            # The port accepts calls since the broker listens, and responds once the API is loaded.
            self._broker = RemoteBroker(f"http://{self.get_admin_address()}")
        return self._broker

    def _published(self, port: int) -> str:
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(port)}"

    def _wait_until_ready(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                return check_health(host, int(port), RESPONSE_SECONDS_MAX)
            except UnhealthyError as error:
                if time.monotonic() > deadline:
                    log = b"".join(self.get_logs()).decode("utf-8", "replace")
                    raise TimeoutError(f"no broker after {START_SECONDS_MAX:.0f} s: {error}\n{log}") from error
            time.sleep(POLL_SECONDS)
