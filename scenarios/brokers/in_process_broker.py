"""A broker in a thread of this process, with its logs in memory."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ...admin.methods.broker import BrokerMethods
from ...testing import Broker
from .scenario_broker import BrokerFailed
from .steered_broker import SteeredBroker

# The parent of every logger of the broker.
_LOGGER = logging.getLogger(__name__.partition(".")[0])


class InProcessBroker(SteeredBroker):
    """A ScenarioBroker in a thread."""

    def __init__(self, as_version: str, nodes: int = 1, config: Mapping[str, str] | None = None) -> None:
        """Start a broker with the producer rules of a Kafka version. config: Kafka's keys."""
        self._broker = self._make(config or {}, as_version, nodes).start()

    @property
    def methods(self) -> BrokerMethods:
        """The admin interface of the broker."""
        return self._broker

    @property
    def bootstrap_servers(self) -> str:
        """The address, "host:port"; of several nodes all, joined by commas."""
        return self._broker.bootstrap_servers

    def _make(self, config: Mapping[str, str], as_version: str, nodes: int) -> Broker:
        return Broker(config, as_version=as_version, nodes=nodes)

    def kill(self, topic: str, torn_bytes: int) -> None:
        """Raise BrokerFailed: a thread cannot be killed."""
        raise BrokerFailed("only a broker in its own process can be killed")

    def lose_writes(self, topic: str) -> None:
        """Lose all later writes to a topic's logs in the next crash, although they are acknowledged."""
        rule = {"action": "lose", "operation": "write", "file_kind": "log", "folder": {"regex": f"{topic}-[0-9]+"}}
        self._broker.files.add({**rule, "when": {"times": None}})

    def crash(self) -> None:
        """Crash the broker as with SIGKILL, remove the file rules, and restart it."""
        self._hide_crashes()
        self._broker.crash()
        self._broker.files.clear()
        self._broker.restart()

    def _hide_crashes(self) -> None:
        """Suppress the default output of warnings to stderr, because the report shows the crash."""
        _LOGGER.addHandler(logging.NullHandler())

    def close(self) -> None:
        """Stop the broker."""
        self._broker.stop()
