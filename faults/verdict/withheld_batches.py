"""Batches that a fault withheld from their log when they were received, to find later ones that were appended first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...storage.append_result import AppendResult
from .. import verdict
from ..journal.journal_record import NotApplied

if TYPE_CHECKING:
    from ..request_view import ReceivedRequest, RequestView

# Batches that are kept; the oldest beyond that are deleted.
WITHHELD_MAX = 1000
# Record hashes kept of each batch: any of them finds it in the log.
CONTENTS_MAX = 100


@dataclass(slots=True)
class WithheldBatch:
    """A batch that was received and not appended then.

    search_offset: the first offset where it may be, if it is appended later. contents: the hashes of its records.
    follower_offset: of the first batch of the same connection that was received later and appended; None without one.
    applied_offset: of the batch itself, if its own request appended it later.
    """

    request_id: int
    connection_id: int
    correlation_id: int
    topic: str
    partition: int
    decision: NotApplied
    search_offset: int
    contents: tuple[int, ...]
    follower_offset: int | None = None
    applied_offset: int | None = None


class WithheldBatches:
    """The withheld batches. watched: those without a follower, or that may remaining be appended."""

    __slots__ = ("_batches", "watched")

    def __init__(self) -> None:
        """Start empty."""
        self._batches: dict[tuple[int, str, int], WithheldBatch] = {}
        # By connection id, topic, partition and producer id.
        self.watched: dict[tuple[int, str, int, int], list[WithheldBatch]] = {}

    def add(
        self,
        request_id: int,
        request: ReceivedRequest,
        decision: tuple[str, int, NotApplied],
        *,
        records: memoryview,
        newest_base_offset: int,
    ) -> None:
        """Add a batch of the request. newest_base_offset: of the newest batch in its partition."""
        topic, partition, not_applied = decision
        withheld = WithheldBatch(
            request_id,
            request.connection.connection_id,
            request.correlation_id,
            topic,
            partition,
            not_applied,
            newest_base_offset + 1,
            tuple(verdict.batch_content.contents_of_received(records)[:CONTENTS_MAX]),
        )
        if len(self._batches) >= WITHHELD_MAX:
            self._delete(next(iter(self._batches)))
        self._batches[request_id, topic, partition] = withheld
        self.watched.setdefault(_watched_key(withheld), []).append(withheld)

    def appended(self, request: RequestView, topic: str, partition: int, result: AppendResult) -> None:
        """Record an append on the connection of a withheld batch. Called only if batches are watched."""
        key = (request.connection.connection_id, topic, partition, result.header.producer_id)
        watched = self.watched.pop(key, None)
        if watched is None:
            return
        remaining: list[WithheldBatch] = []
        for withheld in watched:
            if withheld.correlation_id == request.correlation_id:
                withheld.applied_offset = result.base_offset
                continue
            if withheld.follower_offset is None:
                withheld.follower_offset = result.base_offset
            if withheld.decision.is_applied_later:
                remaining.append(withheld)
        if remaining:
            self.watched[key] = remaining

    def search_offset_of(self, request_key: tuple[int, int], topic: str, partition: int) -> int | None:
        """Return the search_offset of a batch that was withheld. request_key: connection id and correlation id."""
        for withheld in self._batches.values():
            if (withheld.connection_id, withheld.correlation_id) == request_key and (
                (withheld.topic, withheld.partition) == (topic, partition)
            ):
                return withheld.search_offset
        return None

    def of_topic(self, topic: str) -> Iterator[WithheldBatch]:
        """Yield the batches of a topic in the order in which they were received."""
        return (withheld for withheld in self._batches.values() if withheld.topic == topic)

    def truncate(self, topic: str, partition: int, end_offset: int) -> None:
        """Delete the offsets from end_offset on, which a truncation removed from the log."""
        for withheld in self._batches.values():
            if (withheld.topic, withheld.partition) == (topic, partition):
                withheld.search_offset = min(withheld.search_offset, end_offset)
                if withheld.follower_offset is not None and withheld.follower_offset >= end_offset:
                    withheld.follower_offset = None
                if withheld.applied_offset is not None and withheld.applied_offset >= end_offset:
                    withheld.applied_offset = None

    def forget_topic(self, topic: str) -> None:
        """Delete the batches of a topic."""
        for key in [key for key in self._batches if key[1] == topic]:
            self._delete(key)

    def clear(self) -> None:
        """Delete all batches."""
        self._batches.clear()
        self.watched.clear()

    def _delete(self, key: tuple[int, str, int]) -> None:
        withheld = self._batches.pop(key)
        watched_key = _watched_key(withheld)
        remaining = [each for each in self.watched.pop(watched_key, ()) if each is not withheld]
        if remaining:
            self.watched[watched_key] = remaining


def _watched_key(withheld: WithheldBatch) -> tuple[int, str, int, int]:
    return withheld.connection_id, withheld.topic, withheld.partition, withheld.decision.producer_id
