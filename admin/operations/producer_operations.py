"""Operations on the producer state of partitions: list and change it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
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
from ...storage.producers.producer_state_entry import without_evicted
from ..control import Control
from ..errors import CallError, conflict
from ..leading_partitions import following_partitions, leading_partitions
from ..operation import Operation
from ..paging import INT64_MAX, LIMIT_DEFAULT, NAME_CHARACTERS_MAX, Limit, make_token, page_of, split_token
from .offset_pages import PartitionIndex

TAG = "producers"

ProducerId = Annotated[int, Meta(ge=0, le=INT64_MAX)]


class CachedBatch(Struct, kw_only=True):
    """A batch that is recognised when it is sent again."""

    base_sequence: int
    last_sequence: int
    base_offset: int
    timestamp: int


class ProducerInfo(Struct, kw_only=True):
    """The state of a producer in one partition.

    next_sequence: the next accepted sequence of its epoch. cached: its newest batches, oldest first.
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
    """Producer states sorted by topic, partition and producer id."""

    items: list[ProducerInfo]
    next: str | None


class ProducerQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The producer states to list."""

    topic: str | None = None
    partition: PartitionIndex | None = None
    producer_id: ProducerId | None = None
    since: Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX, description="The `next` of the previous page.")] = ""
    limit: Limit = LIMIT_DEFAULT


class ProducerChoice(Struct, kw_only=True, forbid_unknown_fields=True):
    """A producer id, in all partitions unless topic or partition is given."""

    producer_id: ProducerId
    topic: str | None = None
    partition: PartitionIndex | None = None


class ChangedProducers(Struct, kw_only=True):
    """The producer states before the change."""

    items: list[ProducerInfo]


def list_producers(control: Control, query: ProducerQuery) -> ProducerPage:
    """List the producer states: epoch, next sequence and recognised batches."""
    found = known_producers(
        leading_partitions(control.cluster),
        topic=query.topic,
        partition=query.partition,
        producer_id=query.producer_id,
    )
    since = _place_of_token(query.since) if query.since else None
    following = sorted((known for known in found if since is None or _place(known) > since), key=_place)
    items, token = page_of(following, query.limit, producer_info, _token)
    return ProducerPage(items=items, next=token)


def forget_producer(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Delete the state of a producer, its open transaction included."""
    return _changed(control, ProducerChange.FORGET, body)


def expire_producer(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Expire a producer, as after producer.id.expiration.ms; not one with an open transaction."""
    return _changed(control, ProducerChange.EXPIRE, body)


def bump_producer_epoch(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Increment the epoch of a producer, which fences it."""
    return _changed(control, ProducerChange.BUMP_EPOCH, body)


def evict_producer_cache(control: Control, body: ProducerChoice) -> ChangedProducers:
    """Delete the recognised batches of a producer; the next sequence stays."""
    return _changed(control, ProducerChange.EVICT_CACHE, body)


def _changed(control: Control, change: ProducerChange, choice: ProducerChoice) -> ChangedProducers:
    """Change a producer on the leaders, and in the same way on their followers, which may lead later."""
    chosen = partial(
        change_producer,
        change=change,
        producer_id=choice.producer_id,
        topic=choice.topic,
        partition=choice.partition,
    )
    try:
        before = chosen(leading_partitions(control.cluster))
    except UnknownProducerError as error:
        raise CallError(404, str(error), field="producer_id", value=choice.producer_id) from error
    except ProducerChangeError as error:
        raise conflict(str(error), field="producer_id", value=choice.producer_id) from error
    # A follower may lack the producer, or its last batches.
    with suppress(UnknownProducerError, ProducerChangeError):
        chosen(following_partitions(control.cluster))
    return ChangedProducers(items=[producer_info(known) for known in before])


def producer_info(known: KnownProducer) -> ProducerInfo:
    """Return the model of a producer state."""
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
    return make_token(*_place(known))


def _place_of_token(token: str) -> tuple[str, int, int]:
    topic, partition, producer_id = split_token(token, names=1, numbers=2)
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
