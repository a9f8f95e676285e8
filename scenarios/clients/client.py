"""The producer interface of scenarios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from ...protocol.batches.records import Headers
from ..steps import Acks, Batch
from .login import Login

# The record headers of every event: the name of its batch, and its own name, which a resend keeps.
BATCH_HEADER = "batch"
EVENT_HEADER = "event"

# The maximum wait for the responses of all batches.
SETTLE_SECONDS_MAX = 30.0
NO_ANSWER = "none"

# The process of the first producer.
FIRST_PROCESS = "client"


class ClientUnavailable(Exception):
    """The package of the client is missing, or it cannot run the scenario. The message is one line."""


class ClientStuck(Exception):
    """The client did not finish in time; the message names the pending batches."""


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """The options of a client.

    request_ms, delivery_ms: the request and delivery timeouts. add_note: adds a note of a process to the timeline.
    acks: as in Kafka. transactional_id: None for a producer without transactions. process: the name of the producer's
    process, which is its client id. starts: how often the process has started. login: None for no authentication.
    ca: the file of the authority that the client trusts; None for a client without TLS. confirms_loss: whether the raw
    client makes sure after the request timeout that a response is lost, and not late.
    """

    bootstrap_servers: str
    topic: str
    is_idempotent: bool
    request_ms: int
    delivery_ms: int
    add_note: Callable[[str, str], None]
    acks: Acks = "all"
    transactional_id: str | None = None
    process: str = FIRST_PROCESS
    starts: int = 1
    login: Login | None = None
    ca: str | None = None
    confirms_loss: bool = False

    def note(self, text: str) -> None:
        """Add a note of this process to the timeline."""
        self.add_note(self.client_id, text)

    @property
    def client_id(self) -> str:
        """The client id: the name of the process, with a number if it is not its first start."""
        return client_id_of(self.process, self.starts)

    def restarted(self) -> ClientOptions:
        """Return the options of the process that replaces this one."""
        return replace(self, starts=self.starts + 1)


def client_id_of(process: str, starts: int) -> str:
    """Return the client id of a process. starts: how often the process has started."""
    return process if starts == 1 else f"{process}-{starts}"


@dataclass(slots=True)
class Delivery:
    """The delivery report of a batch: its first offset, or an error name; NO_ANSWER without a report."""

    batch: str
    partition: int
    offset: int | None = None
    error: str = NO_ANSWER


class ScenarioClient(Protocol):
    """A producer and its application.

    deliveries: one per sent batch, in order; set when the client gets the response.
    is_pipelining: whether the client has several batches in flight. batch_events_max: the batch size limit for that.
    """

    deliveries: list[Delivery]
    is_pipelining: bool
    batch_events_max: int | None

    def send(self, batch: Batch, partition: int) -> None:
        """Send a batch without waiting for the response."""
        ...

    def settle(self, *, retries: bool) -> None:
        """Wait for the responses of all batches. Raises ClientStuck."""
        ...

    def give_up(self) -> None:
        """Wait for the delivery timeout, and drop the batches without a response."""
        ...

    def restart(self) -> None:
        """End the producer as if its process were killed, and start a new one."""
        ...

    def close(self) -> None:
        """Close the producer."""
        ...


@runtime_checkable
class TransactionalClient(ScenarioClient, Protocol):
    """A producer with transactions."""

    def begin_transaction(self) -> None:
        """Begin a transaction."""
        ...

    def end_transaction(self, *, commit: bool) -> str:
        """Commit or abort, and return the error name, "NONE" without an error."""
        ...


def events_of(batch: Batch) -> list[str]:
    """Return the names of a batch's events."""
    return [f"{batch.name}-{number}" for number in range(1, batch.count + 1)]


def headers_of(batch: Batch, event: str) -> Headers:
    """Return the headers of an event."""
    return ((BATCH_HEADER, batch.name.encode()), (EVENT_HEADER, event.encode()))


def value_of(event: str) -> bytes:
    """Return the record value of an event."""
    return event.encode()
