"""What was received, decided and answered: the ground truth that a test asserts on.

With every request one tuple of numbers goes into a ring of a fixed size, and the counts of a verdict go on. Words are
made when somebody reads (journal_entries.py, verdict.py). Nothing here refers to what a connection received.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from ...protocol.frames import FrameError
from ...storage.append_result import AppendResult
from .journal_record import (
    APPEND_NUMBERS,
    PENDING,
    RESPONDED,
    WITHHELD,
    Decision,
    JournalRecord,
    RawAppend,
    RawRecord,
    journal_record_of,
    merged,
)

if TYPE_CHECKING:
    from array import array

    from ..fault import Fault
    from ..request_view import ReceivedRequest, RequestView
    from ..verdict.delivery_counts import DeliveryCounts
    from ..verdict.withheld_batches import WithheldBatches
    from .request_outcomes import RequestOutcomes

# What fauxka.journal.requests.max is unless somebody says otherwise.
REQUESTS_MAX_DEFAULT = 10_000
# Requests whose answers wait that are remembered: more than a machine has sockets for.
WAITING_MAX = 100_000

# As many batches as the deliveries keeps the offsets of, for one producer of a partition.
_TRIMMED_EVERY = 65_536

_pack_numbers = APPEND_NUMBERS.pack
_EVERYWHERE: frozenset[tuple[str, int]] = frozenset()


class _NothingWithheld:
    """What is withheld before the first batch came."""

    watched = False


class Journal:
    """The requests of one node, the newest of them one by one.

    last_id: of the newest request; they are counted from 1, also beyond clear.
    """

    def __init__(
        self,
        capacity: int = REQUESTS_MAX_DEFAULT,
        node_id: int = 1,
        topic_name_of: Callable[[bytes], str | None] = lambda _: None,
    ) -> None:
        """Keep the newest capacity requests to the node.

        topic_name_of: the name of the topic with an id, None where there is none; asked when somebody reads.
        """
        self.node_id = node_id
        self.topic_name_of = topic_name_of
        self.last_id = 0
        self._requests: deque[RawRecord | RawAppend] = deque(maxlen=capacity)
        self._keep = self._requests.append
        # The two of the deliveries that are asked with every batch; there with the first.
        self._appended: dict[tuple[str, int, int], array[int]] = {}
        self._withheld: WithheldBatches | _NothingWithheld = _NothingWithheld()
        self._waiting: dict[int, RawRecord] = {}
        self._cleared_id = 0
        self._trim_id = _TRIMMED_EVERY

    @cached_property
    def outcomes(self) -> RequestOutcomes:
        """What became known of requests later; loaded with the first of it."""
        from .request_outcomes import OUTCOMES_MIN, RequestOutcomes

        return RequestOutcomes(max(self.capacity, OUTCOMES_MIN))

    @cached_property
    def deliveries(self) -> DeliveryCounts:
        """What a verdict is judged from; loaded with the first batch: a start does not pay for it."""
        from ..verdict.delivery_counts import DeliveryCounts

        deliveries = DeliveryCounts()
        self._appended = deliveries.counts.appended
        self._withheld = deliveries.withheld
        return deliveries

    # -- what happens to requests, in the order in which it does

    def handled(self, context: RequestView, size: int, state: int) -> int:
        """Keep a request that its handler has done its part for, and return its id.

        size: of its frame; state: RESPONDED, PENDING or NO_RESPONSE. context.batches stays the journal's from then on.
        """
        request_id = self.last_id = self.last_id + 1
        if request_id >= self._trim_id:
            self._trim()
        batches = context.batches
        if batches is not None:
            if state == RESPONDED and len(batches) == 1 and self._keep_plain(context, size, batches[0]):
                return request_id
            self._count(context, request_id, batches, state)
        raw = _raw(context, size, state)
        self._keep(raw)
        if state == PENDING:
            self._waiting[request_id] = raw
        return request_id

    def _keep_plain(self, context: RequestView, size: int, batch: Decision) -> bool:
        """Keep and count what nearly every Produce is; False for one that needs a closer look.

        Not made of smaller functions, as it is done with every request.
        """
        topic, partition, decision = batch
        if type(decision) is not AppendResult or self._withheld.watched:
            return False
        base_offset, last_offset, _, _, is_duplicate, header, _ = decision
        if is_duplicate:
            return False
        producer_id = header.producer_id
        key = (topic, partition, producer_id)
        offsets = self._appended.get(key)
        if offsets is None:
            self.deliveries.counts.first_of(key, base_offset)
        else:
            offsets.append(base_offset)
        numbers = _pack_numbers(
            context.correlation_id,
            size,
            context.now_ms,
            base_offset,
            last_offset,
            producer_id,
            header.producer_epoch,
            header.base_sequence,
        )
        self._keep(
            (
                context.connection,
                context.client_id,
                context.api_key,
                context.api_version,
                topic,
                partition,
                numbers,
            )
        )
        return True

    def _count(self, context: RequestView, request_id: int, batches: Sequence[Decision], state: int) -> None:
        appended = self.deliveries.counts.appended
        is_plain = state <= PENDING and not self._withheld.watched
        for batch in batches:
            topic, partition, decision = batch
            if type(decision) is AppendResult and not decision.is_duplicate:
                key = (topic, partition, decision.header.producer_id)
                offsets = appended.get(key)
                if offsets is None:
                    self.deliveries.counts.first_of(key, decision.base_offset)
                else:
                    offsets.append(decision.base_offset)
                if is_plain:
                    continue
            self.deliveries.decided(context, request_id, batch, state)

    def answered(self, request_id: int) -> None:
        """Note that an answer that had to wait was written."""
        raw = self._waiting.pop(request_id, None)
        if raw is None:
            self.outcomes.answered(request_id)
        elif raw[8] is not None:
            self.deliveries.answered(request_id, raw, self.outcomes.find_replaced(request_id))

    def unanswered(self, request_id: int) -> None:
        """Note that the answer will never be written, or was not whole: what was appended is now unacknowledged."""
        self.outcomes.unanswered(request_id)
        request = self._take(request_id)
        if request is not None and request.batches is not None:
            self.deliveries.not_told(request_id, request, None, _EVERYWHERE)

    def response_replaced(self, request_id: int, partitions: frozenset[tuple[str, int]], error_code: int) -> None:
        """Note that the answer has this error in place of what was decided; for all partitions where none is named.

        Also for what was appended and could not be flushed: whatever the client is told of a batch that is there.
        """
        self.outcomes.response_replaced(request_id, partitions, error_code)
        request = self.find(request_id)
        if request is None:
            return
        if error_code:
            self.deliveries.not_told(request_id, request, error_code, partitions)
        else:
            self.deliveries.told_done(request_id, request.batches, partitions)

    def not_applied(self, request: ReceivedRequest, fault: Fault) -> int:
        """Keep a request that a fault keeps from its handler, all or in part, for ever or for a time; return its id."""
        request_id = self.last_id = self.last_id + 1
        try:
            batches = self.deliveries.kept_back(request_id, request, fault)
        except FrameError:
            batches = None
        self._keep(
            (
                request.connection,
                request.client_id,
                request.api_key,
                request.api_version,
                request.correlation_id,
                request.size,
                request.now_ms,
                fault.error_code,
                batches or None,
                WITHHELD,
                request.kept_body,
            )
        )
        if fault.is_error:
            self.outcomes.answered(request_id)
        return request_id

    def applied_later(self, request_id: int, context: RequestView, size: int, state: int) -> int:
        """Note that a request that was kept back has been handled after all, or the part of it that was not kept back.

        It stays one request, with the id that not_applied returned; that is returned here too. state: as in handled.
        """
        raw = _raw(context, size, state)
        kept_back = self.find(request_id)
        if kept_back is not None:
            raw = merged(kept_back, raw)
        if context.batches is not None:
            self._count(context, request_id, context.batches, state)
        if state == PENDING:
            self._waiting[request_id] = raw
        self.outcomes.handled_later(request_id, raw)
        return request_id

    def fault_acted(self, request_id: int, rule_id: int, point: str, kind: str) -> None:
        """Note that a fault acted on the request."""
        self.outcomes.fault_acted(request_id, rule_id, point, kind)

    def truncated(self, topic: str, partition: int, log_end_offset_before: int, log_end_offset_after: int) -> None:
        """Note that a log has lost its newest batches by a crash: what their clients were told of is lost."""
        if log_end_offset_after < log_end_offset_before:
            offsets = (log_end_offset_before, log_end_offset_after)
            self.deliveries.truncated(topic, partition, offsets, self)

    def topic_created(self, topic: str) -> None:
        """Start the verdict of a topic at nothing: one of its name may have been deleted."""
        self.forget_topic(topic)

    def forget_topic(self, topic: str) -> None:
        """Start the verdict of a topic at nothing."""
        self.deliveries.forget_topic(topic)

    def clear(self) -> None:
        """Start at nothing, but for the ids; requests that wait are forgotten."""
        self._cleared_id = self.last_id
        self._requests.clear()
        self._waiting.clear()
        self.outcomes.clear()
        self.deliveries.clear()

    # -- reading

    @property
    def capacity(self) -> int:
        """How many requests are kept."""
        return self._requests.maxlen or 0

    @property
    def dropped(self) -> int:
        """How many requests fell out of the ring, or never were in it, since it was cleared."""
        return self.last_id - self._cleared_id - len(self._requests)

    def kept(self, since: int = 0) -> Iterator[tuple[int, JournalRecord]]:
        """Yield the id and what is known of each request that is kept, oldest first, from the one behind since on."""
        first_id = self.last_id - len(self._requests) + 1
        skipped = max(0, since + 1 - first_id)
        # A copy: whoever reads may be interrupted by new requests.
        for request_id, raw in enumerate(list(islice(self._requests, skipped, None)), first_id + skipped):
            yield request_id, journal_record_of(self.outcomes.find_handled(request_id) or raw)

    def find(self, request_id: int) -> JournalRecord | None:
        """Return what is known of a request; None if it was dropped and does not wait."""
        raw: RawRecord | RawAppend | None
        raw = self._waiting.get(request_id) or self.outcomes.find_handled(request_id)
        if raw is None:
            position = request_id - self.last_id + len(self._requests) - 1
            if not 0 <= position < len(self._requests):
                return None
            raw = self._requests[position]
        return journal_record_of(raw)

    def is_waiting(self, request_id: int) -> bool:
        """Whether the answer of a request still waits."""
        return request_id in self._waiting

    def waiting(self) -> list[tuple[int, RawRecord]]:
        """Return the requests whose answers wait, and that carried batches."""
        return [(request_id, raw) for request_id, raw in self._waiting.items() if raw[8] is not None]

    def _take(self, request_id: int) -> JournalRecord | None:
        request = self.find(request_id)
        self._waiting.pop(request_id, None)
        return request

    def _trim(self) -> None:
        """Keep what grows with the requests within its limits."""
        self._trim_id = self.last_id + _TRIMMED_EVERY
        self.deliveries.counts.trim()
        while len(self._waiting) > WAITING_MAX:
            del self._waiting[next(iter(self._waiting))]


def _raw(context: RequestView, size: int, state: int) -> RawRecord:
    return (
        context.connection,
        context.client_id,
        context.api_key,
        context.api_version,
        context.correlation_id,
        size,
        context.now_ms,
        context.error_code,
        context.batches,
        state,
        # It may be that of a request before.
        context.kept_body if context.batches is None else None,
    )
