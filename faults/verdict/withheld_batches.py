"""Batches that a fault kept from their log when they came, to tell afterwards that later ones got there before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...storage.append_result import AppendResult
from ..journal.journal_record import NotApplied

if TYPE_CHECKING:
    from ..request_view import ReceivedRequest, RequestView

# Batches that are remembered; the oldest are then forgotten. A test that loses more looks at its counts only.
WITHHELD_MAX = 1000
# Records whose contents are kept of each: by any of them it is found in the log.
CONTENTS_MAX = 100
# Faults that give the request back some time later.
PASSING_KINDS = ("hold", "delay")


@dataclass(slots=True)
class WithheldBatch:
    """A batch that came and was not appended then.

    search_offset: where in the log it may be, if it was appended later. contents: of its records.
    follower_offset: of the first batch that came later over the same connection and was appended; None without one.
    applied_offset: where it is in the log, if it was appended by the same request.
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
    """All that are remembered. watched: those that wait for what is appended next over their connection."""

    __slots__ = ("_batches", "watched")

    def __init__(self) -> None:
        """Start without any."""
        self._batches: dict[tuple[int, str, int], WithheldBatch] = {}
        # By connection, topic, partition and producer.
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
        """Remember a batch of the request; newest_base_offset: of what its partition has."""
        # Loaded with the first one: a start does not pay for what decodes records.
        from .batch_content import contents_of_received

        topic, partition, not_applied = decision
        withheld = WithheldBatch(
            request_id,
            request.connection.connection_id,
            request.correlation_id,
            topic,
            partition,
            not_applied,
            newest_base_offset + 1,
            tuple(contents_of_received(records)[:CONTENTS_MAX]),
        )
        if len(self._batches) >= WITHHELD_MAX:
            self._forget(next(iter(self._batches)))
        self._batches[request_id, topic, partition] = withheld
        self.watched.setdefault(_watched_key(withheld), []).append(withheld)

    def appended(self, request: RequestView, topic: str, partition: int, result: AppendResult) -> None:
        """Note what was appended over the connection of a batch that is withheld; called if any is watched."""
        key = (request.connection.connection_id, topic, partition, result.header.producer_id)
        watching = self.watched.pop(key, None)
        if watching is None:
            return
        still: list[WithheldBatch] = []
        for withheld in watching:
            if withheld.correlation_id == request.correlation_id:
                withheld.applied_offset = result.base_offset
                continue
            if withheld.follower_offset is None:
                withheld.follower_offset = result.base_offset
            if withheld.decision.kind in PASSING_KINDS:
                still.append(withheld)
        if still:
            self.watched[key] = still

    def search_offset_of(self, request: tuple[int, int], topic: str, partition: int) -> int | None:
        """Return where the search for copies of a batch begins, if it was withheld for a time; request: see below.

        request: connection id and correlation id.
        """
        for withheld in self._batches.values():
            if (withheld.connection_id, withheld.correlation_id) == request and (
                (withheld.topic, withheld.partition) == (topic, partition)
            ):
                return withheld.search_offset
        return None

    def of_topic(self, topic: str) -> Iterator[WithheldBatch]:
        """Yield those of a topic, in the order in which they came."""
        return (withheld for withheld in self._batches.values() if withheld.topic == topic)

    def truncate(self, topic: str, partition: int, end_offset: int) -> None:
        """Forget what was found in a log from end_offset on, which is lost."""
        for withheld in self._batches.values():
            if (withheld.topic, withheld.partition) == (topic, partition):
                withheld.search_offset = min(withheld.search_offset, end_offset)
                if withheld.follower_offset is not None and withheld.follower_offset >= end_offset:
                    withheld.follower_offset = None
                if withheld.applied_offset is not None and withheld.applied_offset >= end_offset:
                    withheld.applied_offset = None

    def forget_topic(self, topic: str) -> None:
        """Forget those of a topic."""
        for key in [key for key in self._batches if key[1] == topic]:
            self._forget(key)

    def clear(self) -> None:
        """Forget all."""
        self._batches.clear()
        self.watched.clear()

    def _forget(self, key: tuple[int, str, int]) -> None:
        withheld = self._batches.pop(key)
        watched_key = _watched_key(withheld)
        still = [each for each in self.watched.pop(watched_key, ()) if each is not withheld]
        if still:
            self.watched[watched_key] = still


def _watched_key(withheld: WithheldBatch) -> tuple[int, str, int, int]:
    return withheld.connection_id, withheld.topic, withheld.partition, withheld.decision.producer_id
