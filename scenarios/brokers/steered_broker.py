"""What a scenario does to its broker by the methods of the admin interface, wherever that broker runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from ...admin.errors import CallError, Unreachable
from ...admin.methods.broker import BrokerMethods
from ...admin.operations.clock_operations import Members
from ...broker.security.tls.listener_tls import CertificateKind
from ...faults.rule_error import InvalidValueError
from ...testing import QuotaValues
from ..clients.login import Login
from ..report.cached_batches import CachedSequences
from ..report.journal_requests import JournalRequest, cached_sequences_of, journal_requests
from .scenario_broker import AWAIT_MS_MAX, EVENT_ID, BrokerFailed


class SteeredBroker(ABC):
    """A ScenarioBroker without TLS and users. Its methods raise BrokerFailed."""

    @property
    @abstractmethod
    def methods(self) -> BrokerMethods:
        """The admin interface of the broker."""

    @property
    @abstractmethod
    def bootstrap_servers(self) -> str:
        """The address, "host:port"; of several nodes all, joined by commas."""

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
        with failures():
            return self.methods.faults.add(rule).id

    def await_hits(self, rule_id: int, hits: int, timeout_ms: int = AWAIT_MS_MAX) -> None:
        """Wait until the rule has this number of hits."""
        with failures():
            self.methods.faults[rule_id].await_hits(hits, timeout_ms)

    def remove_rule(self, rule_id: int) -> None:
        """Remove a rule."""
        with failures():
            self.methods.faults[rule_id].remove()

    def release_held(self) -> None:
        """Release all held requests, in the order of their arrival."""
        with failures():
            self.methods.held.release()

    def journal(self) -> list[JournalRequest]:
        """Return the requests in the journal, oldest first."""
        with failures():
            return journal_requests(self.methods.journal.entries())

    def verdict(self, topic: str) -> dict[str, Any]:
        """Return the verdict on a topic in the JSON format of the admin API."""
        with failures():
            verdict: dict[str, Any] = msgspec.to_builtins(self.methods.verdict(topic, EVENT_ID))
        return verdict

    def cached_sequences(self, topic: str) -> CachedSequences:
        """Return the cached batches of all producers."""
        with failures():
            return cached_sequences_of(msgspec.to_builtins(self.methods.producers.list(topic)))

    def group_verdict(self, group: str) -> dict[str, Any]:
        """Return the verdict on a group in the JSON format of the admin API."""
        with failures():
            verdict: dict[str, Any] = msgspec.to_builtins(self.methods.verdict(group=group))
        return verdict

    def report_processed(self, topic: str, group: str, events: Sequence[str]) -> None:
        """Report events as processed by a group."""
        with failures():
            self.methods.processed(topic, group=group, event=events, event_id=EVENT_ID)

    def advance(self, ms: int, members: Members) -> None:
        """Advance the broker's clock. members: as in POST /v1/clock."""
        with failures():
            self.methods.clock.advance(ms, members=members)

    def evict_cache(self, topic: str, partition: int, producer_id: int) -> None:
        """Drop the cached batches of a producer."""
        with failures():
            self.methods.producers.evict_cache(producer_id, topic, partition)

    def forget_producer(self, topic: str, partition: int, producer_id: int) -> None:
        """Remove the state of a producer."""
        with failures():
            self.methods.producers.forget(producer_id, topic, partition)

    def set_quota(self, client_id: str, key: str, value: float) -> None:
        """Set a quota of a client id."""
        with failures():
            self.methods.quotas.set(**msgspec.convert({"client_id": client_id, key: value}, QuotaValues))

    def delete_quotas(self) -> None:
        """Delete all client quotas."""
        with failures():
            self.methods.quotas.delete()


@contextmanager
def failures() -> Generator[None]:
    """Raise BrokerFailed, in one line, for what the broker refuses, and for one that does not respond."""
    try:
        yield
    except (CallError, InvalidValueError, Unreachable) as error:
        raise BrokerFailed(" ".join(str(error).split())) from error
