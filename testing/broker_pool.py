"""The brokers of a test session: one for each distinct configuration, started when a test first asks for it.

Each broker runs until the session ends, so that tests of several configurations may follow each other in any order. The
caller must reset the broker that it gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .broker import Broker
from .config_entries import ConfigEntry, config_entries


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration of a broker: Kafka's keys, sorted, and the Kafka version of its producer rules."""

    entries: tuple[tuple[str, str], ...]
    as_version: str | None

    @classmethod
    def of(cls, config: Mapping[str, ConfigEntry], as_version: str | None) -> Configuration:
        """Return the configuration; the order of the keys makes no difference, and 3 is "3".

        Raises ConfigError and UnknownConfigKey as Broker does.
        """
        return cls(tuple(sorted(config_entries(config).items())), as_version)

    def __str__(self) -> str:
        """Return the keys as in a properties file, and the version."""
        shown = [f"{key}={value}" for key, value in self.entries] or ["no keys"]
        if self.as_version is not None:
            shown.append(f"the rules of Kafka {self.as_version}")
        return ", ".join(shown)


class BrokerPool:
    """The running brokers by their configuration."""

    def __init__(self) -> None:
        """Start without brokers."""
        self._brokers: dict[Configuration, Broker] = {}

    def broker_of(self, config: Mapping[str, ConfigEntry], as_version: str | None) -> Broker:
        """Return the broker with this configuration; the first call starts it.

        config, as_version: as for Broker, with its errors.
        """
        configuration = Configuration.of(config, as_version)
        broker = self._brokers.get(configuration)
        if broker is None:
            broker = self._brokers[configuration] = Broker(config, as_version=as_version).start()
        return broker

    def find_difference(self, broker: Broker, config: Mapping[str, ConfigEntry], as_version: str | None) -> str | None:
        """Return a sentence if the broker is one of the pool and has another configuration; otherwise None."""
        wanted = Configuration.of(config, as_version)
        for configuration, running in self._brokers.items():
            if running is broker and configuration != wanted:
                return f"it was started with {configuration}, but the test has {wanted}"
        return None

    def stop(self) -> None:
        """Stop all brokers."""
        while self._brokers:
            _, broker = self._brokers.popitem()
            broker.stop()
