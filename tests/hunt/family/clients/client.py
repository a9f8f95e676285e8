"""What the programs of the family use of a client: a producer and a member of a group, the same for each client.

- A call blocks, for a limited time: a program that got no result says so by an error, as one with a watchdog does.
- Closing is what the end of a process is: records that were not acknowledged are gone, and nobody is told.
- A call that fails raises Failed, whatever the client raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

# Longer than a client repeats what the broker refuses, and shorter than the timeout of a trial.
CALL_SECONDS_MAX = 6.0
# After which a request without a response is sent again, and after which a record is given up.
REQUEST_MS, DELIVERY_MS = 1000, 3000
RETRY_MS = 20
# What a member waits for at most; the brokers of the family allow it.
SESSION_MS, HEARTBEAT_MS = 3000, 300

Headers = Sequence[tuple[str, bytes]]


class Failed(Exception):
    """A call of a client failed. needs_abort: whether the transaction is not committed, and can be aborted."""

    def __init__(self, reason: object, *, needs_abort: bool = False) -> None:
        """reason: the client's error, or words."""
        super().__init__(str(reason))
        self.needs_abort = needs_abort


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class Record(NamedTuple):
    """A record that was read."""

    place: Place
    offset: int
    key: bytes | None
    value: bytes


Offsets = Mapping[Place, int]


@dataclass(frozen=True, slots=True)
class Sending:
    """How a producer sends.

    acks: "all", "1" or "0". in_flight: requests at a time on a connection. is_single: whether each record has a request
    of its own. retries: None for as many as there are within the delivery timeout.
    """

    acks: str = "all"
    is_idempotent: bool = True
    in_flight: int = 5
    is_single: bool = False
    retries: int | None = None
    transactional_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How a member of a group reads. commits_by_itself: whether the client commits what it has handed out."""

    group: str
    topics: Sequence[str]
    commits_by_itself: bool = False
    is_committed_only: bool = False


class Delivery(Protocol):
    """The report of one record."""

    def wait(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Wait until the record is acknowledged, for so long at most. Raises Failed."""
        ...

    def check(self) -> None:
        """Raise Failed if the record is known to have failed, without waiting."""
        ...


class Sender(Protocol):
    """A producer."""

    def send(self, topic: str, value: bytes, key: bytes | None = None, headers: Headers = ()) -> Delivery:
        """Send a record in the background. Raises Failed."""
        ...

    def flush(self, seconds: float = CALL_SECONDS_MAX) -> bool:
        """Wait until each record is acknowledged or has failed. Return whether that is so."""
        ...

    def begin(self) -> None:
        """Begin a transaction. Raises Failed."""
        ...

    def send_offsets(self, offsets: Offsets, reader: Reader) -> None:
        """Commit the offsets of the member with the transaction. Raises Failed."""
        ...

    def commit(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Commit the transaction, within so long. Raises Failed; it may be committed then, or will be."""
        ...

    def abort(self) -> None:
        """Abort the transaction. Raises Failed."""
        ...

    def close(self, seconds: float = 0.0) -> None:
        """End. seconds: how long records that are not acknowledged have."""
        ...


class Reader(Protocol):
    """A member of a group."""

    def poll(self, most: int, seconds: float = 1.0) -> list[Record]:
        """Return the next records. Raises Failed."""
        ...

    def committed(self, place: Place) -> int:
        """Return the offset that the group has committed; 0 for none. Raises Failed."""
        ...

    def position(self, place: Place) -> int:
        """Return the offset of the next record. Raises Failed."""
        ...

    def seek(self, place: Place, offset: int) -> None:
        """Go on at an offset. Raises Failed."""
        ...

    def commit(self, offsets: Offsets) -> None:
        """Commit offsets. Raises Failed."""
        ...

    def close(self) -> None:
        """Leave the group, as a program does that closes its consumer whatever has happened."""
        ...


class Client(Protocol):
    """A client for Kafka."""

    name: str

    def sender(self, bootstrap_servers: str, sending: Sending) -> Sender:
        """Make a producer; one of transactions is ready to begin one. Raises Failed."""
        ...

    def reader(self, bootstrap_servers: str, reading: Reading) -> Reader:
        """Make a member of a group, which begins at the start of a topic. Raises Failed."""
        ...


def wait_for_all(deliveries: Sequence[Delivery]) -> None:
    """Wait until all records are acknowledged. Raises Failed."""
    for delivery in deliveries:
        delivery.wait()
