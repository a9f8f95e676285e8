"""One partition of one share group: the delivery state of its records from start_offset to end_offset (KIP-932).

The states of a record (DeliveryState):

    AVAILABLE -> ACQUIRED     acquire: the record is locked for a member, and its delivery count is incremented
    ACQUIRED -> ACKNOWLEDGED  ACCEPT
    ACQUIRED -> ARCHIVED      REJECT, GAP, and in place of AVAILABLE at the delivery count limit
    ACQUIRED -> AVAILABLE     RELEASE, the end of the lock, the end of the member's session
    any -> ARCHIVED           the record is in an aborted transaction, a marker, or before the log start offset

- Records before `start_offset` are ACKNOWLEDGED or ARCHIVED. Records after `end_offset` were never acquired.
- `_batches` is in the order of offsets and without overlap. The first record that is not done is at `start_offset`.
- Only the member that acquired a record may acknowledge it. The timer of a lock releases only the records that still
  have this lock; an acknowledgement, a renewal or a new acquisition replaces it.
- Changes by acknowledgement and release are written before they are applied, all changes of a call as one record
  (`_apply`). ACQUIRED is not written: after a restart these records are AVAILABLE with their earlier delivery count.
  Archived records are not written either, because the next fetch finds them again.
A change of a batch that bypasses `_apply` would be lost in a crash after its response.
Source: SharePartition, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from ....faults.consumption.events import ShareChange, ShareEnd
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.share_state_records import DeliveryState, StateBatch
from .record_state import AcquiredRecords, InFlightBatch, RecordState, Run, count_done, fill_gaps, state_batches

if TYPE_CHECKING:
    from .share_locks import ShareLocks
    from .share_outputs import ShareOutputs

logger = logging.getLogger(__name__)

# Kafka's AcknowledgeType.
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)

_ACKNOWLEDGED_STATES = {
    GAP: DeliveryState.ARCHIVED,
    ACCEPT: DeliveryState.ACKNOWLEDGED,
    RELEASE: DeliveryState.AVAILABLE,
    REJECT: DeliveryState.ARCHIVED,
}
_ENDS = {GAP: ShareEnd.GAP, ACCEPT: ShareEnd.ACCEPTED, RELEASE: ShareEnd.RELEASED, REJECT: ShareEnd.REJECTED}
# The least delivery count after which a batch is delivered in smaller parts.
_UNTHROTTLED_DELIVERIES_MIN = 2
# The delay before the write of an expired lock is tried again.
_RETRY_MS = 500

# First offset, last offset, and one acknowledge type for all records or one for each.
Acknowledgement = tuple[int, int, Sequence[int]]


class AcquireLimits(NamedTuple):
    """The limits of one fetch.

    batch_size: the target size of a batch in records. is_strict: never exceed records_max, even within a batch.
    """

    records_max: int
    batch_size: int
    is_strict: bool = False


@dataclass(frozen=True, slots=True)
class ShareLimits:
    """The group's limits: delivery count, lock duration in ms, and the number of locked records of a partition."""

    delivery_count_max: int
    lock_ms: int
    locks_max: int


class _Change(NamedTuple):
    """The next state of a range of records in one batch, and what ends their acquisition, if it ends."""

    batch: InFlightBatch
    first_offset: int
    last_offset: int
    state: RecordState
    end: ShareEnd | None = None


class SharePartition:
    """The records that are in flight: from start_offset, the first that is not done, to end_offset."""

    __slots__ = (
        "_batches",
        "_is_closed",
        "_latest_lock",
        "_limits",
        "_locks",
        "_report",
        "_waiting",
        "_write",
        "end_offset",
        "start_offset",
    )

    def __init__(
        self,
        start_offset: int,
        batches: Sequence[StateBatch],
        *,
        limits: Callable[[], ShareLimits],
        locks: ShareLocks,
        outputs: ShareOutputs,
    ) -> None:
        """Restore the state that was written. batches: the states of records from start_offset on."""
        self.start_offset = start_offset
        self._batches = fill_gaps(start_offset, batches)
        self.end_offset = self._batches[-1].last_offset if self._batches else start_offset - 1
        self._limits = limits
        self._write, self._report = outputs
        self._locks = locks
        self._latest_lock = 0
        self._is_closed = False
        self._waiting: dict[object, Callable[[], None]] = {}
        self._advance_past_done()

    # -- acquire

    def next_fetch_offset(self) -> int:
        """Return the first offset that is available or was never acquired."""
        for batch in self._batches:
            for first, _, state in batch.runs(self.start_offset, batch.last_offset):
                if state.state is DeliveryState.AVAILABLE:
                    return first
        return self.end_offset + 1

    def available(self) -> list[tuple[int, int]]:
        """Return the first and last offset of the records that are available."""
        runs = [run for batch in self._batches for run in batch.runs(self.start_offset, batch.last_offset)]
        return [(first, last) for first, last, state in runs if state.state is DeliveryState.AVAILABLE]

    @property
    def can_acquire(self) -> bool:
        """Whether a record is available, or the in-flight records are fewer than share.partition.max.record.locks."""
        has_available = self.next_fetch_offset() <= self.end_offset
        return has_available or self.end_offset - self.start_offset + 1 < self._limits().locks_max

    def acquire(
        self, member_id: str, fetched: Sequence[tuple[int, int]], limits: AcquireLimits
    ) -> list[AcquiredRecords]:
        """Acquire records for the member. fetched: the first and last offset of each fetched batch, in order."""
        acquired: list[AcquiredRecords] = []
        left = limits.records_max
        first_offset, last_offset = max(fetched[0][0], self.start_offset), fetched[-1][1]
        for batch in list(self._batches):
            if left <= 0 or batch.first_offset > last_offset:
                break
            reacquired, is_throttled = self._reacquire(batch, member_id, (first_offset, last_offset), limits, left)
            acquired += reacquired
            left = 0 if is_throttled else left - sum(each.record_count for each in reacquired)
        if left > 0 and last_offset > self.end_offset:
            acquired += self._acquire_new(member_id, fetched, limits, left)
        return acquired

    def _reacquire(
        self, batch: InFlightBatch, member_id: str, among: tuple[int, int], limits: AcquireLimits, left: int
    ) -> tuple[list[AcquiredRecords], bool]:
        """Acquire available records of a batch. Also return whether their delivery count allows only a part of it."""
        count_max = self._limits().delivery_count_max
        unthrottled = max(_UNTHROTTLED_DELIVERIES_MIN, ceil(count_max / 2))
        acquired: list[AcquiredRecords] = []
        for first, last, state in batch.runs(*among):
            if state.state is not DeliveryState.AVAILABLE:
                continue
            count = state.delivery_count + 1
            is_throttled = count > unthrottled
            if is_throttled:
                size = batch.last_offset - batch.first_offset + 1
                part = 1 if count >= count_max else max(1, size >> (count - unthrottled))
                last = min(last, first + part - 1)
            if limits.is_strict:
                last = min(last, first + left - 1)
            self._lock(_Change(batch, first, last, RecordState(DeliveryState.ACQUIRED, count, member_id)))
            acquired.append(AcquiredRecords(first, last, count))
            left -= last - first + 1
            if is_throttled or left <= 0:
                return acquired, is_throttled
        return acquired, False

    def _acquire_new(
        self, member_id: str, fetched: Sequence[tuple[int, int]], limits: AcquireLimits, left: int
    ) -> list[AcquiredRecords]:
        """Acquire records after end_offset. Whole batches of the log are joined up to about batch_size."""
        acquired: list[AcquiredRecords] = []
        locks_left = self._limits().locks_max - (self.end_offset - self.start_offset + 1)
        first: int | None = None
        for base_offset, last_offset in fetched:
            if last_offset <= self.end_offset:
                continue
            first = max(base_offset, self.end_offset + 1) if first is None else first
            last = min(last_offset, first + left - 1) if limits.is_strict else last_offset
            if last - first + 1 >= min(limits.batch_size, left) or last_offset == fetched[-1][1]:
                batch = InFlightBatch(first, last, RecordState(DeliveryState.AVAILABLE, 0))
                self._batches.append(batch)
                self.end_offset = last
                self._lock(_Change(batch, first, last, RecordState(DeliveryState.ACQUIRED, 1, member_id)))
                acquired.append(AcquiredRecords(first, last, 1))
                left -= last - first + 1
                locks_left -= last - first + 1
                first = None
                if left <= 0 or locks_left <= 0:
                    break
        return acquired

    def archive(self, first_offset: int, last_offset: int, end: ShareEnd = ShareEnd.SKIPPED) -> None:
        """Archive records that are never delivered: those of aborted transactions, markers, and deleted ones."""
        archived = RecordState(DeliveryState.ARCHIVED, 0)
        for batch in self._batches:
            for first, last, state in batch.runs(first_offset, last_offset):
                if not state.is_done:
                    batch.set_state(first, last, archived)
        self._report([ShareChange(first_offset, last_offset, end)])
        self._advance_past_done()

    def advance_to_log_start(self, log_start_offset: int) -> None:
        """Archive the records that the log has deleted."""
        if log_start_offset > self.start_offset:
            self.archive(self.start_offset, log_start_offset - 1, ShareEnd.DELETED)
            self.start_offset = log_start_offset
            self.end_offset = max(self.end_offset, log_start_offset - 1)
            self._advance_past_done()

    # -- acknowledge

    def acknowledge(self, member_id: str, acknowledgements: Sequence[Acknowledgement]) -> None:
        """Apply all acknowledgements of a member, or none.

        Raises KafkaError: INVALID_REQUEST for records that were never acquired, INVALID_RECORD_STATE for records that
        the member has not acquired, and the errors of the write.
        """
        changes: list[_Change] = []
        for first, last, types in acknowledgements:
            changes += self._find_changes(member_id, first, last, types)
        self._apply(changes)

    def _find_changes(self, member_id: str, first: int, last: int, types: Sequence[int]) -> list[_Change]:
        if last < self.start_offset:
            # These records are done.
            return []
        if not self._batches:
            message = "Batch record not found. The request batch offsets are not found in the cache."
            raise KafkaError(ErrorCode.INVALID_RECORD_STATE, message)
        if last > self.end_offset:
            which = "last" if first <= self.end_offset else "first"
            message = f"Batch record not found. The {which} offset in request is past acquired records."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        changes: list[_Change] = []
        for batch in self._batches:
            is_whole = first <= batch.first_offset and last >= batch.last_offset and not batch.states
            for run_first, run_last, state in batch.runs(max(first, self.start_offset), last):
                _check_owner(state, member_id, is_whole=is_whole)
                if len(types) == 1:
                    changes.append(self._change(batch, (run_first, run_last), state, types[0]))
                else:
                    changes += [
                        self._change(batch, (offset, offset), state, types[offset - first])
                        for offset in range(run_first, run_last + 1)
                    ]
        return changes

    def _change(
        self, batch: InFlightBatch, offsets: tuple[int, int], state: RecordState, acknowledge_type: int
    ) -> _Change:
        return _Change(batch, *offsets, self._state_after(state, acknowledge_type), _ENDS.get(acknowledge_type))

    def _state_after(self, state: RecordState, acknowledge_type: int) -> RecordState:
        if acknowledge_type == RENEW:
            return state
        after = _ACKNOWLEDGED_STATES[acknowledge_type]
        if after is DeliveryState.AVAILABLE and state.delivery_count >= self._limits().delivery_count_max:
            after = DeliveryState.ARCHIVED
        return RecordState(after, state.delivery_count)

    def release(self, member_id: str) -> None:
        """Release the records of a member whose session has ended. Raises KafkaError, see acknowledge."""
        among = (self.start_offset, self.end_offset)
        self._release(lambda state: state.member_id == member_id, among, ShareEnd.MEMBER_LEFT)

    def _release(self, is_selected: Callable[[RecordState], bool], among: tuple[int, int], end: ShareEnd) -> int:
        """Release the acquired records that are selected, and return their number. Raises KafkaError."""
        changes = [
            _Change(batch, first, last, self._state_after(state, RELEASE), end)
            for batch in self._batches
            for first, last, state in batch.runs(*among)
            if state.state is DeliveryState.ACQUIRED and is_selected(state)
        ]
        self._apply(changes)
        return sum(each.last_offset - each.first_offset + 1 for each in changes)

    def _apply(self, changes: Sequence[_Change]) -> None:
        """Write the changes, then apply them. Renewals of locks are not written. Raises KafkaError."""
        renewed = [each for each in changes if each.state.state is DeliveryState.ACQUIRED]
        ended = [each for each in changes if each.state.state is not DeliveryState.ACQUIRED]
        if ended:
            written: list[Run] = [(each.first_offset, each.last_offset, each.state) for each in ended]
            done_count = count_done(written) + sum(
                count_done(batch.runs(self.start_offset, self.end_offset)) for batch in self._batches
            )
            self._write(self.start_offset, done_count, state_batches(written))
        for batch, first, last, state, _ in ended:
            batch.set_state(first, last, state)
        for change in renewed:
            self._lock(change)
        if ended:
            self._report([reported for each in ended if (reported := _reported(each)) is not None])
            self._advance_past_done()
            if any(each.state.state is DeliveryState.AVAILABLE for each in ended):
                self.wake()

    def _advance_past_done(self) -> None:
        """Move start_offset to the first record that is not done."""
        while self._batches:
            batch = self._batches[0]
            for first, last, state in batch.runs(self.start_offset, batch.last_offset):
                if not state.is_done:
                    self.start_offset = first
                    return
                self.start_offset = last + 1
            del self._batches[0]

    # -- locks

    def _lock(self, change: _Change) -> None:
        """Lock acquired records for their member until share.record.lock.duration.ms is over."""
        self._latest_lock += 1
        batch, first, last, state, _ = change
        batch.set_state(first, last, replace(state, lock=self._latest_lock))
        self._schedule_lock_end(self._latest_lock, first, last, self._limits().lock_ms)

    def _schedule_lock_end(self, lock: int, first: int, last: int, delay_ms: int) -> None:
        def end() -> None:
            try:
                released = self._release(lambda state: state.lock == lock, (first, last), ShareEnd.LOCK_ENDED)
            except KafkaError as error:
                if self._is_closed:
                    # The write was fenced.
                    return
                logger.warning("cannot write the end of the locks of %d-%d: %s", first, last, error.message)
                self._schedule_lock_end(lock, first, last, _RETRY_MS)
                return
            self._locks.note_ended(released)

        self._locks.schedule(lock, delay_ms, end)

    def close(self) -> None:
        """Cancel all locks, and call the waiting callbacks, which look the partition up again."""
        self._is_closed = True
        self._locks.cancel_all()
        self.wake()

    # -- fetches that wait for released records

    def wait(self, waiter: object, callback: Callable[[], None]) -> None:
        """Call callback whenever records become available, until leave(waiter)."""
        self._waiting[waiter] = callback

    def leave(self, waiter: object) -> None:
        """Remove the waiter, if it waits."""
        self._waiting.pop(waiter, None)

    def wake(self) -> None:
        """Call the callbacks of all waiters."""
        for callback in list(self._waiting.values()):
            callback()


def _reported(change: _Change) -> ShareChange | None:
    if change.end is None:
        return None
    is_archived = change.state.state is DeliveryState.ARCHIVED and change.end not in (ShareEnd.REJECTED, ShareEnd.GAP)
    return ShareChange(change.first_offset, change.last_offset, change.end, is_archived, change.state.delivery_count)


def _check_owner(state: RecordState, member_id: str, *, is_whole: bool) -> None:
    """Raise KafkaError INVALID_RECORD_STATE unless the member has acquired the records."""
    if state.state is not DeliveryState.ACQUIRED:
        what = "batch" if is_whole else "offset"
        how = "The batch is not in the acquired state." if is_whole else "The offset is not acquired."
        raise KafkaError(ErrorCode.INVALID_RECORD_STATE, f"The {what} cannot be acknowledged. {how}")
    if state.member_id != member_id:
        record = "batch record" if is_whole else "offset"
        raise KafkaError(ErrorCode.INVALID_RECORD_STATE, f"Member is not the owner of {record}")
