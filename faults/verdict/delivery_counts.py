"""The data of the verdict: counts of batches, and each lost, unacknowledged or withheld batch.

Every request updates it, so the verdict does not depend on the size of the journal's ring.

- A batch is unacknowledged if it was appended and its client got no response, or an error.
- A batch is lost if its client got a success and the log does not have it. The log is that of the leader (failovers).
- A batch is withheld if a fault kept it from the log when it was received.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...protocol.error_codes import KafkaError
from ...storage.append_result import AppendResult
from ..journal.batch_counts import BatchCounts, producer_of
from ..journal.batch_numbers import numbers_of
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
    release_traceback,
)
from ..journal.request_outcomes import ReplacedResponse
from .deleted_ranges import DeletedRanges
from .failovers import Failovers
from .journaled_batch import BatchPlace, appended_fields
from .lost_batches import KnownRequests, LostBatch, Truncation, appended_places, removed_batches
from .removed_batches import RemovedBatches
from .unacknowledged_batches import NO_RESPONSE_SENT, UnacknowledgedBatch, UnacknowledgedBatches
from .withheld_batches import WithheldBatches

if TYPE_CHECKING:
    from ...storage.leader_change import LeaderChange
    from ..fault import Fault
    from ..request_view import ReceivedRequest, RequestView

# Lost batches that are kept one by one; more are only counted.
LOST_MAX = 10_000
_NO_CONTENTS: Mapping[tuple[str, int], memoryview] = {}


class DeliveryCounts:
    """Counts and special batches of all topics of a broker."""

    __slots__ = ("counts", "deleted", "failovers", "lost", "lost_beyond_max", "removed", "unacknowledged", "withheld")

    def __init__(self) -> None:
        """Start empty."""
        self.counts = BatchCounts()
        self.deleted = DeletedRanges()
        self.unacknowledged = UnacknowledgedBatches()
        self.withheld = WithheldBatches()
        self.failovers = Failovers()
        self.removed = RemovedBatches()
        self.lost: list[LostBatch] = []
        self.lost_beyond_max: dict[str, int] = {}

    def decided(self, request: RequestView, request_id: int, batch: Decision, state: int) -> None:
        """Record a result other than one append with a response."""
        topic, partition, decision = batch
        if not isinstance(decision, AppendResult):
            if isinstance(decision, KafkaError):
                release_traceback(decision)
                self.counts.refused(topic, partition, producer_of(decision))
        elif decision.is_duplicate:
            self.counts.duplicate(topic, partition, decision)
            if state == RESPONDED:
                self._recognised((topic, partition, decision.base_offset), request_id, request.connection.node_id)
        else:
            if state == NO_RESPONSE:
                self.counts.add_acks_0(topic, partition, decision)
            if self.withheld.watched:
                self.withheld.appended(request, topic, partition, decision)

    def appended_elsewhere(self, request: RequestView, request_id: int, batch: Decision, state: int) -> bool:
        """Return whether a batch was appended by a leader that was replaced and is cut off. It is not counted then."""
        topic, partition, decision = batch
        if not isinstance(decision, AppendResult) or not self.failovers.appended_elsewhere(
            request_id,
            request.connection.node_id,
            (topic, partition, decision),
            is_acknowledged=state == RESPONDED,
        ):
            return False
        self.counts.topics.add(topic)
        return True

    def _recognised(self, place: BatchPlace, request_id: int, node: int) -> None:
        """Record that the response to a duplicate acknowledges the batch at this place. node: has responded."""
        repeated = self.failovers.find_repeated(place, node)
        if repeated is None:
            self.unacknowledged.recognised(place, request_id)
        elif repeated.acknowledged_by is None:
            repeated.acknowledged_by = request_id

    def answered(self, request_id: int, request: RawRecord, replaced: ReplacedResponse | None) -> None:
        """Record that a pending response was written. replaced: its error code, if a fault replaced it."""
        for topic, partition, decision in batches_of(request):
            if replaced is not None and replaced.error_code and replaced.covers(topic, partition):
                continue
            if not isinstance(decision, AppendResult):
                continue
            place = (topic, partition, decision.base_offset)
            if decision.is_duplicate:
                self._recognised(place, request_id, request[0].node_id)
            elif (diverged := self.failovers.diverged.find(place, request_id)) is not None:
                diverged.acknowledged_by = request_id

    def not_acknowledged(
        self, request_id: int, request: JournalRecord, error_code: int | None, partitions: frozenset[tuple[str, int]]
    ) -> None:
        """Record that the client got no response, or this error. partitions: those affected, empty for all."""
        if request.state == NO_RESPONSE:
            return
        for topic, partition, decision in request.batches or ():
            if not isinstance(decision, AppendResult) or (partitions and (topic, partition) not in partitions):
                continue
            place = (topic, partition, decision.base_offset)
            if decision.is_duplicate:
                self.unacknowledged.response_lost(place, request_id)
                self.failovers.diverged.response_lost(place, request_id)
                continue
            batch = self._unacknowledged_batch(request_id, request, (topic, partition, decision), error_code)
            diverged = self.failovers.diverged.find(place, request_id)
            if diverged is None:
                self.unacknowledged.add(batch)
            else:
                diverged.acknowledged_by, diverged.unacknowledged = None, batch

    def _unacknowledged_batch(
        self, request_id: int, request: JournalRecord, batch: tuple[str, int, AppendResult], error_code: int | None
    ) -> UnacknowledgedBatch:
        """Return an appended batch of the request as an unacknowledged one."""
        topic, partition, result = batch
        request_key = (request.connection.connection_id, request.correlation_id)
        search_offset = self.withheld.search_offset_of(request_key, topic, partition)
        return UnacknowledgedBatch(
            *appended_fields(request_id, batch),
            result.last_sequence,
            error_code,
            result.base_offset if search_offset is None else search_offset,
        )

    def falsely_acknowledged(
        self,
        request_id: int,
        batches: Sequence[Decision] | None,
        partitions: frozenset[tuple[str, int]],
        contents: Mapping[tuple[str, int], memoryview] = _NO_CONTENTS,
    ) -> None:
        """Record a success response to batches that were not appended: they are lost.

        contents: the batches by topic and partition, if they are known.
        """
        for topic, partition, decision in batches or ():
            if isinstance(decision, AppendResult) or (partitions and (topic, partition) not in partitions):
                continue
            numbers = numbers_of(decision)[:3]
            lost = LostBatch(request_id, topic, partition, -1, -1, *numbers, end_offset=None)
            records = contents.get((topic, partition))
            removed = None if records is None else self.removed.add(lost.place, -1, records)
            self._lose([replace(lost, removed=removed)])

    def not_applied(self, request_id: int, request: ReceivedRequest, fault: Fault) -> list[Decision]:
        """Record the batches that a fault withholds from their logs, and return them. Raises FrameError."""
        batches = not_applied_batches(request, fault)
        for topic, _, _ in batches:
            self.counts.name_topic(topic)
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
            contents = {(batch.topic, batch.partition): batch.records for batch in request.facts.batches}
            self.falsely_acknowledged(request_id, batches, frozenset(), contents)
        return batches

    def truncated(
        self,
        topic: str,
        partition: int,
        offsets: tuple[int, int],
        requests: KnownRequests,
    ) -> None:
        """Record the truncation of a log by a crash. offsets: its end offset before and after."""
        truncation = Truncation(topic, partition, offsets[1], offsets[0])
        self._lose(
            [
                replace(batch, removed=self.removed.find(batch.place))
                for batch, is_acknowledged in self._removed(truncation, requests)
                if is_acknowledged
            ]
        )
        self._forget_removed(truncation)
        self.unacknowledged.truncate(topic, partition, truncation.end_offset, requests.last_id)

    def leader_changed(self, change: LeaderChange, requests: KnownRequests) -> None:
        """Record a new leader of a partition, before its first request."""
        history = self.failovers.history_before(change)
        if history is None:
            return
        end_offset = history.shared_end_offset(change)
        truncation = Truncation(change.topic_name, change.partition, end_offset, is_in_log=history.is_appended_by)
        for batch, is_acknowledged in self._removed(truncation, requests):
            unacknowledged = self.unacknowledged.find(batch.place)
            self.failovers.replaced(change, batch, unacknowledged, is_acknowledged=is_acknowledged)
        self._forget_removed(truncation)
        history.begin(change)
        for diverged in self.failovers.take_present(change):
            batch = diverged.batch
            self.counts.add((batch.topic, batch.partition, batch.producer_id), batch.base_offset)
            if diverged.unacknowledged is not None and diverged.acknowledged_by is None:
                self.unacknowledged.add(diverged.unacknowledged)

    def _removed(self, truncation: Truncation, requests: KnownRequests) -> list[tuple[LostBatch, bool]]:
        """Remove the batches from the counts. Return each, and whether it was acknowledged."""
        topic, partition = truncation.topic, truncation.partition
        removed = self.counts.truncate(topic, partition, truncation.end_offset)
        if not removed:
            return []
        pending = {
            place
            for request_id, request in requests.pending()
            for place in appended_places(batches_of(request))
            if self.failovers.diverged.find(place, request_id) is None
        }
        return [
            (batch, self._is_acknowledged(batch.place, pending))
            for batch in removed_batches(truncation, removed, requests)
        ]

    def _forget_removed(self, truncation: Truncation) -> None:
        place = (truncation.topic, truncation.partition, truncation.end_offset)
        self.counts.truncate_acks_0(*place)
        self.unacknowledged.remove(*place)
        self.withheld.truncate(*place)

    def _is_acknowledged(self, place: BatchPlace, pending: set[BatchPlace]) -> bool:
        if self.unacknowledged.is_unacknowledged(place) or self.counts.is_acks_0(*place):
            return False
        return place not in pending or self.unacknowledged.is_recognised(place)

    def was_removed(self, place: BatchPlace, request_id: int) -> bool:
        """Return whether an election or a crash has removed what the request appended at this place."""
        is_diverged = self.failovers.diverged.find(place, request_id) is not None
        return is_diverged or self.unacknowledged.is_truncated(place, request_id)

    def lost_in(self, topic: str) -> list[LostBatch]:
        """Return the lost batches of a topic that are kept."""
        return [each for each in self.lost if each.topic == topic] + list(self.failovers.diverged.lost_in(topic))

    def count_lost_beyond_max(self, topic: str) -> int:
        """Return the number of lost batches of a topic that are not kept."""
        return self.lost_beyond_max.get(topic, 0) + self.failovers.diverged.lost_beyond_max.get(topic, 0)

    def _lose(self, batches: list[LostBatch]) -> None:
        room = LOST_MAX - len(self.lost)
        self.lost += batches[: max(room, 0)]
        for batch in batches[max(room, 0) :]:
            self.lost_beyond_max[batch.topic] = self.lost_beyond_max.get(batch.topic, 0) + 1

    def forget_topic(self, topic: str) -> None:
        """Delete the data of a topic."""
        self.deleted.forget_topic(topic)
        if topic not in self.counts.topics:
            return
        self.counts.forget_topic(topic)
        self.unacknowledged.forget_topic(topic)
        self.withheld.forget_topic(topic)
        self.failovers.diverged.forget_topic(topic)
        self.removed.forget_topic(topic)
        self.lost = [each for each in self.lost if each.topic != topic]
        self.lost_beyond_max.pop(topic, None)

    def clear(self) -> None:
        """Delete all data but the leaders, which stay the leaders."""
        self.counts.clear()
        self.deleted.clear()
        self.unacknowledged.clear()
        self.withheld.clear()
        self.failovers.diverged.clear()
        self.removed.clear()
        self.lost.clear()
        self.lost_beyond_max.clear()

    def unacknowledged_in(self, topic: str, pending: Iterable[tuple[int, RawRecord]]) -> list[UnacknowledgedBatch]:
        """Return the unacknowledged batches of a topic, those with a pending response included."""
        unacknowledged = {each.place: each for each in self.unacknowledged.of_topic(topic)}
        for request_id, raw in pending:
            request = journal_record_of(raw)
            for name, partition, decision in request.batches or ():
                place = (name, partition, getattr(decision, "base_offset", -1))
                if name != topic or not isinstance(decision, AppendResult) or decision.is_duplicate:
                    continue
                if self.was_removed(place, request_id) or self.unacknowledged.is_recognised(place):
                    continue
                if place not in unacknowledged:
                    unacknowledged[place] = self._unacknowledged_batch(
                        request_id, request, (name, partition, decision), NO_RESPONSE_SENT
                    )
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
                NO_RESPONSE_SENT,
                withheld.search_offset,
                is_acknowledged_late=True,
            )
        return [searched[place] for place in sorted(searched)]
