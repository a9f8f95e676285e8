"""What a scenario asks of a producer, whichever client it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ...protocol.batches.records import Headers
from ..scenario import Batch

# The headers of every event: the batch that it goes out with, and its own name, the same one each time that it is sent.
BATCH_HEADER = "batch"
EVENT_HEADER = "event"

# The longest that a client may take to get an answer to all that it sent.
SETTLE_SECONDS_MAX = 30.0
NO_ANSWER = "none"


class ClientUnavailable(Exception):
    """The client cannot be used: its package is missing, or it cannot do the scenario. The message is one line."""


class ClientStuck(Exception):
    """The client did not come to an end; the message says with what."""


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """What a client needs.

    request_ms: how long it waits for an answer before it sends again. delivery_ms: how long it tries at all.
    note: is told in words what the client does that no request shows. transactional_id: None for a producer without
    transactions.
    """

    bootstrap_servers: str
    topic: str
    is_idempotent: bool
    request_ms: int
    delivery_ms: int
    note: Callable[[str], None]
    transactional_id: str | None = None


@dataclass(slots=True)
class Delivery:
    """What the application was told of a batch: its first offset, or the name of an error, or nothing."""

    batch: str
    partition: int
    offset: int | None = None
    error: str = NO_ANSWER


class ScenarioClient(Protocol):
    """A producer, and the application that uses it.

    deliveries: of each batch that was handed over, in that order; they are filled in when the client knows.
    is_pipelining: whether a batch goes out while the one before it has no answer. batch_events_max: how many events a
    batch may have for that.
    """

    deliveries: list[Delivery]
    is_pipelining: bool
    batch_events_max: int | None

    def send(self, batch: Batch, partition: int) -> None:
        """Hand a batch to the producer, and return."""
        ...

    def settle(self, *, retries: bool) -> None:
        """Return when everything that was sent has its answer. Raises ClientStuck."""
        ...

    def give_up(self) -> None:
        """Wait until the producer's patience is over, and leave what has no answer."""
        ...

    def restart(self) -> None:
        """End the producer as a process ends that is killed, and begin a new one."""
        ...

    def close(self) -> None:
        """End everything."""
        ...


@runtime_checkable
class TransactionalClient(ScenarioClient, Protocol):
    """A producer that can have a transactional id."""

    def begin_transaction(self) -> None:
        """Begin a transaction."""
        ...

    def end_transaction(self, *, commit: bool) -> str:
        """Commit or abort, and return the name of the error that it was refused with, "NONE" where it was not."""
        ...


def events_of(batch: Batch) -> list[str]:
    """Return the names of a batch's events."""
    return [f"{batch.name}-{number}" for number in range(1, batch.count + 1)]


def headers_of(batch: Batch, event: str) -> Headers:
    """Return the headers of an event."""
    return ((BATCH_HEADER, batch.name.encode()), (EVENT_HEADER, event.encode()))


def value_of(event: str) -> bytes:
    """Return what an event carries."""
    return event.encode()
