"""The common base of Broker and AsyncBroker: cluster, server, fault rules and admin operations."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from .. import admin, testing
from ..admin.fault_injection import FaultInjection
from ..broker.lifecycle.cluster_builder import build_cluster
from ..broker.lifecycle.node_options import check_nodes
from ..broker.network.listeners import ListenerConfig
from ..broker.runtime.clock import AdjustableClock
from ..security.security_protocol import SecurityProtocol
from ..storage.file_systems.file_system import FileSystem
from .cluster_arguments import describe, find_path, security_of, storage_of
from .config_entries import ConfigEntry
from .errors import BrokerStateError

if TYPE_CHECKING:
    from pathlib import Path

    from ..admin.control import Control
    from .isolated_tests import EarlierClient, IsolatedTests
    from .token_endpoint import TokenEndpoint

Result = TypeVar("Result")

PLAINTEXT = SecurityProtocol.PLAINTEXT.value
OAUTHBEARER = "OAUTHBEARER"


class Phase(Enum):
    """The life of a broker object. A crash and a restart happen within STARTED."""

    NEW = "new"
    STARTED = "started"
    STOPPED = "stopped"


class Node(ABC):
    """A broker, or a cluster of several, without an event loop; the constructor binds no port and starts no thread."""

    # Served from the first use on.
    _token_endpoint: TokenEndpoint | None = None
    # Made with the first test.
    _tests: IsolatedTests | None = None

    def __init__(
        self,
        config: Mapping[str, ConfigEntry] | None = None,
        *,
        as_version: str | None = None,
        clock: AdjustableClock | None = None,
        file_system: FileSystem | None = None,
        listeners: Sequence[ListenerConfig] = (ListenerConfig(port=0),),
        nodes: int = 1,
        racks: Sequence[str] | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        import_logs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        security_protocol: str = PLAINTEXT,
        users: Mapping[str, str] | None = None,
        tls_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        """Prepare a broker; `start` or `with` starts it.

        config: Kafka's keys, such as {"num.partitions": 3}. group.initial.rebalance.delay.ms is 0 without it.
        as_version: the Kafka version that the broker follows, such as "2.8"; 4.4 by default. docs/versions.md lists
            what it changes.
        clock: for timeouts and expiries; the system clock by default.
        file_system: the storage of the logs of the first node; in memory by default.
        listeners: of the first node; each further node has the same with a port that is higher by one.
        nodes: the number of nodes. racks: of each node; broker.rack for all by default.
        data_dir: the data folder, locked from now on until the broker stops; several nodes have a folder each there.
        import_logs: a folder of a Kafka broker whose topics are served, or one for each of several nodes; nothing is
        written there.
        data_dir and import_logs take precedence over file_system.
        security_protocol: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; all but the first take precedence over listeners,
        unless the first listener has this name; the others are plain.
        users: passwords by user, for SASL. tls_dir: the folder of the throw-away certificates, or a temporary one.
        Raises ConfigError for an unknown key or an invalid value, DataDirectoryError if a folder cannot be used.
        """
        self._security = security_of(security_protocol, users, tls_dir)
        description = replace(
            describe(config, self._security, listeners, as_version),
            nodes=check_nodes(nodes, racks),
            tls_dir=find_path("tls_dir", tls_dir),
            storage=storage_of(data_dir, import_logs),
            file_system=file_system,
            clock=clock,
        )
        built = build_cluster(description)
        self.cluster, self._securities = built.cluster, built.securities
        self._phase, self._fault_injection = Phase.NEW, FaultInjection(built.cluster, built.listeners)
        self._server = self._fault_injection.server
        self._take_methods()

    @abstractmethod
    def _take_methods(self) -> None:
        """Let the methods of the admin interface perform their operations on this broker."""

    @property
    def _address(self) -> str:
        return self.bootstrap_servers

    def _reads_counts(self, operation: Callable[..., object]) -> bool:
        """Whether an operation reads the counts of a rule, and the broker is stopped: handles may outlive it."""
        if self._phase is not Phase.STOPPED:
            return False
        operations = admin.operations
        return operation in (operations.rule_operations.get_rule, operations.file_operations.get_file_rule)

    def __repr__(self) -> str:
        """Return address, state and number of topics in one line. Never waits for the broker's thread."""
        name, server = type(self).__name__, self._server
        if not server.is_started:
            return f"<{name}, not started>"
        state = "running" if server.is_running else "not running"
        return f"<{name} {server.bootstrap_servers}, {state}, topics: {len(self.cluster.image.topics)}>"

    @abstractmethod
    def call(self, function: Callable[[], Result]) -> Result:
        """Run function on the broker's thread, where its state may be accessed, and return its result."""

    def ask(self, function: Callable[[Control], Result]) -> Result:
        """Run function with the broker's Control on the broker's thread, and return its result."""
        return self.call(lambda: function(self.control))

    def _begin_start(self) -> None:
        """Raise BrokerStateError unless this is the first start."""
        if self._phase is Phase.STARTED:
            raise BrokerStateError("the broker is already started")
        self._check_not_stopped()
        self._phase = Phase.STARTED

    def _check_started(self) -> None:
        """Raise BrokerStateError before the start and after the stop."""
        if self._phase is Phase.NEW:
            raise BrokerStateError("the broker is not started: call start(), or use it in a `with` block")
        self._check_not_stopped()

    def _check_not_stopped(self) -> None:
        if self._phase is Phase.STOPPED:
            raise BrokerStateError("the broker is stopped and cannot be used again: create a new one")

    # The packages admin and faults are imported by the first property that needs them. Most of the time that importing
    # them takes is saved by a test that only needs a broker.

    @cached_property
    def control(self) -> admin.control.Control:
        """The operations of the admin API; may be used only on the broker's thread."""
        return admin.control.Control(self._fault_injection)

    @property
    def bootstrap_servers(self) -> str:
        """The address for a client's bootstrap.servers, "host:port"; of several nodes all, joined by commas.

        Raises BrokerStateError unless it is started.
        """
        self._check_started()
        return self._server.bootstrap_servers

    @property
    def tls_dir(self) -> Path | None:
        """The folder with the throw-away certificates, such as ca.pem; None without any."""
        return self._securities.tls_dir

    def client_config(self, user: str | None = None, mechanism: str = "PLAIN") -> dict[str, str]:
        """Return the configuration with which a client connects, by the keys of librdkafka (confluent-kafka).

        user: one of the users, by default the first. mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER; the
        last one with the address of token_endpoint.
        Raises BrokerStateError unless it is started, ConfigError for an unknown user or mechanism.
        """
        if self._security is None:
            return {"bootstrap.servers": self.bootstrap_servers}
        passwords = self._passwords(self._security.users)
        config = self._security.client_config(self.bootstrap_servers, self.tls_dir, user, mechanism, passwords)
        if config.get("sasl.mechanism") == OAUTHBEARER:
            config["sasl.oauthbearer.token.endpoint.url"] = self.token_endpoint
        return config

    def _passwords(self, first: Iterable[str]) -> dict[str, str]:
        """Return the passwords as they are now. first: the users that come before the others."""
        users = self.cluster.users
        if users is None:
            return {}
        found = {name: users.find_password(name) for name in (*first, *users.names)}
        return {name: password for name, password in found.items() if password is not None}

    @property
    def token_endpoint(self) -> str:
        """The URL where a user gets a token for OAUTHBEARER, by name and password. It is served from the first use on.

        Raises BrokerStateError unless the broker is started.
        """
        return self.call(self._serve_tokens)

    def _serve_tokens(self) -> str:
        if self._token_endpoint is None:
            self._token_endpoint = testing.token_endpoint.TokenEndpoint(self.control)
        return self._token_endpoint.url

    async def _begin_test(self, name: str) -> None:
        self._check_started()
        if self._tests is None:
            self._tests = testing.isolated_tests.IsolatedTests(self.control)
        await self._tests.begin_test(name)

    @property
    def earlier_clients(self) -> Mapping[EarlierClient, int]:
        """The number of rejected connections of each client of an earlier test, since the last begin_test."""
        tests = self._tests
        return {} if tests is None else self.call(lambda: dict(tests.rejected))

    async def _stop_server(self) -> None:
        """Stop the nodes, the token endpoint if it is served, and the rejection of clients of earlier tests."""
        if self._tests is not None:
            self._tests.close()
        if self._token_endpoint is not None:
            await self._token_endpoint.stop()
        await self._server.stop()

    def get_bootstrap_server(self) -> str:
        """Return bootstrap_servers, under the method name of testcontainers."""
        return self.bootstrap_servers

    @property
    def is_running(self) -> bool:
        """Whether clients can connect to a node; False after a crash of the only one."""
        return self._server.is_running
