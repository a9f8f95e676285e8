"""Journal requests and producers in the JSON format of the admin API, without the fields that reports do not use."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...faults.journal.details.models import FetchDetails, OffsetsDetails, ResponseError

# Values of a decision; more are in faults.journal_entries.
APPENDED = "appended"
REFUSED = "refused"
NOT_APPLIED = "not_applied"
# The kind of a fault.
HOLD = "hold"


class JournalBatch(Struct, kw_only=True):
    """A batch of a request in the journal."""

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


class JournalFault(Struct, kw_only=True):
    """A fault that acted on a request."""

    rule: int
    point: str
    kind: str


class JournalRequest(Struct, kw_only=True):
    """A request in the journal. process: the process that sent it, if it is not that of the client id.

    node: the node that received it. fetch and what follows: as in the journal.
    """

    id: int
    at_ms: int
    connection: int
    node: int = 1
    client_id: str | None = None
    api: str
    batches: list[JournalBatch] = []
    answered: bool = True
    error: str | None = None
    faults: list[JournalFault] = []
    process: str = ""
    fetch: FetchDetails | None = None
    offsets: OffsetsDetails | None = None
    first_error: ResponseError | None = None
    more_errors: int = 0


class _CachedBatch(Struct):
    """A cached batch in the admin API's list of producers."""

    base_sequence: int
    last_sequence: int


class _Producer(Struct):
    """A producer in the admin API's list of producers."""

    partition: int
    producer_id: int
    cached: list[_CachedBatch]


def cached_sequences_of(items: Any) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return the cached batches of producers, from the admin API's list of producers."""
    return {
        (each.partition, each.producer_id): [(batch.base_sequence, batch.last_sequence) for batch in each.cached]
        for each in msgspec.convert(items, list[_Producer])
    }


def journal_requests(items: Any) -> list[JournalRequest]:
    """Return the items of the journal; items: structs or decoded JSON."""
    return msgspec.convert(items, list[JournalRequest], from_attributes=True)
