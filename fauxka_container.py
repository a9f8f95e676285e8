"""A broker in a container for tests: `fauxka.testcontainers`, with the extra `testcontainers`.

with FauxkaContainer() as fauxka:
    fauxka.broker.faults.lost_ack(topic="orders")
    send_order(fauxka.get_bootstrap_server())
    fauxka.broker.verdict("orders").assert_exactly_once()

A broker with TLS and SASL: FauxkaContainer(security_protocol="SASL_SSL", users={"alice": "secret"}), to which a client
connects by client_config().

The host's port is known only after the start of the container, and the broker has to advertise it. So the broker waits
for a file with its addresses. Its certificates are copied out of the container when it listens.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from testcontainers.core.container import DockerContainer

from .broker.config.config_types import ConfigError
from .broker.config.environment_variables import variable_of
from .broker.lifecycle.health import HealthAddress, UnhealthyError, check_health
from .broker.security.sasl.mechanisms import OAUTHBEARER
from .broker.security.tls.throw_away_ca import CLIENT_FILE, FILES, temporary_folder
from .testing.client_security import ClientSecurity
from .testing.errors import BrokerStateError
from .testing.remote_broker import RemoteBroker

IMAGE = "fauxka:0.1.0"
# For clients of the host, and for containers of the same network.
HOST_PORT, NETWORK_PORT, ADMIN_PORT = 9092, 9093, 9099
# The ports of the first of several nodes. Each further node has the next ones, up to 16 nodes.
HOST_PORT_OF_SEVERAL, NETWORK_PORT_OF_SEVERAL = 19092, 29092
ADVERTISED_FILE = "/tmp/advertised"
# Of the throw-away certificates in the container: FAUXKA_TLS_DIR of the image.
TLS_DIR = "/tmp/certificates"
START_SECONDS_MAX = 30.0
RESPONSE_SECONDS_MAX = 1.0
POLL_SECONDS = 0.005


class FauxkaContainer(DockerContainer):
    """A container with a broker or several, the bootstrap address, and the admin API as `broker`.

    Containers of the same network reach it at NETWORK_PORT of its alias, which with_network_aliases sets; several nodes
    at the ports from NETWORK_PORT_OF_SEVERAL on.
    """

    def __init__(
        self,
        image: str = IMAGE,
        *,
        nodes: int = 1,
        racks: Sequence[str] = (),
        security_protocol: str = "PLAINTEXT",
        users: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """image: name and tag. nodes: how many. racks: of each node. options: of DockerContainer.

        security_protocol: of all listeners. users: names and passwords for SASL. Raises ConfigError.
        """
        super().__init__(image, **options)
        host, network = (HOST_PORT, NETWORK_PORT) if nodes == 1 else (HOST_PORT_OF_SEVERAL, NETWORK_PORT_OF_SEVERAL)
        # The ports of each node.
        self._ports = [(host + index, network + index) for index in range(nodes)]
        self._security = ClientSecurity(security_protocol, users)
        self.with_exposed_ports(*(port for port, _ in self._ports), ADMIN_PORT)
        self.with_env("FAUXKA_NODES", str(nodes))
        if racks:
            self.with_env("FAUXKA_RACKS", ",".join(racks))
        if self._security.users:
            self.with_env("FAUXKA_USER", _user_variable(self._security.users))
        for key, value in self._security.config_defaults.items():
            self.with_config(key, value)
        self.with_env("KAFKA_LISTENERS", f"HOST://0.0.0.0:{host},NETWORK://0.0.0.0:{network}")
        protocol = self._security.protocol.value
        self.with_env("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", f"HOST:{protocol},NETWORK:{protocol}")
        self.with_env("FAUXKA_ADVERTISED_FILE", ADVERTISED_FILE)
        self.with_env("FAUXKA_TLS_DIR", TLS_DIR)
        self._broker: RemoteBroker | None = None
        self._tls_dir: Path | None = None

    def with_config(self, key: str, value: str) -> Self:
        """Set a key of Kafka's broker configs, such as num.partitions."""
        return self.with_env(variable_of(key), value)

    def start(self) -> Self:
        """Start, and return when clients can connect. Raises TimeoutError with the log."""
        self._broker = self._tls_dir = None
        super().start()
        names = self._network_aliases or [self.get_wrapped_container().attrs["Config"]["Hostname"]]
        lines = [f"HOST://{self._published(host)},NETWORK://{names[0]}:{network}\n" for host, network in self._ports]
        self.copy_into_container("".join(lines).encode(), ADVERTISED_FILE)
        for host, _ in self._ports:
            self._wait_until_ready(self._address_of(host, is_handshake_enough=True))
        if self._security.protocol.has_tls:
            self._tls_dir = self._copied_certificates()
        for host, _ in self._ports:
            self._wait_until_ready(self._address_of(host))
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

    @property
    def tls_dir(self) -> Path | None:
        """The folder with copies of the throw-away certificates, deleted with this object; None without them."""
        return self._tls_dir

    def client_config(self, user: str | None = None, mechanism: str = "PLAIN") -> dict[str, str]:
        """Return the configuration with which a client connects, by the keys of librdkafka (confluent-kafka).

        user: one of the users, by default the first. mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER.
        Raises BrokerStateError before the start and without throw-away certificates, ConfigError for an unknown user or
        mechanism.
        """
        if self._container is None:
            raise BrokerStateError("the container has not started")
        config = self._security.client_config(self.get_bootstrap_server(), self._tls_dir, user, mechanism)
        if mechanism == OAUTHBEARER and self._security.protocol.has_sasl:
            config["sasl.oauthbearer.token.endpoint.url"] = f"http://{self.get_admin_address()}/oauth/token"
        return config

    def _published(self, port: int) -> str:
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(port)}"

    def _address_of(self, port: int, *, is_handshake_enough: bool = False) -> HealthAddress:
        """Return where a listener is published. is_handshake_enough: of TLS, for which there is no certificate yet."""
        host, published = self.get_container_host_ip(), int(self.get_exposed_port(port))
        if not self._security.protocol.has_tls:
            return HealthAddress(host, published)
        if is_handshake_enough or self._tls_dir is None:
            return HealthAddress(host, published, has_tls=True, is_handshake_enough=True)
        return HealthAddress(host, published, has_tls=True, client_certificate=str(self._tls_dir / CLIENT_FILE))

    def _copied_certificates(self) -> Path | None:
        """Return a folder with the throw-away certificates; None if the broker has certificates of its own."""
        if self.exec(["test", "-d", TLS_DIR]).exit_code != 0:
            return None
        folder = temporary_folder(self)
        for name in FILES:
            self.copy_from_container(f"{TLS_DIR}/{name}", folder / name)
        return folder

    def _wait_until_ready(self, address: HealthAddress) -> None:
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                return check_health(address, RESPONSE_SECONDS_MAX)
            except UnhealthyError as error:
                if time.monotonic() > deadline:
                    log = b"".join(self.get_logs()).decode("utf-8", "replace")
                    raise TimeoutError(f"no broker after {START_SECONDS_MAX:.0f} s: {error}\n{log}") from error
            time.sleep(POLL_SECONDS)


def _user_variable(users: Mapping[str, str]) -> str:
    """Return the value of FAUXKA_USER. Raises ConfigError."""
    for name, password in users.items():
        if len(f"{name}:{password}".split()) != 1 or ":" in name:
            raise ConfigError(
                f"users: a name or password with white space, or a name with a colon, at the user {name!r}"
            )
    return " ".join(f"{name}:{password}" for name, password in users.items())
