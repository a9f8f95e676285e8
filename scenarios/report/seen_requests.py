"""What the broker saw and remembers, by the names of the admin API; fields that are not looked at are left out."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

# What a decision may be; more in faults.journal_entries.
APPENDED = "appended"
REFUSED = "refused"
NOT_APPLIED = "not_applied"


class SeenBatch(Struct, kw_only=True):
    """A batch of a request, as the journal has it."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records: int
    decision: str
    error: str | None = None
    base_offset: int = -1
    why: str = ""


class SeenFault(Struct, kw_only=True):
    """A fault that acted on a request."""

    rule: int
    point: str
    kind: str


class SeenRequest(Struct, kw_only=True):
    """A request, as the journal has it."""

    id: int
    at_ms: int
    connection: int
    api: str
    batches: list[SeenBatch] = []
    answered: bool = True
    error: str | None = None
    faults: list[SeenFault] = []


class _CachedBatch(Struct):
    """A cached batch, as the admin API tells it."""

    base_sequence: int
    last_sequence: int


class _Producer(Struct):
    """A producer on a partition, as the admin API tells it."""

    partition: int
    producer_id: int
    cached: list[_CachedBatch]


def remembered_of(items: Any) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return the cached batches of producers, read from the admin API's list of them."""
    return {
        (each.partition, each.producer_id): [(batch.base_sequence, batch.last_sequence) for batch in each.cached]
        for each in msgspec.convert(items, list[_Producer])
    }


def seen_requests(items: Any) -> list[SeenRequest]:
    """Return the journal's items, as structs or as what JSON was read to."""
    return msgspec.convert(items, list[SeenRequest], from_attributes=True)
