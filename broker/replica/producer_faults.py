"""Lists and changes the producer state of partitions, for the admin API.

Each change happens in a real cluster too, at a time that a test cannot choose: a producer expires, another client
bumps its epoch, a new leader lacks its older batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from ...storage.producers.producer_state_entry import ProducerStateEntry, without_batches

if TYPE_CHECKING:
    from ...storage.producers.producer_state_manager import ProducerStateManager
    from .partition import Partition

# The greatest epoch on the wire. After it, a producer gets a new id.
PRODUCER_EPOCH_MAX = 2**15 - 1


class ProducerChange(Enum):
    """The changes of a producer's state, by their names in the admin API.

    FORGET: deletes the entry, with its open transaction.
    EXPIRE: deletes the entry, as after producer.id.expiration.ms. A producer with an open transaction does not expire.
    BUMP_EPOCH: raises the epoch, as if another client used the producer id, so that the producer is fenced.
    EVICT_CACHE: keeps the next sequence and deletes the cached batches, so that duplicates are not recognised.
    """

    FORGET = "forget"
    EXPIRE = "expire"
    BUMP_EPOCH = "bump_epoch"
    EVICT_CACHE = "evict_cache"


class UnknownProducerError(LookupError):
    """No selected partition has an entry of the producer. The message is one line for the user."""


class ProducerChangeError(ValueError):
    """The change is not possible in the producer's state. The message is one line for the user."""


@dataclass(frozen=True, slots=True)
class KnownProducer:
    """The entry of a producer in one partition."""

    topic_name: str
    partition: int
    entry: ProducerStateEntry


def known_producers(
    partitions: Iterable[Partition],
    *,
    topic: str | None = None,
    partition: int | None = None,
    producer_id: int | None = None,
) -> list[KnownProducer]:
    """Return the producers' entries in the partitions, or in those of them selected by the other arguments."""
    return [
        KnownProducer(led.topic_name, led.index, entry)
        for led, producers in _selected(partitions, topic, partition)
        for entry in producers.active_producers()
        if producer_id is None or entry.producer_id == producer_id
    ]


def change_producer(
    partitions: Iterable[Partition],
    change: ProducerChange,
    *,
    producer_id: int,
    topic: str | None = None,
    partition: int | None = None,
) -> list[KnownProducer]:
    """Change a producer in the partitions that have an entry of it, and return the entries before the change.

    topic, partition: which of the partitions to change; None selects all.
    Raises UnknownProducerError or ProducerChangeError; nothing is changed then. The logs stay as they are: a partition
    that is recovered from its files has the state of its batches again.
    """
    found: list[tuple[ProducerStateManager, KnownProducer]] = []
    for led, producers in _selected(partitions, topic, partition):
        entry = producers.find(producer_id)
        if entry is not None:
            found.append((producers, KnownProducer(led.topic_name, led.index, entry)))
    if not found:
        where = topic or "any topic"
        where = where if partition is None else f"{where}-{partition}"
        raise UnknownProducerError(f"producer {producer_id} has no entry in {where}")
    for _, known in found:
        _check(change, known)
    for producers, known in found:
        _change(change, producers, known.entry)
    return [known for _, known in found]


def _selected(
    partitions: Iterable[Partition], topic: str | None, partition: int | None
) -> Iterator[tuple[Partition, ProducerStateManager]]:
    """Yield the selected partitions whose log exists, with their producer state."""
    for led in partitions:
        if topic in (None, led.topic_name) and partition in (None, led.index):
            log = led.find_log()
            if log is not None:
                yield led, log.producers


def _check(change: ProducerChange, known: KnownProducer) -> None:
    """Raise ProducerChangeError if the change is not possible."""
    entry = known.entry
    producer = f"producer {entry.producer_id} on {known.topic_name}-{known.partition}"
    if change is ProducerChange.EXPIRE and entry.current_txn_first_offset is not None:
        raise ProducerChangeError(f"{producer} has an open transaction and does not expire")
    if change is ProducerChange.BUMP_EPOCH and entry.producer_epoch >= PRODUCER_EPOCH_MAX:
        raise ProducerChangeError(f"{producer} has epoch {entry.producer_epoch}, which is the greatest")


def _change(change: ProducerChange, producers: ProducerStateManager, entry: ProducerStateEntry) -> None:
    match change:
        case ProducerChange.FORGET | ProducerChange.EXPIRE:
            producers.remove(entry.producer_id)
        case ProducerChange.BUMP_EPOCH:
            # As after a marker of the next epoch (ProducerAppendInfo.appendEndTxnMarker, Kafka 4.3.0).
            bumped = ProducerStateEntry(
                entry.producer_id, entry.producer_epoch + 1, (), entry.last_timestamp, entry.transaction
            )
            producers.commit(bumped)
        case ProducerChange.EVICT_CACHE:
            producers.commit(without_batches(entry))
        case _:
            assert_never(change)
