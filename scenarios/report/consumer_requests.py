"""The requests of consumers in a timeline: what they got, what they committed, and where they began.

A Fetch waits for records, and is in the journal from its arrival. In the timeline it follows the request that appended
what it returned, or the marker behind that: else a consumer would get records before they are produced.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from ...faults.journal.details.models import FetchedRange, RequestDetails
from ...faults.journal.details.texts import answered_text, asked_text
from .journal_requests import APPENDED, HOLD, JournalRequest

if TYPE_CHECKING:
    from ...faults.journal.journal_entries import JournalEntry

FETCH, OFFSET_FETCH, END_TXN = "Fetch", "OffsetFetch", "EndTxn"
# Requests that are always shown.
_OFFSETS = ("OffsetCommit", "TxnOffsetCommit", OFFSET_FETCH)


def is_shown(request: JournalRequest, consumers: Collection[str]) -> bool:
    """Whether a timeline shows a request of a process: with offsets, or a Fetch with records or an error."""
    if (request.process or request.client_id) not in consumers:
        return False
    return request.api in _OFFSETS or bool(_ranges_of(request)) or (request.api == FETCH and request.error is not None)


def asked_of(request: JournalRequest) -> str:
    """Return what a consumer asks for, "" for other requests."""
    if request.api == OFFSET_FETCH and request.offsets is not None:
        return f"of group {request.offsets.group_id}"
    return asked_text(details_of(request))


def answered_to(request: JournalRequest | JournalEntry) -> str:
    """Return what the response to a request without batches has, "" without details."""
    details = details_of(request)
    if details.offsets is None or details.first_error is not None:
        return answered_text(details)
    if request.api == OFFSET_FETCH:
        return asked_text(details) or "no committed offset"
    return "committed"


def in_order_of_delivery(requests: Iterable[JournalRequest]) -> list[JournalRequest]:
    """Return the requests with each Fetch behind the request that appended what it returned."""
    ordered: list[JournalRequest] = []
    waiting: list[JournalRequest] = []
    log_ends: dict[tuple[str, int], int] = {}
    for request in requests:
        # A response precedes those to later requests of its connection.
        _move(ordered, waiting, [each for each in waiting if each.connection == request.connection])
        waiting.append(request)
        _advance(log_ends, request)
        _move(ordered, waiting, [each for each in waiting if _is_appended(each, log_ends)])
    return [*ordered, *waiting]


def _move(ordered: list[JournalRequest], waiting: list[JournalRequest], ready: list[JournalRequest]) -> None:
    # The request that ends a wait comes first.
    for each in sorted(ready, key=lambda each: each.api == FETCH):
        waiting.remove(each)
        ordered.append(each)


def _advance(log_ends: dict[tuple[str, int], int], request: JournalRequest) -> None:
    """Note where the logs end after a request. A marker has the next offset of each log of its transaction."""
    # A held batch is appended later.
    is_held = any(fault.kind == HOLD for fault in request.faults)
    for batch in request.batches:
        if batch.decision == APPENDED and not is_held:
            log_ends[batch.topic, batch.partition] = batch.base_offset + batch.records
    if request.api == END_TXN and request.error is None:
        for place in log_ends:
            log_ends[place] += 1


def _is_appended(request: JournalRequest, log_ends: dict[tuple[str, int], int]) -> bool:
    return all((each.last_offset or 0) < log_ends.get((each.topic, each.partition), 0) for each in _ranges_of(request))


def _ranges_of(request: JournalRequest) -> list[FetchedRange]:
    """Return the partitions of a Fetch whose records its response has."""
    partitions: Iterator[FetchedRange] = iter(()) if request.fetch is None else iter(request.fetch.partitions)
    return [each for each in partitions if each.first_offset is not None]


def details_of(request: JournalRequest | JournalEntry) -> RequestDetails:
    """Return the details of a request in the journal."""
    return msgspec.convert(request, RequestDetails, from_attributes=True)
