"""The journal: each request with the result of its batches, its response and its faults.

- A request adds one tuple or PlainAppend to a ring, and updates the delivery counts of the verdict. Requests older than
  the ring are still in the counts.
- The ring has a maximum of requests, and one of the bytes of large requests (request_ring). Long texts of clients are
  shortened before they are kept.
- Texts and details are made when the journal is read (journal_entries, verdict). Until then it keeps small bodies and
  responses as they are, and the numbers of a Fetch (kept_response).
- No record refers to a buffer of a connection, because buffers are reused.
- Nearly every request is a Produce of one appended batch. The broker makes a PlainAppend of it, which `appended` counts
  and keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from ...protocol.frames import FrameError
from ...storage.append_result import AppendResult
from ..consumption.consumption_recorder import ConsumptionRecorder
from ..plain_append import PlainAppend
from .counted_batches import CountedBatches
from .journal_record import (
    PENDING,
    RESPONDED,
    Answer,
    JournalRecord,
    RawRecord,
    journal_record_of,
    merged,
    plain_append_of,
    raw_record_of,
    withheld_record_of,
)
from .kept_response import keep_response, size_of
from .large_requests import BYTES_MAX_DEFAULT, bytes_of, has_small_body
from .request_outcomes import OUTCOMES_MIN, RequestOutcomes
from .request_ring import RequestRing

if TYPE_CHECKING:
    from ...protocol.codec_messages import Response
    from ...protocol.request_facts import Request
    from ...storage.deleted_records import DeletedRecords
    from ...storage.leader_change import LeaderChange
    from ..fault import Fault
    from ..request_view import ReceivedRequest, RequestView
    from ..verdict.delivery_counts import DeliveryCounts
    from .details.kept_fetch import KeptResponse

# The default of fauxka.journal.requests.max.
REQUESTS_MAX_DEFAULT = 10_000
# Requests with a pending response that are kept: more than a machine has sockets.
PENDING_MAX = 100_000

# Requests between two trims; as many as batch_counts.OFFSETS_KEPT_MAX.
_TRIMMED_EVERY: Final = 65_536

_RESPONDED: Final[int] = RESPONDED
_EVERYWHERE: frozenset[tuple[str, int]] = frozenset()


class Journal:
    """The requests of all nodes of a cluster.

    last_id: the id of the newest one, counted from 1 and not reset by clear. cleared_id: that of the last clear, 0
    before the first one.
    """

    def __init__(
        self,
        capacity: int = REQUESTS_MAX_DEFAULT,
        topic_name_of: Callable[[bytes], str | None] = lambda _: None,
        *,
        bytes_max: int = BYTES_MAX_DEFAULT,
    ) -> None:
        """Keep the newest capacity requests, and fewer if the large ones take more than bytes_max.

        topic_name_of: returns the name of a topic id, None for an unknown one; called when the journal is read.
        """
        self.topic_name_of = topic_name_of
        self.last_id = 0
        # Outcomes of requests that became known after they were recorded.
        self.outcomes = RequestOutcomes(max(capacity, OUTCOMES_MIN))
        self._ring = RequestRing(capacity, bytes_max)
        self._keep = self._ring.requests.append
        self.counted = CountedBatches()
        # What consumers got and committed, for the verdicts on groups.
        self.consumption = ConsumptionRecorder(topic_name_of, lambda: self.last_id)
        self._pending: dict[int, RawRecord] = {}
        self.cleared_id = 0
        # The newest request before the last reset of the data, and the first producer id allocated after it.
        self._reset_id = 0
        self.first_producer_id = 0
        self._trim_id = _TRIMMED_EVERY

    @property
    def deliveries(self) -> DeliveryCounts:
        """The counts that the verdict is made of, loaded when they are first needed."""
        return self.counted.deliveries

    # Recording, in the order in which a request passes.

    def handled(self, context: RequestView, size: int, state: int) -> int:
        """Record a request after its handler returned, and return its id.

        size: of its frame. state: RESPONDED, PENDING or NO_RESPONSE. The journal keeps context.batches.
        """
        batches = context.batches
        if batches is not None and state == _RESPONDED and len(batches) == 1:
            topic, partition, decision = batches[0]
            if type(decision) is AppendResult and self.counted.count_plain(topic, partition, decision):
                return self._keep_next(plain_append_of(context, size, (topic, partition, decision)))
        request_id = self.last_id = self.last_id + 1
        if request_id >= self._trim_id:
            self._trim()
        if batches is not None:
            self.counted.count(context, request_id, batches, state)
        if self.consumption.unnumbered is not None:
            self.consumption.numbered(request_id, context.connection, is_written=state == RESPONDED)
        raw = raw_record_of(context, size, state)
        self._keep(raw)
        is_small = batches is None and has_small_body(raw)
        if not is_small:
            self._ring.add_large(request_id, bytes_of(raw), request_id)
        if state == PENDING:
            # Of a large request the ring alone has the body, which leaves it with the request.
            self._pending[request_id] = raw if is_small else (*raw[:10], None, raw[11])
        return request_id

    def appended(self, append: PlainAppend, result: AppendResult) -> int:
        """Record a Produce of one appended batch after its response, and return its id; 0 if `handled` must record it.

        result: the decision of the log on the batch, which append is made of.
        """
        if not self.counted.count_plain(append.topic, append.partition, result):
            return 0
        return self._keep_next(append)

    def _keep_next(self, append: PlainAppend) -> int:
        request_id = self.last_id = self.last_id + 1
        if request_id >= self._trim_id:
            self._trim()
        self._keep(append)
        return request_id

    def keep_response(
        self,
        context: RequestView,
        request: Request,
        response: Response,
        encoded: Sequence[bytes | bytearray | memoryview],
    ) -> object:
        """Return what the journal keeps of a response, or a generator of steps that returns it. encoded: its frame."""
        return keep_response(context, request, response, encoded, self.topic_name_of)

    def responded(self, request_id: int, kept: object) -> None:
        """Record the response to a request that was recorded before. kept: as of keep_response."""
        answer = self._find_answer(request_id)
        if answer is not None:
            answer.kept = cast("KeptResponse", kept)
            self._ring.add_large(request_id, size_of(answer.kept), self.last_id)

    def held(self, request_id: int, held_ns: int) -> None:
        """Record that a fault has held the request, or its response, for held_ns."""
        answer = self._find_answer(request_id)
        if answer is not None:
            answer.held_ns += held_ns

    def answered(self, request_id: int, at_ns: int = 0) -> None:
        """Record that a pending response was written. at_ns: of a monotonic clock; 0 if the time is not known."""
        self.consumption.written(request_id)
        raw = self._pending.pop(request_id, None)
        answer = self._find_answer(request_id) if raw is None else raw[11]
        if answer is not None:
            answer.written(at_ns)
        if raw is None:
            self.outcomes.answered(request_id)
        elif raw[8] is not None:
            self.deliveries.answered(request_id, raw, self.outcomes.find_replaced(request_id))

    def unanswered(self, request_id: int) -> None:
        """Record that the response is never written, or only in part: appended batches are unacknowledged."""
        self.outcomes.unanswered(request_id)
        self.consumption.lost(request_id)
        request = self.find(request_id)
        self._pending.pop(request_id, None)
        if request is not None and request.batches is not None:
            self.deliveries.not_acknowledged(request_id, request, None, _EVERYWHERE)

    def response_replaced(self, request_id: int, partitions: frozenset[tuple[str, int]], error_code: int) -> None:
        """Record that the response has this error code instead of the decided one. partitions: empty for all.

        Also called for batches that were appended and could not be flushed.
        """
        self.outcomes.response_replaced(request_id, partitions, error_code)
        request = self.find(request_id)
        if request is None:
            return
        if error_code:
            self.consumption.lost(request_id, partitions, error_code)
            self.deliveries.not_acknowledged(request_id, request, error_code, partitions)
        else:
            self.deliveries.falsely_acknowledged(request_id, request.batches, partitions)

    def not_applied(self, request: ReceivedRequest, fault: Fault) -> int:
        """Record a request that a fault withholds from its handler, in whole or in part. Return its id."""
        request_id = self.last_id = self.last_id + 1
        try:
            batches = self.deliveries.not_applied(request_id, request, fault)
        except FrameError:
            batches = None
        raw = withheld_record_of(request, fault, batches)
        self._keep(raw)
        self._ring.add_large(request_id, bytes_of(raw), request_id)
        if fault.is_error:
            self.outcomes.answered(request_id)
        return request_id

    def applied_later(self, request_id: int, context: RequestView, size: int, state: int) -> int:
        """Record that a withheld request, or the rest of it, was handled. Return its id, which stays the same.

        state: as in handled.
        """
        raw = raw_record_of(context, size, state)
        kept_back = self.find(request_id)
        if kept_back is not None:
            raw = merged(kept_back, raw)
        if context.batches is not None:
            self.counted.count(context, request_id, context.batches, state)
        if state == PENDING:
            self._pending[request_id] = raw
        self.outcomes.handled_later(request_id, raw)
        return request_id

    def fault_acted(self, request_id: int, rule_id: int, point: str, kind: str) -> None:
        """Record a fault that was applied to the request."""
        self.outcomes.fault_acted(request_id, rule_id, point, kind)

    def truncated(self, topic: str, partition: int, log_end_offset_before: int, log_end_offset_after: int) -> None:
        """Record that a crash truncated a log: acknowledged batches there are lost."""
        if log_end_offset_after < log_end_offset_before:
            offsets = (log_end_offset_before, log_end_offset_after)
            self.deliveries.truncated(topic, partition, offsets, self)
            self.consumption.truncated(topic, partition, log_end_offset_after)

    def removes(self, topic: str, partition: int, batches: Callable[[], Iterator[memoryview]]) -> None:
        """Record that a replica is about to remove batches from its log, to name the lost ones.

        batches: yields them. It is not called for a topic to which nothing was produced.
        """
        if topic in self.deliveries.counts.topics:
            self.deliveries.removed.add_from_log(topic, partition, batches())

    def leader_changed(self, change: LeaderChange) -> None:
        """Record a new leader of a partition: acknowledged batches that its log does not have are lost."""
        self.deliveries.leader_changed(change, self)
        if change.epoch_before >= 0:
            self.consumption.truncated(change.topic_name, change.partition, change.end_offset)

    def topic_created(self, topic: str) -> None:
        """Reset the counts of a topic: a topic with this name may have been deleted before."""
        self.forget_topic(topic)

    def topics_removed(self, names: Mapping[bytes, str]) -> None:
        """Record that topics were deleted, which were named by their ids in what came before."""
        self.consumption.topics_removed(names)

    def forget_topic(self, topic: str) -> None:
        """Reset the counts of a topic."""
        self.deliveries.forget_topic(topic)
        self.consumption.recreate_topic(topic)

    def records_deleted(self, topic: str, partition: int, deleted: DeletedRecords) -> None:
        """Record that retention or DeleteRecords has deleted records."""
        self.deliveries.deleted.add(topic, partition, deleted)
        self.consumption.deleted(topic, partition, deleted)

    def data_reset(self, first_producer_id: int) -> None:
        """Reset the counts, because all topics were deleted or replaced; requests are kept.

        first_producer_id: the ids below it belong to producers from before the reset.
        """
        self._reset_id = self.last_id
        self.first_producer_id = first_producer_id
        self.deliveries.clear()
        self.consumption.clear()

    def clear(self) -> None:
        """Delete all requests, outcomes and counts; ids continue."""
        self.cleared_id = self.last_id
        self._ring.clear()
        self._pending.clear()
        self.outcomes.clear()
        self.deliveries.clear()
        self.consumption.clear()

    # Reading.

    @property
    def capacity(self) -> int:
        """The number of requests that the ring holds at most."""
        return self._ring.requests.maxlen or 0

    @property
    def kept(self) -> int:
        """The number of requests in the ring."""
        return len(self._ring.requests)

    @property
    def dropped(self) -> int:
        """The number of requests since clear that are no longer in the ring."""
        return self.last_id - self.cleared_id - self.kept

    def records(self, since: int = 0, before: int | None = None) -> Iterator[tuple[int, JournalRecord]]:
        """Yield the id and record of the kept requests, as RequestRing.newer_than."""
        for request_id, raw in self._ring.newer_than(since, self.last_id, before):
            yield request_id, journal_record_of(self.outcomes.find_handled(request_id) or raw)

    def find(self, request_id: int) -> JournalRecord | None:
        """Return the record of a request; None if it left the ring and its response is not pending."""
        pending = self._pending.get(request_id)
        raw: RawRecord | PlainAppend | None = pending
        if pending is None or pending[8] is None:
            raw = self.outcomes.find_handled(request_id) or self._ring.find(request_id, self.last_id) or pending
        return None if raw is None else journal_record_of(raw)

    def _find_answer(self, request_id: int) -> Answer | None:
        """Return the answer of a request; None for one that is no longer kept, and for a plain append."""
        raw = self._pending.get(request_id) or self._ring.find(request_id, self.last_id)
        return None if raw is None or isinstance(raw, PlainAppend) else raw[11]

    def is_from_before_reset(self, producer_id: int) -> bool:
        """Return whether the producer id was allocated before the last reset of the data."""
        return 0 <= producer_id < self.first_producer_id

    def producers_before_reset(self, request_id: int) -> range:
        """Return the producer ids that were allocated before the last reset of the data, if the request came after."""
        return range(self.first_producer_id if request_id > self._reset_id else 0)

    def is_pending(self, request_id: int) -> bool:
        """Return whether the response of a request is pending."""
        return request_id in self._pending

    def pending(self) -> list[tuple[int, RawRecord]]:
        """Return the requests with batches and a pending response."""
        return [(request_id, raw) for request_id, raw in self._pending.items() if raw[8] is not None]

    def _trim(self) -> None:
        """Apply the limits of the counts and of pending requests."""
        self._trim_id = self.last_id + _TRIMMED_EVERY
        self.deliveries.counts.trim()
        while len(self._pending) > PENDING_MAX:
            del self._pending[next(iter(self._pending))]
