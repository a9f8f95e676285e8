"""What a verdict is judged from: counts of batches, and what was rare about any of them.

It is brought up to date with each request, so that it does not depend on what the journal's ring still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...protocol.error_codes import KafkaError
from ...storage.append_result import AppendResult
from ..journal.batch_counts import BatchCounts, producer_of
from ..journal.journal_record import (
    NO_RESPONSE,
    RESPONDED,
    Decision,
    JournalRecord,
    NotApplied,
    RawRecord,
    batches_of,
    journal_record_of,
    not_applied_batches,
    release,
)
from ..journal.request_outcomes import ReplacedResponse
from .unacknowledged_batches import NO_ANSWER, BatchPlace, UnacknowledgedBatch, UnacknowledgedBatches
from .withheld_batches import WithheldBatches

if TYPE_CHECKING:
    from ..fault import Fault
    from ..request_view import ReceivedRequest, RequestView

# Lost batches and second deliveries that are told one by one; more are only counted.
TOLD_MAX = 10_000


@dataclass(frozen=True, slots=True)
class LostBatch:
    """A batch that the client was told of, and that the log does not have.

    base_offset, last_offset: where it was; -1 where it never was in the log.
    request_id: of the request that was told of it, 0 if not known. end_offset: where the log ended after it was cut;
    None for a batch that never was in it.
    """

    request_id: int
    topic: str
    partition: int
    base_offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    end_offset: int | None


class KnownRequests(Protocol):
    """The requests of a journal. last_id: of the newest one."""

    @property
    def last_id(self) -> int:
        """See above."""
        ...

    def kept(self) -> Iterator[tuple[int, JournalRecord]]:
        """Yield the requests that are kept."""
        ...

    def waiting(self) -> list[tuple[int, RawRecord]]:
        """Return the requests whose answers wait, and that carried batches."""
        ...


class DeliveryCounts:
    """All that is known of the batches of a broker's topics."""

    __slots__ = ("counts", "lost", "lost_untold", "unacknowledged", "withheld")

    def __init__(self) -> None:
        """Start at nothing."""
        self.counts = BatchCounts()
        self.unacknowledged = UnacknowledgedBatches()
        self.withheld = WithheldBatches()
        self.lost: list[LostBatch] = []
        self.lost_untold: dict[str, int] = {}

    def decided(self, request: RequestView, request_id: int, batch: Decision, state: int) -> None:
        """Take in a decision that was not a plain append with an answer."""
        topic, partition, decision = batch
        if not isinstance(decision, AppendResult):
            if isinstance(decision, KafkaError):
                release(decision)
                self.counts.refused(topic, partition, producer_of(decision))
        elif decision.is_duplicate:
            self.counts.duplicate(topic, partition, decision)
            if state == RESPONDED:
                self.unacknowledged.recognised((topic, partition, decision.base_offset), request_id)
        else:
            if state == NO_RESPONSE:
                self.counts.add_acks_0(topic, partition, decision)
            if self.withheld.watched:
                self.withheld.appended(request, topic, partition, decision)

    def answered(self, request_id: int, request: RawRecord, lie: ReplacedResponse | None) -> None:
        """The answer to a request that had waited for it was written; lie: how it was not the truth."""
        for topic, partition, decision in batches_of(request):
            if lie is not None and lie.error_code and lie.covers(topic, partition):
                continue
            if isinstance(decision, AppendResult) and decision.is_duplicate:
                self.unacknowledged.recognised((topic, partition, decision.base_offset), request_id)

    def not_told(
        self, request_id: int, request: JournalRecord, error_code: int | None, partitions: frozenset[tuple[str, int]]
    ) -> None:
        """The client was not told what was done: it got no answer, or this error; partitions: which, or empty."""
        if request.state == NO_RESPONSE:
            return
        for topic, partition, decision in request.batches or ():
            if not isinstance(decision, AppendResult) or (partitions and (topic, partition) not in partitions):
                continue
            if decision.is_duplicate:
                self.unacknowledged.not_told((topic, partition, decision.base_offset), request_id)
            else:
                self.unacknowledged.add(self.doubt(request_id, request, (topic, partition, decision), error_code))

    def doubt(
        self, request_id: int, request: JournalRecord, batch: tuple[str, int, AppendResult], error_code: int | None
    ) -> UnacknowledgedBatch:
        """Return what is unacknowledged about an appended batch of the request."""
        topic, partition, result = batch
        came = (request.connection.connection_id, request.correlation_id)
        search_offset = self.withheld.search_offset_of(came, topic, partition)
        return UnacknowledgedBatch(
            request_id,
            topic,
            partition,
            result.base_offset,
            result.last_offset,
            result.producer_id,
            result.producer_epoch,
            result.base_sequence,
            result.last_sequence,
            error_code,
            result.base_offset if search_offset is None else search_offset,
        )

    def told_done(
        self, request_id: int, batches: Sequence[Decision] | None, partitions: frozenset[tuple[str, int]]
    ) -> None:
        """The client was told that all went well, in place of what the log or a fault said."""
        for topic, partition, decision in batches or ():
            if isinstance(decision, AppendResult) or (partitions and (topic, partition) not in partitions):
                continue
            numbers = (-1, -1, -1)
            if isinstance(decision, NotApplied):
                numbers = (decision.producer_id, decision.producer_epoch, decision.base_sequence)
            elif (refusal := getattr(decision, "refusal", None)) is not None:
                numbers = (refusal.producer_id, refusal.producer_epoch, refusal.base_sequence)
            self._lose([LostBatch(request_id, topic, partition, -1, -1, *numbers, end_offset=None)])

    def kept_back(self, request_id: int, request: ReceivedRequest, fault: Fault) -> list[Decision]:
        """Take in that a fault keeps batches of the request from their logs; return them. Raises FrameError."""
        batches = not_applied_batches(request, fault)
        self.counts.topics.update(topic for topic, _, _ in batches)
        kept = {(topic, partition): decision for topic, partition, decision in batches}
        for batch in request.facts.batches:
            decision = kept.get((batch.topic, batch.partition))
            if isinstance(decision, NotApplied):
                self.withheld.add(
                    request_id,
                    request,
                    (batch.topic, batch.partition, decision),
                    records=batch.records,
                    newest_base_offset=self.counts.newest_base_offset(batch.topic, batch.partition),
                )
        if fault.is_error and fault.error_code == 0:
            self.told_done(request_id, batches, frozenset())
        return batches

    def truncated(
        self,
        topic: str,
        partition: int,
        offsets: tuple[int, int],
        requests: KnownRequests,
    ) -> None:
        """Take in that a log has lost its newest batches; offsets: where it ended before, and where it ends now."""
        end_before, end_after = offsets
        lost = self.counts.truncate(topic, partition, end_after)
        if lost:
            results = _results_at(requests.kept(), topic, partition, end_after)
            unanswered = {place for _, request in requests.waiting() for place in _appended_places(batches_of(request))}
            last_offsets = [offset - 1 for offset, _ in lost[1:]] + [end_before - 1]
            acknowledged = [
                _lost_batch((topic, partition, offset), (last_offset, end_after), producer_id, results.get(offset))
                for (offset, producer_id), last_offset in zip(lost, last_offsets, strict=True)
                if self._is_acknowledged((topic, partition, offset), unanswered)
            ]
            self._lose(acknowledged)
        self.counts.forget_truncated(topic, partition, end_after)
        self.unacknowledged.truncate(topic, partition, end_after, requests.last_id)
        self.withheld.truncate(topic, partition, end_after)

    def _is_acknowledged(self, place: BatchPlace, unanswered: set[BatchPlace]) -> bool:
        if self.unacknowledged.is_unacknowledged(place) or self.counts.is_acks_0(*place):
            return False
        return place not in unanswered or self.unacknowledged.is_recognised(place)

    def _lose(self, batches: list[LostBatch]) -> None:
        room = TOLD_MAX - len(self.lost)
        self.lost += batches[: max(room, 0)]
        for batch in batches[max(room, 0) :]:
            self.lost_untold[batch.topic] = self.lost_untold.get(batch.topic, 0) + 1

    def forget_topic(self, topic: str) -> None:
        """Start the topic at nothing."""
        if topic not in self.counts.topics:
            return
        self.counts.forget_topic(topic)
        self.unacknowledged.forget_topic(topic)
        self.withheld.forget_topic(topic)
        self.lost = [each for each in self.lost if each.topic != topic]
        self.lost_untold.pop(topic, None)

    def clear(self) -> None:
        """Start at nothing."""
        self.counts.clear()
        self.unacknowledged.clear()
        self.withheld.clear()
        self.lost.clear()
        self.lost_untold.clear()

    def unacknowledged_in(self, topic: str, waiting: Iterable[tuple[int, RawRecord]]) -> list[UnacknowledgedBatch]:
        """Return the unacknowledged batches of a topic, those among them whose answers still wait."""
        unacknowledged = {each.place: each for each in self.unacknowledged.of_topic(topic)}
        for request_id, raw in waiting:
            request = journal_record_of(raw)
            for name, partition, decision in request.batches or ():
                place = (name, partition, getattr(decision, "base_offset", -1))
                if name != topic or not isinstance(decision, AppendResult) or decision.is_duplicate:
                    continue
                if self.unacknowledged.is_recognised(place) or self.unacknowledged.is_cut(place, request_id):
                    continue
                if place not in unacknowledged:
                    unacknowledged[place] = self.doubt(request_id, request, (name, partition, decision), NO_ANSWER)
        return [unacknowledged[place] for place in sorted(unacknowledged)]

    def searched_in(self, topic: str, unacknowledged: Sequence[UnacknowledgedBatch]) -> list[UnacknowledgedBatch]:
        """Return the batches whose copies the verdict looks for: the unacknowledged and the late ones."""
        searched = {each.place: each for each in unacknowledged}
        for withheld in self.withheld.of_topic(topic):
            decision, base_offset = withheld.decision, withheld.applied_offset
            if base_offset is None or (topic, withheld.partition, base_offset) in searched:
                continue
            searched[topic, withheld.partition, base_offset] = UnacknowledgedBatch(
                withheld.request_id,
                topic,
                withheld.partition,
                base_offset,
                base_offset + decision.records_count - 1,
                decision.producer_id,
                decision.producer_epoch,
                decision.base_sequence,
                decision.last_sequence,
                NO_ANSWER,
                withheld.search_offset,
                is_told=True,
            )
        return [searched[place] for place in sorted(searched)]


def _appended_places(batches: Sequence[Decision] | None) -> Iterator[BatchPlace]:
    for topic, partition, decision in batches or ():
        if isinstance(decision, AppendResult) and not decision.is_duplicate:
            yield topic, partition, decision.base_offset


def _results_at(
    known: Iterator[tuple[int, JournalRecord]], topic: str, partition: int, from_offset: int
) -> dict[int, tuple[int, AppendResult]]:
    """Return by first offset what was appended to the partition from from_offset on, as far as it is known."""
    return {
        decision.base_offset: (request_id, decision)
        for request_id, request in known
        for name, index, decision in request.batches or ()
        if (name, index) == (topic, partition)
        and isinstance(decision, AppendResult)
        and not decision.is_duplicate
        and decision.base_offset >= from_offset
    }


def _lost_batch(
    place: BatchPlace, ends: tuple[int, int], producer_id: int, known: tuple[int, AppendResult] | None
) -> LostBatch:
    """Return a batch that a log has lost; ends: the last offset of the batch, and where the log ends now."""
    topic, partition, base_offset = place
    last_offset, end_offset = ends
    if known is None:
        return LostBatch(0, topic, partition, base_offset, last_offset, producer_id, -1, -1, end_offset)
    request_id, result = known
    return LostBatch(
        request_id,
        topic,
        partition,
        base_offset,
        result.last_offset,
        producer_id,
        result.producer_epoch,
        result.base_sequence,
        end_offset,
    )
