"""Batches that are not in the log, although a response acknowledged them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...storage.append_result import AppendResult
from ...storage.leader_change import LeaderChange
from ..journal.journal_record import Decision, JournalRecord, RawRecord
from .journaled_batch import BatchPlace, JournaledBatch
from .removed_batches import RemovedBatch


@dataclass(frozen=True, slots=True)
class Failover:
    """Why a batch is not in the log of the present leader.

    node, epoch: the leader that appended it; None if unknown. change: to the leader that does not have it.
    was_replaced: whether that was the leader already when node appended, because node was cut off.
    """

    node: int | None
    epoch: int
    change: LeaderChange
    was_replaced: bool = False


@dataclass(frozen=True, slots=True)
class LostBatch(JournaledBatch):
    """An acknowledged batch that the log does not have.

    base_offset, last_offset: -1 if it never was in the log. request_id: of the acknowledged request.
    end_offset: of the log after its truncation; None if the batch never was in the log. After a failover, it is the
    offset up to which the log of the new leader equals that of the one before.
    failover: None for a crash of the only node.
    removed: the batch itself, if it was kept; after a failover it is found by its place and epoch.
    """

    end_offset: int | None
    failover: Failover | None = None
    removed: RemovedBatch | None = field(default=None, compare=False, repr=False)


class KnownRequests(Protocol):
    """The requests of a journal."""

    @property
    def last_id(self) -> int:
        """The id of the newest request."""
        ...

    def records(self) -> Iterator[tuple[int, JournalRecord]]:
        """Yield the requests in the ring."""
        ...

    def pending(self) -> list[tuple[int, RawRecord]]:
        """Return the requests with batches and a pending response."""
        ...


@dataclass(frozen=True, slots=True)
class Truncation:
    """Offsets of a partition that the log does not have any more, from end_offset on.

    end_offset_before: of the log before; 0 if unknown.
    is_in_log: whether what a node has appended at an offset was in the log; a node that was replaced appends elsewhere.
    """

    topic: str
    partition: int
    end_offset: int
    end_offset_before: int = 0
    is_in_log: Callable[[int, int], bool] = lambda node, offset: True


def appended_places(batches: Sequence[Decision] | None) -> Iterator[BatchPlace]:
    """Yield the places of the batches that a request has appended."""
    for topic, partition, decision in batches or ():
        if isinstance(decision, AppendResult) and not decision.is_duplicate:
            yield topic, partition, decision.base_offset


def removed_batches(
    truncation: Truncation, removed: Sequence[tuple[int, int]], requests: KnownRequests
) -> list[LostBatch]:
    """Return the batches that a truncation has removed. removed: their base offsets and producer ids, sorted."""
    if not removed:
        return []
    results = _results_of(truncation, requests)
    last_offsets = [offset - 1 for offset, _ in removed[1:]] + [truncation.end_offset_before - 1]
    return [
        _removed_batch(truncation, (offset, max(offset, last_offset)), producer_id, results.get(offset))
        for (offset, producer_id), last_offset in zip(removed, last_offsets, strict=True)
    ]


def _results_of(truncation: Truncation, requests: KnownRequests) -> dict[int, tuple[int, AppendResult]]:
    """Return the request id and the result of the known appends that were removed, by base offset."""
    return {
        decision.base_offset: (request_id, decision)
        for request_id, request in requests.records()
        for topic, partition, decision in request.batches or ()
        if (topic, partition) == (truncation.topic, truncation.partition)
        and isinstance(decision, AppendResult)
        and not decision.is_duplicate
        and decision.base_offset >= truncation.end_offset
        and truncation.is_in_log(request.connection.node_id, decision.base_offset)
    }


def _removed_batch(
    truncation: Truncation, offsets: tuple[int, int], producer_id: int, known: tuple[int, AppendResult] | None
) -> LostBatch:
    base_offset, last_offset = offsets
    request_id, producer_epoch, base_sequence = 0, -1, -1
    if known is not None:
        request_id, result = known
        last_offset, producer_epoch, base_sequence = result.last_offset, result.producer_epoch, result.base_sequence
    return LostBatch(
        request_id,
        truncation.topic,
        truncation.partition,
        base_offset,
        last_offset,
        producer_id,
        producer_epoch,
        base_sequence,
        truncation.end_offset,
    )
