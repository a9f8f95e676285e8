"""Where a program of the family runs, and what it is made of besides its shape.

A program that is started again finds what it has kept, as in a table. Nothing else of an earlier start is left.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakKeyDictionary

from fauxka.testing import Broker

from .clients.client import Client, Delivery, Failed, Place, Reader, Reading, Record, Sender, Sending, wait_for_all
from .defect import Defect

Configuration = Literal["short", "default"]
ORDERS, COPIES = "orders", "copies"
PLACE = Place(ORDERS, 0)
EVENTS = (b"one coffee", b"two teas", b"three cakes")
# Of a program that does not wait long enough.
SHORT_SECONDS = 0.8
# A reader that gets no record gives up.
POLLS_MAX = 40
POLL_SECONDS = 0.2


@dataclass(slots=True)
class Kept:
    """What a program keeps until it is started again. position: in what it sends. starts: how often it was started."""

    done: set[int] = field(default_factory=set[int])
    position: int = 0
    starts: int = 0


_kept: WeakKeyDictionary[Broker, Kept] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class World:
    """The client, the broker and the defect of a run.

    client: None for a program of another language. defect: None for the twin. configuration: of the client of another
    language: "short" for short waits, or "default".
    """

    client: Client | None
    broker: Broker
    defect: Defect | None
    configuration: Configuration = "short"

    @property
    def kept(self) -> Kept:
        """What the program has kept with this broker."""
        return _kept.setdefault(self.broker, Kept())

    def has(self, defect: Defect) -> bool:
        """Return whether the program has the defect."""
        return self.defect is defect

    @contextmanager
    def swallowing(self, defect: Defect) -> Generator[None]:
        """Swallow the errors of the block if the program has the defect."""
        try:
            yield
        except Failed:
            if not self.has(defect):
                raise

    @contextmanager
    def sender(self, sending: Sending) -> Generator[Sender]:
        """Make a producer, and close it at the end of the block. Raises Failed."""
        assert self.client is not None, "a client of Python"
        sender = self.client.sender(self.broker.bootstrap_servers, sending)
        try:
            yield sender
        finally:
            sender.close()

    @contextmanager
    def reader(self, reading: Reading) -> Generator[Reader]:
        """Make a member of a group, and close it at the end of the block. Raises Failed."""
        assert self.client is not None, "a client of Python"
        reader = self.client.reader(self.broker.bootstrap_servers, reading)
        try:
            yield reader
        finally:
            with suppress(Failed):
                reader.close()

    def acknowledge(self, sender: Sender, deliveries: Sequence[Delivery]) -> None:
        """Wait until the records are written, as far as the program looks. Raises Failed."""
        match self.defect:
            case Defect.REPORT_IGNORED:
                sender.flush()
            case Defect.LAST_REPORT_ONLY:
                deliveries[-1].wait()
            case Defect.FLUSH_RESULT_IGNORED:
                sender.flush(SHORT_SECONDS)
                for delivery in deliveries:
                    delivery.check()
            case Defect.NO_FLUSH:
                sender.close(SHORT_SECONDS)
            case _:
                with self.swallowing(Defect.ERROR_SWALLOWED):
                    wait_for_all(deliveries)

    def write(self, sender: Sender, topic: str, value: bytes, key: bytes, *, in_transaction: bool) -> None:
        """Write one record, as far as the program looks. in_transaction: in one of its own. Raises Failed."""
        if in_transaction:
            sender.begin()
        self.acknowledge(sender, [sender.send(topic, value, key)])
        if in_transaction:
            sender.commit()

    def written(self, topic: str) -> list[bytes]:
        """Return the events that the topic has, without those of transactions that are not committed."""
        if all(each.name != topic for each in self.broker.topics.list()):
            return []
        return [
            each.value or b""
            for each in self.broker.records(topic)
            if not each.is_control and each.transaction in ("none", "committed")
        ]


def polled(reader: Reader, most: int) -> list[Record]:
    """Return the next records, at least one. Raises Failed if none comes."""
    for _ in range(POLLS_MAX):
        if records := reader.poll(most, POLL_SECONDS):
            return records
    raise Failed("no record came")


def fill(broker: Broker) -> None:
    """Write the events for programs that read."""
    broker.topics.create(ORDERS)
    broker.topics.seed(ORDERS, [{"key": f"k{number}", "value": event.decode()} for number, event in enumerate(EVENTS)])
