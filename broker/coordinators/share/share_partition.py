"""One partition as a share group sees it: which records are whose, which are done with, and which may be acquired.

A record that was acquired is its member's until it is acknowledged or its lock ends; then it may be acquired again,
until it was delivered as often as is allowed. What becomes of records is written before anybody is told; that they are
acquired is not.
Source: SharePartition, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.share_state_records import DeliveryState, StateBatch
from .record_state import Acquired, InFlightBatch, RecordState, state_batches

if TYPE_CHECKING:
    from ...runtime.clock import Clock, Timer

logger = logging.getLogger(__name__)

# What a member says of a record (AcknowledgeType).
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)

_STATE_OF = {
    GAP: DeliveryState.ARCHIVED,
    ACCEPT: DeliveryState.ACKNOWLEDGED,
    RELEASE: DeliveryState.AVAILABLE,
    REJECT: DeliveryState.ARCHIVED,
    RENEW: DeliveryState.ACQUIRED,
}
# Until a record was delivered so often, it is delivered with all others of its batch.
_UNTHROTTLED_MIN = 2
# After so long it is tried again to write that a lock has ended.
_RETRY_MS = 500

# First and last offset, and one type for all of them or one each.
Acknowledgement = tuple[int, int, Sequence[int]]
Run = tuple[int, int, RecordState]


class Wanted(NamedTuple):
    """What a member asks for: as many records, in batches of about batch_size; is_strict: and not one more."""

    records_max: int
    batch_size: int
    is_strict: bool = False


@dataclass(frozen=True, slots=True)
class ShareLimits:
    """What holds for the group: share.delivery.count.limit, share.record.lock.duration.ms, and how many locks."""

    delivery_count_max: int
    lock_ms: int
    locks_max: int


# Writes the start offset, how many are done with, and what has changed; raises KafkaError.
WriteState = Callable[[int, int, tuple[StateBatch, ...]], None]


class SharePartition:
    """The records between the first that is not done with, start_offset, and the last that was acquired."""

    __slots__ = (
        "_batches",
        "_clock",
        "_latest_lock",
        "_limits",
        "_locks",
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
        clock: Clock,
        write: WriteState,
    ) -> None:
        """Begin where the state that was written ends: batches are what is known of records from start_offset on."""
        self.start_offset = start_offset
        self._batches = _without_gaps(start_offset, batches)
        self.end_offset = self._batches[-1].last_offset if self._batches else start_offset - 1
        self._limits = limits
        self._clock = clock
        self._write = write
        # What ends each lock; one whose records were all acknowledged finds none.
        self._locks: dict[int, Timer] = {}
        self._latest_lock = 0
        self._waiting: dict[object, Callable[[], None]] = {}
        self._forget_done()

    # -- acquire

    def next_fetch_offset(self) -> int:
        """Return the first offset that may be acquired."""
        for batch in self._batches:
            for first, _, state in batch.runs(self.start_offset, batch.last_offset):
                if state.state is DeliveryState.AVAILABLE:
                    return first
        return self.end_offset + 1

    @property
    def has_room(self) -> bool:
        """Whether there may be more records on their way (share.partition.max.record.locks)."""
        is_behind = self.next_fetch_offset() <= self.end_offset
        return is_behind or self.end_offset - self.start_offset + 1 < self._limits().locks_max

    def acquire(self, member_id: str, fetched: Sequence[tuple[int, int]], wanted: Wanted) -> list[Acquired]:
        """Have the member get records of the batches that were fetched: first and last offset of each, in order."""
        acquired: list[Acquired] = []
        left = wanted.records_max
        first_offset, last_offset = max(fetched[0][0], self.start_offset), fetched[-1][1]
        for batch in list(self._batches):
            if left <= 0 or batch.first_offset > last_offset:
                break
            got, is_throttled = self._acquire_again(batch, member_id, (first_offset, last_offset), wanted, left)
            acquired += got
            left -= sum(each.last_offset - each.first_offset + 1 for each in got)
            if is_throttled:
                left = 0
        if left > 0 and last_offset > self.end_offset:
            acquired += self._acquire_new(member_id, fetched, wanted, left)
        return acquired

    def _acquire_again(
        self, batch: InFlightBatch, member_id: str, among: tuple[int, int], wanted: Wanted, left: int
    ) -> tuple[list[Acquired], bool]:
        """Acquire records of a batch that are free again; whether these are few because they were delivered often."""
        limits = self._limits()
        unthrottled = max(_UNTHROTTLED_MIN, ceil(limits.delivery_count_max / 2))
        got: list[Acquired] = []
        for first, last, state in batch.runs(*among):
            if state.state is not DeliveryState.AVAILABLE:
                continue
            count = state.delivery_count + 1
            is_throttled = count > unthrottled
            if is_throttled:
                few = 1 if count >= limits.delivery_count_max else max(1, len(batch) >> (count - unthrottled))
                last = min(last, first + few - 1)
            if wanted.is_strict:
                last = min(last, first + left - 1)
            self._lock(batch, first, last, RecordState(DeliveryState.ACQUIRED, count, member_id))
            got.append(Acquired(first, last, count))
            left -= last - first + 1
            if is_throttled or left <= 0:
                return got, is_throttled
        return got, False

    def _acquire_new(
        self, member_id: str, fetched: Sequence[tuple[int, int]], wanted: Wanted, left: int
    ) -> list[Acquired]:
        """Acquire records that nobody had yet, whole batches of the log together up to about batch_size."""
        acquired: list[Acquired] = []
        room = self._limits().locks_max - (self.end_offset - self.start_offset + 1)
        first: int | None = None
        for base_offset, last_offset in fetched:
            if last_offset <= self.end_offset:
                continue
            first = max(base_offset, self.end_offset + 1) if first is None else first
            last = min(last_offset, first + left - 1) if wanted.is_strict else last_offset
            if last - first + 1 >= min(wanted.batch_size, left) or last_offset == fetched[-1][1]:
                acquired.append(self._begin(member_id, first, last))
                left -= last - first + 1
                room -= last - first + 1
                first = None
                if left <= 0 or room <= 0:
                    break
        return acquired

    def _begin(self, member_id: str, first: int, last: int) -> Acquired:
        batch = InFlightBatch(first, last, RecordState(DeliveryState.AVAILABLE, 0))
        self._batches.append(batch)
        self.end_offset = last
        self._lock(batch, first, last, RecordState(DeliveryState.ACQUIRED, 1, member_id))
        return Acquired(first, last, 1)

    def archive(self, first_offset: int, last_offset: int) -> None:
        """Be done with records that nobody is to get: of transactions that were aborted, and their markers."""
        archived = RecordState(DeliveryState.ARCHIVED, 0)
        for batch in self._batches:
            for first, last, state in batch.runs(first_offset, last_offset):
                if not state.is_done:
                    batch.put(first, last, archived)
        self._forget_done()

    # -- acknowledge

    def acknowledge(self, member_id: str, acknowledgements: Sequence[Acknowledgement]) -> None:
        """Take what a member says of records that it has; all of it or nothing.

        Raises KafkaError: INVALID_REQUEST for records that nobody had, INVALID_RECORD_STATE for those that the member
        does not have, and what writing raises.
        """
        changes: list[tuple[InFlightBatch, int, int, RecordState]] = []
        for first, last, types in acknowledgements:
            changes += self._changes_of(member_id, first, last, types)
        self._change(changes)

    def _changes_of(
        self, member_id: str, first: int, last: int, types: Sequence[int]
    ) -> list[tuple[InFlightBatch, int, int, RecordState]]:
        if last < self.start_offset:
            # Done with long ago, or deleted.
            return []
        if first > self.end_offset or not self._batches:
            raise _not_found("first")
        if last > self.end_offset:
            raise _not_found("last")
        changes: list[tuple[InFlightBatch, int, int, RecordState]] = []
        for batch in self._batches:
            is_whole = first <= batch.first_offset and last >= batch.last_offset and not batch.states
            for run_first, run_last, state in batch.runs(max(first, self.start_offset), last):
                _check_owner(state, member_id, is_whole=is_whole)
                if len(types) == 1:
                    changes.append((batch, run_first, run_last, self._after(state, types[0])))
                else:
                    for offset in range(run_first, run_last + 1):
                        changes.append((batch, offset, offset, self._after(state, types[offset - first])))
        return changes

    def _after(self, state: RecordState, acknowledge_type: int) -> RecordState:
        if acknowledge_type == RENEW:
            return state
        after = _STATE_OF[acknowledge_type]
        if after is DeliveryState.AVAILABLE and state.delivery_count >= self._limits().delivery_count_max:
            after = DeliveryState.ARCHIVED
        return RecordState(after, state.delivery_count)

    def release(self, member_id: str) -> None:
        """Give back what the member has: its session is over. Raises KafkaError, see acknowledge."""
        self._release(lambda state: state.member_id == member_id, self.start_offset, self.end_offset)

    def _release(self, is_meant: Callable[[RecordState], bool], first_offset: int, last_offset: int) -> None:
        self._change(
            [
                (batch, first, last, self._after(state, RELEASE))
                for batch in self._batches
                for first, last, state in batch.runs(first_offset, last_offset)
                if state.state is DeliveryState.ACQUIRED and is_meant(state)
            ]
        )

    def _change(self, changes: Sequence[tuple[InFlightBatch, int, int, RecordState]]) -> None:
        """Write the changes, and then make them; a renewed lock is not written. Raises KafkaError."""
        renewed = [each for each in changes if each[3].state is DeliveryState.ACQUIRED]
        written: list[Run] = [each[1:] for each in changes if each[3].state is not DeliveryState.ACQUIRED]
        if written:
            newly_done = sum(last - first + 1 for first, last, state in written if state.is_done)
            self._write(self.start_offset, self._done_count() + newly_done, state_batches(written))
        for batch, first, last, state in changes:
            if state.state is not DeliveryState.ACQUIRED:
                batch.put(first, last, state)
        for batch, first, last, state in renewed:
            self._lock(batch, first, last, state)
        if written:
            self._forget_done()
            if any(state.state is DeliveryState.AVAILABLE for _, _, state in written):
                self.wake()

    def _done_count(self) -> int:
        return sum(
            last - first + 1
            for batch in self._batches
            for first, last, state in batch.runs(self.start_offset, self.end_offset)
            if state.is_done
        )

    def _forget_done(self) -> None:
        """Move the start past what is done with."""
        while self._batches:
            batch = self._batches[0]
            for first, last, state in batch.runs(self.start_offset, batch.last_offset):
                if not state.is_done:
                    self.start_offset = first
                    return
                self.start_offset = last + 1
            del self._batches[0]

    def start_from(self, log_start_offset: int) -> None:
        """Be done with what the log has no more."""
        if log_start_offset > self.start_offset:
            self.archive(self.start_offset, log_start_offset - 1)
            self.start_offset = log_start_offset
            self.end_offset = max(self.end_offset, log_start_offset - 1)
            self._forget_done()

    # -- locks

    def _lock(self, batch: InFlightBatch, first: int, last: int, state: RecordState) -> None:
        """Have records be a member's until the lock ends."""
        self._latest_lock += 1
        batch.put(first, last, replace(state, lock=self._latest_lock))
        self._end_later(self._latest_lock, first, last, self._limits().lock_ms)

    def _end_later(self, lock: int, first: int, last: int, delay_ms: int) -> None:
        def end() -> None:
            del self._locks[lock]
            try:
                self._release(lambda state: state.lock == lock, first, last)
            except KafkaError as error:
                logger.warning("cannot write that the locks of %d..%d have ended: %s", first, last, error.message)
                self._end_later(lock, first, last, _RETRY_MS)

        self._locks[lock] = self._clock.call_later(delay_ms, end)

    def close(self) -> None:
        """Be nothing any more: no lock ends, and who waits looks again."""
        for timer in self._locks.values():
            timer.cancel()
        self._locks.clear()
        self.wake()

    # -- who waits for records that are given back

    def wait(self, waiter: object, freed: Callable[[], None]) -> None:
        """Have freed called whenever records are given back, until waiter leaves."""
        self._waiting[waiter] = freed

    def leave(self, waiter: object) -> None:
        """Have the waiter no longer called; without effect if it does not wait."""
        self._waiting.pop(waiter, None)

    def wake(self) -> None:
        """Call who waits."""
        for freed in list(self._waiting.values()):
            freed()


def _without_gaps(start_offset: int, batches: Sequence[StateBatch]) -> list[InFlightBatch]:
    """Return the batches, with others between them of records that were acquired and of which nothing is known."""
    filled: list[InFlightBatch] = []
    next_offset = start_offset
    for first, last, state, count in batches:
        if first > next_offset:
            filled.append(InFlightBatch(next_offset, first - 1, RecordState(DeliveryState.AVAILABLE, 0)))
        filled.append(InFlightBatch(first, last, RecordState(state, count)))
        next_offset = last + 1
    return filled


def _check_owner(state: RecordState, member_id: str, *, is_whole: bool) -> None:
    """Check that the member has the records; raises KafkaError INVALID_RECORD_STATE."""
    what = "batch" if is_whole else "offset"
    if state.state is not DeliveryState.ACQUIRED:
        how = "The batch is not in the acquired state." if is_whole else "The offset is not acquired."
        raise KafkaError(ErrorCode.INVALID_RECORD_STATE, f"The {what} cannot be acknowledged. {how}")
    if state.member_id != member_id:
        record = "batch record" if is_whole else "offset"
        raise KafkaError(ErrorCode.INVALID_RECORD_STATE, f"Member is not the owner of {record}")


def _not_found(which: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REQUEST, f"Batch record not found. The {which} offset in request is past acquired records."
    )
