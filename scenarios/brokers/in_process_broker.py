"""A broker in a thread of this process, with its logs in memory."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import msgspec

from ...broker.security.tls.listener_tls import CertificateKind
from ...testing import Broker
from ...testing.quotas import QuotaValues
from ...testing.rule import Rule
from ..clients.login import Login
from ..report.cached_batches import CachedSequences
from ..report.journal_requests import JournalRequest, cached_sequences_of, journal_requests
from .scenario_broker import AWAIT_MS_MAX, EVENT_ID, BrokerFailed

# The parent of every logger of the broker.
_LOGGER = logging.getLogger(__name__.partition(".")[0])


class InProcessBroker:
    """A ScenarioBroker in a thread."""

    def __init__(self, as_version: str, nodes: int = 1, config: Mapping[str, str] | None = None) -> None:
        """Start a broker with the producer rules of a Kafka version. config: Kafka's keys."""
        self._broker = self._make(config or {}, as_version, nodes).start()
        self._rules: dict[int, Rule] = {}

    @property
    def bootstrap_servers(self) -> str:
        """The address, "host:port"; of several nodes all, joined by commas."""
        return self._broker.bootstrap_servers

    def _make(self, config: Mapping[str, str], as_version: str, nodes: int) -> Broker:
        return Broker(config, as_version=as_version, nodes=nodes)

    @property
    def client_servers(self) -> str:
        """The address for the clients of the scenario."""
        return self.bootstrap_servers

    @property
    def login(self) -> Login | None:
        """How the clients of the scenario authenticate; None for no authentication."""
        return None

    @property
    def ca(self) -> str | None:
        """The file of the authority that the clients trust; None without TLS."""
        return None

    def grant(self, operation: str, topic: str) -> None:
        """Raise BrokerFailed: the broker has no users."""
        raise BrokerFailed("only a scenario with login has a user")

    def revoke(self, operation: str, topic: str) -> None:
        """Raise BrokerFailed: the broker has no users."""
        self.grant(operation, topic)

    def present(self, kind: CertificateKind) -> None:
        """Raise BrokerFailed: the broker has no TLS."""
        raise BrokerFailed("only a scenario with tls has certificates")

    def arm(self, rule: Mapping[str, Any]) -> int:
        """Arm a rule in the JSON format of the admin API, and return its id."""
        handle = self._broker.faults.add(rule)
        self._rules[handle.id] = handle
        return handle.id

    def await_hits(self, rule_id: int, hits: int, timeout_ms: int = AWAIT_MS_MAX) -> None:
        """Wait until the rule has this number of hits. Raises BrokerFailed."""
        try:
            self._rules[rule_id].await_hits(hits, timeout_ms)
        except TimeoutError as error:
            raise BrokerFailed(f"a rule had too few hits: {' '.join(str(error).split())}") from error

    def remove_rule(self, rule_id: int) -> None:
        """Remove a rule."""
        self._rules[rule_id].remove()

    def release_held(self) -> None:
        """Release all held requests, in the order of their arrival."""
        self._broker.held.release()

    def journal(self) -> list[JournalRequest]:
        """Return the requests in the journal, oldest first."""
        return journal_requests(self._broker.journal.entries())

    def verdict(self, topic: str) -> dict[str, Any]:
        """Return the verdict on a topic in the JSON format of the admin API."""
        verdict: dict[str, Any] = msgspec.to_builtins(self._broker.verdict(topic, EVENT_ID))
        return verdict

    def cached_sequences(self, topic: str) -> CachedSequences:
        """Return the cached batches of all producers."""
        return cached_sequences_of(msgspec.to_builtins(self._broker.producers.list(topic)))

    def advance(self, ms: int) -> None:
        """Advance the broker's clock."""
        self._broker.clock.advance(ms)

    def evict_cache(self, topic: str, partition: int, producer_id: int) -> None:
        """Drop the cached batches of a producer."""
        self._broker.producers.evict_cache(producer_id, topic, partition)

    def forget_producer(self, topic: str, partition: int, producer_id: int) -> None:
        """Remove the state of a producer."""
        self._broker.producers.forget(producer_id, topic, partition)

    def set_quota(self, client_id: str, key: str, value: float) -> None:
        """Set a quota of a client id."""
        self._broker.quotas.set(**msgspec.convert({"client_id": client_id, key: value}, QuotaValues))

    def delete_quotas(self) -> None:
        """Delete all client quotas."""
        self._broker.quotas.delete()

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
