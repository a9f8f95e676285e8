"""Producers: what the partitions know of them, and changing that behind their backs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.replica.producer_faults import (
    KnownProducer,
    ProducerChange,
    ProducerChangeError,
    UnknownProducerError,
    change_producer,
    known_producers,
)
from ...faults.rule_error import RuleError
from ...storage.producers.producer_state_entry import without_evicted
from ..control import Control
from ..errors import CallError, conflict
from ..operation import Operation
from ..paging import INT64_MAX, LIMIT_DEFAULT, Limit, page_of

TAG = "producers"

ProducerId = Annotated[int, Meta(ge=0, le=INT64_MAX)]
PartitionIndex = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class CachedBatch(Struct, kw_only=True):
    """A batch that is recognised when it is sent again."""

    base_sequence: int
    last_sequence: int
    base_offset: int
    timestamp: int


class ProducerInfo(Struct, kw_only=True):
    """A producer as one partition knows it.

    next_sequence: what is accepted next in its epoch. cached: its newest batches, oldest first.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    next_sequence: int
    cached: list[CachedBatch]
    last_timestamp: int
    current_txn_first_offset: int | None


class ProducerPage(Struct, kw_only=True):
    """Producers by topic, partition and id."""

    items: list[ProducerInfo]
    next: str | None


class ProducerQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which producers."""

    topic: str | None = None
    partition: PartitionIndex | None = None
    producer_id: ProducerId | None = None
    since: Annotated[str, Meta(max_length=1000, description="What `next` of the page before said.")] = ""
    limit: Limit = LIMIT_DEFAULT


class ProducerChoice(Struct, kw_only=True, forbid_unknown_fields=True):
    """A producer, and where: without topic and partition everywhere."""

    producer_id: ProducerId
    topic: str | None = None
    partition: PartitionIndex | None = None


class ChangedProducers(Struct, kw_only=True):
    """What the partitions knew of the producer before it was changed."""

    items: list[ProducerInfo]


def list_producers(control: Control, query: ProducerQuery) -> ProducerPage:
    """List what the partitions know of producers: epoch, next sequence, and the batches that are recognised."""
    found = known_producers(
        control.cluster.node.replicas, topic=query.topic, partition=query.partition, producer_id=query.producer_id
    )
    since = _place_of_token(query.since) if query.since else None
    behind = sorted((known for known in found if since is None or _place(known) > since), key=_place)
    items, token = page_of(behind, query.limit, producer_info, _token)
    return ProducerPage(items=items, next=token)


def forget_producer(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Have partitions forget a producer, its open transaction included."""
    return _changed(control, ProducerChange.FORGET, body)


def expire_producer(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Let a producer expire, as after producer.id.expiration.ms; one with an open transaction does not."""
    return _changed(control, ProducerChange.EXPIRE, body)


def bump_producer_epoch(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Have partitions know the next epoch of a producer, so that it is fenced."""
    return _changed(control, ProducerChange.BUMP_EPOCH, body)


def evict_producer_cache(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Have partitions recognise none of a producer's batches; they still know which sequence comes next."""
    return _changed(control, ProducerChange.EVICT_CACHE, body)


def _changed(control: Control, change: ProducerChange, choice: ProducerChoice) -> ChangedProducers:
    try:
        before = change_producer(
            control.cluster.node.replicas,
            change,
            producer_id=choice.producer_id,
            topic=choice.topic,
            partition=choice.partition,
        )
    except UnknownProducerError as error:
        raise CallError(404, str(error), field="producer_id", value=choice.producer_id) from error
    except ProducerChangeError as error:
        raise conflict(str(error), field="producer_id", value=choice.producer_id) from error
    return ChangedProducers(items=[producer_info(known) for known in before])


def producer_info(known: KnownProducer) -> ProducerInfo:
    """Return the producer as it is told."""
    entry = known.entry
    return ProducerInfo(
        topic=known.topic_name,
        partition=known.partition,
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        next_sequence=entry.next_sequence,
        cached=[
            CachedBatch(
                base_sequence=batch.base_sequence,
                last_sequence=batch.last_sequence,
                base_offset=batch.base_offset,
                timestamp=batch.timestamp,
            )
            for batch in without_evicted(entry.batches)
        ],
        last_timestamp=entry.last_timestamp,
        current_txn_first_offset=entry.current_txn_first_offset,
    )


def _place(known: KnownProducer) -> tuple[str, int, int]:
    return known.topic_name, known.partition, known.entry.producer_id


def _token(known: KnownProducer) -> str:
    # No topic has a slash in its name.
    return "/".join(str(part) for part in _place(known))


def _place_of_token(token: str) -> tuple[str, int, int]:
    topic, partition, producer_id = [*token.split("/"), "", ""][:3]
    if not (partition.isdecimal() and producer_id.isdecimal()):
        raise RuleError("since", token, "what `next` of another page said", f"since cannot be {token!r}")
    return topic, int(partition), int(producer_id)


OPERATIONS = (
    Operation(method="GET", path="/v1/producers", perform=list_producers, tag=TAG),
    *(
        Operation(method="POST", path=f"/v1/producers/{name}", perform=perform, tag=TAG, errors=(404, 409))
        for name, perform in (
            ("forget", forget_producer),
            ("expire", expire_producer),
            ("bump_epoch", bump_producer_epoch),
            ("evict_cache", evict_producer_cache),
        )
    ),
)
