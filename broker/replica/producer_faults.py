"""What is known of producers, partition by partition, and how it is changed behind their backs.

Each change is what a real cluster does by itself at a moment of its own choosing: it lets a producer expire, it is told
of a newer epoch by another client, it has a leader that never saw the older batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from ...storage.producers.producer_state_entry import ProducerStateEntry, without_batches

if TYPE_CHECKING:
    from ...storage.producers.producer_state_manager import ProducerStateManager
    from .partition import Partition
    from .replica_manager import ReplicaManager

# The last one on the wire; a producer gets a new id instead of one more.
PRODUCER_EPOCH_MAX = 2**15 - 1


class ProducerChange(Enum):
    """What can be done to a producer, by the names of the admin API.

    FORGET: the partition has never heard of it, its open transaction included.
    EXPIRE: the same, as after producer.id.expiration.ms; a producer with an open transaction does not expire.
    BUMP_EPOCH: another client writes under its id in the next epoch, so that it is fenced.
    EVICT_CACHE: the sequence that comes next is known, and none of the batches before it is recognised.
    """

    FORGET = "forget"
    EXPIRE = "expire"
    BUMP_EPOCH = "bump_epoch"
    EVICT_CACHE = "evict_cache"


class UnknownProducerError(LookupError):
    """No partition that was asked for knows the producer; the message is one line for the user."""


class ProducerChangeError(ValueError):
    """The producer is known, and cannot be changed so; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class KnownProducer:
    """A producer as one partition knows it."""

    topic_name: str
    partition: int
    entry: ProducerStateEntry


def known_producers(
    replicas: ReplicaManager, *, topic: str | None = None, partition: int | None = None, producer_id: int | None = None
) -> list[KnownProducer]:
    """Return the producers that the partitions know, those that are asked for or all."""
    return [
        KnownProducer(led.topic_name, led.index, entry)
        for led, producers in _partitions(replicas, topic, partition)
        for entry in producers.active_producers()
        if producer_id is None or entry.producer_id == producer_id
    ]


def change_producer(
    replicas: ReplicaManager,
    change: ProducerChange,
    *,
    producer_id: int,
    topic: str | None = None,
    partition: int | None = None,
) -> list[KnownProducer]:
    """Change a producer on the partitions that know it, and return what they knew before.

    topic, partition: where; None is everywhere.
    Raises UnknownProducerError where nobody knows it, ProducerChangeError; nothing is changed then. What is in the logs
    stays: a partition that is recovered from its files knows again what the batches say.
    """
    found: list[tuple[ProducerStateManager, KnownProducer]] = []
    for led, producers in _partitions(replicas, topic, partition):
        entry = producers.find(producer_id)
        if entry is not None:
            found.append((producers, KnownProducer(led.topic_name, led.index, entry)))
    if not found:
        where = topic or "any topic"
        where = where if partition is None else f"{where}-{partition}"
        raise UnknownProducerError(f"producer {producer_id} is not known to {where}")
    for _, known in found:
        _check(change, known)
    for producers, known in found:
        _change(change, producers, known.entry)
    return [known for _, known in found]


def _partitions(
    replicas: ReplicaManager, topic: str | None, partition: int | None
) -> Iterator[tuple[Partition, ProducerStateManager]]:
    """Yield the partitions that ever had a batch, with their producers."""
    for led in replicas.partitions():
        if topic in (None, led.topic_name) and partition in (None, led.index):
            log = led.find_log()
            if log is not None:
                yield led, log.producers


def _check(change: ProducerChange, known: KnownProducer) -> None:
    """Raise ProducerChangeError where the change cannot be."""
    entry = known.entry
    producer = f"producer {entry.producer_id} on {known.topic_name}-{known.partition}"
    if change is ProducerChange.EXPIRE and entry.current_txn_first_offset is not None:
        raise ProducerChangeError(f"{producer} has a transaction open, and does not expire")
    if change is ProducerChange.BUMP_EPOCH and entry.producer_epoch >= PRODUCER_EPOCH_MAX:
        raise ProducerChangeError(f"{producer} has epoch {entry.producer_epoch}, which is the last")


def _change(change: ProducerChange, producers: ProducerStateManager, entry: ProducerStateEntry) -> None:
    match change:
        case ProducerChange.FORGET | ProducerChange.EXPIRE:
            producers.remove(entry.producer_id)
        case ProducerChange.BUMP_EPOCH:
            # As after a marker of the next epoch (ProducerAppendInfo.appendEndTxnMarker, Kafka 4.3.0).
            producers.commit(entry._replace(producer_epoch=entry.producer_epoch + 1, batches=()))
        case ProducerChange.EVICT_CACHE:
            producers.commit(without_batches(entry))
        case _:
            assert_never(change)
