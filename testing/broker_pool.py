"""The brokers of a test session: one for each distinct configuration, started when a test first asks for it.

Each broker runs until the session ends, so that tests of several configurations may follow each other in any order.
Each test has its own addresses (testing/isolated_tests.py), unless a fixture of a wider scope has got the broker:
clients of that scope must find it in all tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .broker import Broker
from .cluster_arguments import keys_of
from .config_entries import ConfigEntry, config_entries


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration of a broker: Kafka's keys, sorted, the Kafka version that it follows, and its nodes.

    users: those of a broker with SASL_SSL; None for a broker with a plain listener.
    """

    entries: tuple[tuple[str, str], ...]
    as_version: str | None
    nodes: int = 1
    racks: tuple[str, ...] | None = None
    users: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        config: Mapping[str, ConfigEntry],
        as_version: str | None,
        nodes: int = 1,
        racks: Sequence[str] | None = None,
    ) -> Configuration:
        """Return the configuration; the order of the keys makes no difference, and 3 is "3".

        Raises ConfigError and UnknownConfigKey as Broker does.
        """
        of_nodes = None if racks is None else tuple(racks)
        return cls(tuple(sorted(config_entries(config, keys_of(as_version)).items())), as_version, nodes, of_nodes)

    def __str__(self) -> str:
        """Return the keys as in a properties file, the version, and the nodes if there are several."""
        shown = [f"{key}={value}" for key, value in self.entries] or ["no keys"]
        if self.as_version is not None:
            shown.append(f"the rules of Kafka {self.as_version}")
        if self.nodes != 1:
            shown.append(f"{self.nodes} nodes")
        if self.racks is not None:
            shown.append(f"the racks {', '.join(self.racks)}")
        if self.users is not None:
            shown.append(f"SASL_SSL and the users {', '.join(name for name, _ in self.users)}")
        return ", ".join(shown)


def broker_with(configuration: Configuration) -> Broker:
    """Return a broker with the configuration, which is not started. Raises as Broker does."""
    users = configuration.users
    return Broker(
        dict(configuration.entries),
        as_version=configuration.as_version,
        nodes=configuration.nodes,
        racks=configuration.racks,
        security_protocol="PLAINTEXT" if users is None else "SASL_SSL",
        users=None if users is None else dict(users),
    )


class BrokerPool:
    """The running brokers by their configuration."""

    def __init__(self) -> None:
        """Start without brokers."""
        self._brokers: dict[Configuration, Broker] = {}
        # The configurations of the brokers that keep their addresses.
        self._kept: set[Configuration] = set()

    def broker_of(self, wanted: Configuration) -> Broker:
        """Return the broker with this configuration; the first call starts it. Raises as Broker does."""
        broker = self._brokers.get(wanted)
        if broker is None:
            broker = self._brokers[wanted] = broker_with(wanted).start()
        return broker

    def session_broker_of(self, wanted: Configuration) -> Broker:
        """Return the broker with this configuration, which keeps its present addresses in all later tests."""
        self._kept.add(wanted)
        return self.broker_of(wanted)

    def begin_test(self, broker: Broker, name: str) -> None:
        """Reset the broker for a test; on other addresses if it is one of the pool and need not keep them."""
        if any(running is broker and each not in self._kept for each, running in self._brokers.items()):
            broker.begin_test(name)
        else:
            broker.reset("all")

    def find_difference(self, broker: Broker, wanted: Configuration) -> str | None:
        """Return a sentence if the broker is one of the pool and has another configuration; otherwise None."""
        for configuration, running in self._brokers.items():
            if running is broker and configuration != wanted:
                return f"it was started with {configuration}, but the test has {wanted}"
        return None

    def stop(self) -> None:
        """Stop all brokers."""
        while self._brokers:
            _, broker = self._brokers.popitem()
            broker.stop()
