"""Which requests of the journal sent a batch: for the findings of a verdict, which name them.

A request is found by the sequences of its batch, which identify it wherever it was sent, or by the place of the batch
in the log. An offset may have been another batch's before: requests whose batch an election or a crash has removed are
not found by their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from ...storage.append_result import AppendResult
from ..journal.batch_numbers import numbers_of
from ..journal.journal import Journal
from ..journal.journal_record import Decision

# Requests that a finding names; a link to each more would not help.
REQUESTS_MAX = 100


class BatchIdentity(NamedTuple):
    """What identifies a batch of an idempotent producer."""

    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int


class _Sent(NamedTuple):
    """A request with a batch, and the node that received it."""

    request_id: int
    node: int


class BatchRequests:
    """The requests with batches for one topic."""

    def __init__(self, journal: Journal, topic: str) -> None:
        """Read the requests that the journal has."""
        self._by_identity: dict[BatchIdentity, list[_Sent]] = {}
        self._by_place: dict[tuple[int, int], list[int]] = {}
        self._by_producer: dict[tuple[int, int], list[int]] = {}
        for request_id, request in journal.records():
            for batch in request.batches or ():
                if batch[0] == topic:
                    self._add(journal, batch, _Sent(request_id, request.connection.node_id))

    def _add(self, journal: Journal, batch: Decision, sent: _Sent) -> None:
        topic, partition, decision = batch
        if isinstance(decision, AppendResult):
            place = topic, partition, decision.base_offset
            if not journal.deliveries.was_removed(place, sent.request_id):
                self._by_place.setdefault(place[1:], []).append(sent.request_id)
        numbers = numbers_of(decision)
        if numbers.producer_id == NO_PRODUCER_ID:
            return
        identity = BatchIdentity(partition, *numbers[:3])
        self._by_identity.setdefault(identity, []).append(sent)
        if numbers.producer_id in journal.producers_before_reset(sent.request_id):
            self._by_producer.setdefault(identity[:2], []).append(sent.request_id)

    def of_batch(self, identity: BatchIdentity, node: int | None = None) -> list[int]:
        """Return the requests that sent the batch, to any node by default."""
        return [sent.request_id for sent in self._by_identity.get(identity, ()) if node in (None, sent.node)]

    def at(self, *places: tuple[int, int]) -> list[int]:
        """Return the requests whose batch is at these places of the log, or repeats it: partition and first offset."""
        return [request_id for place in places for request_id in self._by_place.get(place, ())]

    def of_earlier_producer(self, partition: int, producer_id: int) -> list[int]:
        """Return the requests since the last reset of a producer from before it."""
        return self._by_producer.get((partition, producer_id), [])


def named_requests(request_ids: Iterable[int]) -> list[int]:
    """Return what a finding has of these ids: the oldest ones in order, without 0, which is an unknown one."""
    return sorted({*request_ids} - {0})[:REQUESTS_MAX]
