"""The share partition: acquisition, acknowledgement, locks and limits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fauxka.broker.coordinators.share.record_state import AcquiredRecords
from fauxka.broker.coordinators.share.share_locks import ShareLocks
from fauxka.broker.coordinators.share.share_outputs import ShareOutputs
from fauxka.broker.coordinators.share.share_partition import (
    ACCEPT,
    REJECT,
    RELEASE,
    RENEW,
    AcquireLimits,
    ShareLimits,
    SharePartition,
)
from fauxka.faults.consumption.events import ShareChange
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.stored_records.share_state_records import DeliveryState, StateBatch

from ....manual_clock import manual_clock

LOCK_MS = 1000
MANY = AcquireLimits(500, 500)
Written = tuple[int, int, tuple[StateBatch, ...]]


class Play:
    """A partition whose log has ten records, in batches of five."""

    def __init__(self, *, delivery_count_max: int = 3, locks_max: int = 100) -> None:
        self.clock = manual_clock()
        self.limits = ShareLimits(delivery_count_max, LOCK_MS, locks_max)
        self.written: list[Written] = []
        self.reported: list[ShareChange] = []
        self.fails = False
        self.partition = self.led(0, ())

    def led(self, start_offset: int, batches: Sequence[StateBatch]) -> SharePartition:
        return SharePartition(
            start_offset,
            batches,
            limits=lambda: self.limits,
            locks=ShareLocks(self.clock, "orders-0 of group"),
            outputs=ShareOutputs(self._write, self.reported.extend),
        )

    def _write(self, start_offset: int, complete_count: int, batches: tuple[StateBatch, ...]) -> None:
        if self.fails:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "not now")
        self.written.append((start_offset, complete_count, batches))

    def acquire(self, member: str = "m", wanted: AcquireLimits = MANY) -> list[AcquiredRecords]:
        return self.partition.acquire(member, [(0, 4), (5, 9)], wanted)

    def says(self, first: int, last: int, *types: int, member: str = "m") -> None:
        self.partition.acknowledge(member, [(first, last, types)])


def refused(play: Play, first: int, last: int, member: str = "m") -> tuple[ErrorCode, str]:
    with pytest.raises(KafkaError) as caught:
        play.says(first, last, ACCEPT, member=member)
    return caught.value.code, caught.value.message


def test_acquired_records_are_delivered_to_no_other_member() -> None:
    play = Play()

    assert play.acquire("first") == [AcquiredRecords(0, 9, 1)]
    assert play.acquire("second") == []
    assert refused(play, 0, 9, "second") == (ErrorCode.INVALID_RECORD_STATE, "Member is not the owner of batch record")


def test_batches_are_acquired_whole_up_to_about_the_batch_size() -> None:
    play = Play()

    assert play.acquire(wanted=AcquireLimits(3, 3)) == [AcquiredRecords(0, 4, 1)]
    assert play.acquire(wanted=AcquireLimits(500, 3)) == [AcquiredRecords(5, 9, 1)]


def test_a_strict_limit_splits_a_batch() -> None:
    play = Play()

    assert play.acquire(wanted=AcquireLimits(2, 2, is_strict=True)) == [AcquiredRecords(0, 1, 1)]
    assert play.acquire(wanted=AcquireLimits(4, 4, is_strict=True)) == [AcquiredRecords(2, 5, 1)]


def test_accepted_and_rejected_records_are_not_delivered_again() -> None:
    play = Play()
    play.acquire()

    play.says(0, 4, ACCEPT, REJECT, RELEASE, ACCEPT, ACCEPT)

    assert play.partition.start_offset == 2
    assert play.acquire() == [AcquiredRecords(2, 2, 2)]
    (start_offset, complete_count, batches) = play.written[-1]
    assert (start_offset, complete_count) == (0, 4)
    assert [each.delivery_state for each in batches] == [
        DeliveryState.ACKNOWLEDGED,
        DeliveryState.ARCHIVED,
        DeliveryState.AVAILABLE,
        DeliveryState.ACKNOWLEDGED,
    ]


def test_a_record_is_archived_after_its_last_delivery() -> None:
    play = Play(delivery_count_max=2)
    play.acquire()
    play.says(0, 9, RELEASE)

    assert play.acquire() == [AcquiredRecords(0, 9, 2)]
    play.says(0, 9, RELEASE)

    assert play.acquire() == []
    assert play.partition.start_offset == 10


def test_the_end_of_a_lock_releases_its_records() -> None:
    play = Play()
    freed: list[int] = []
    play.acquire()
    play.partition.wait("somebody", lambda: freed.append(play.partition.next_fetch_offset()))

    play.clock.advance(LOCK_MS - 1)
    assert play.acquire("second") == []
    play.clock.advance(1)

    assert freed == [0]
    assert play.acquire("second") == [AcquiredRecords(0, 9, 2)]
    assert play.written == [(0, 0, (StateBatch(0, 9, DeliveryState.AVAILABLE, 1),))]


def test_a_renewal_restarts_the_lock_duration() -> None:
    play = Play()
    play.acquire()
    play.clock.advance(LOCK_MS - 1)
    play.says(0, 4, RENEW)
    play.clock.advance(1)

    assert play.acquire("second") == [AcquiredRecords(5, 9, 2)]
    play.clock.advance(LOCK_MS - 1)
    assert play.acquire("second") == [AcquiredRecords(0, 4, 2)]


def test_a_failed_write_changes_nothing() -> None:
    play = Play()
    play.acquire()
    play.fails = True

    assert refused(play, 0, 9)[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    play.fails = False
    play.says(0, 9, ACCEPT)
    assert play.partition.start_offset == 10


def test_a_lock_whose_end_cannot_be_written_ends_later() -> None:
    play = Play()
    play.acquire()
    play.fails = True
    play.clock.advance(LOCK_MS)
    assert play.acquire("second") == []
    play.fails = False

    play.clock.advance(500)

    assert play.acquire("second") == [AcquiredRecords(0, 9, 2)]


def test_acknowledgements_are_applied_all_or_none() -> None:
    play = Play()
    play.acquire()
    play.says(5, 5, ACCEPT)

    assert refused(play, 0, 9) == (
        ErrorCode.INVALID_RECORD_STATE,
        "The offset cannot be acknowledged. The offset is not acquired.",
    )
    play.says(0, 4, ACCEPT)
    assert play.partition.start_offset == 6


def test_records_that_were_never_acquired_are_not_found() -> None:
    play = Play()
    play.acquire(wanted=AcquireLimits(5, 5))

    assert refused(play, 5, 9) == (
        ErrorCode.INVALID_REQUEST,
        "Batch record not found. The first offset in request is past acquired records.",
    )
    assert refused(play, 4, 9)[1].startswith("Batch record not found. The last offset")


def test_no_more_records_are_acquired_than_the_lock_limit() -> None:
    play = Play(locks_max=5)

    assert play.acquire() == [AcquiredRecords(0, 9, 1)]
    assert not play.partition.can_acquire
    play.says(0, 0, RELEASE)
    assert play.partition.can_acquire


def test_a_new_leader_continues_from_the_written_state() -> None:
    play = Play()
    partition = play.led(
        2, [StateBatch(5, 6, DeliveryState.ACKNOWLEDGED, 1), StateBatch(7, 7, DeliveryState.AVAILABLE, 2)]
    )

    assert partition.next_fetch_offset() == 2
    assert partition.acquire("m", [(0, 9)], MANY) == [AcquiredRecords(2, 4, 1), AcquiredRecords(7, 7, 3)]


def test_records_that_the_log_has_deleted_are_archived() -> None:
    play = Play()
    play.acquire()
    play.says(0, 9, RELEASE)

    play.partition.advance_to_log_start(7)

    assert (play.partition.start_offset, play.partition.next_fetch_offset()) == (7, 7)


def test_a_leaving_member_releases_its_records() -> None:
    play = Play()
    play.acquire("first", AcquireLimits(5, 5))
    play.acquire("second")

    play.partition.release("first")

    assert play.acquire("third") == [AcquiredRecords(0, 4, 2)]


def test_closed_partition_does_not_try_again_to_write_the_end_of_a_lock() -> None:
    play = Play()
    play.acquire()
    writes = 0

    def close_and_refuse(*_: object) -> None:
        nonlocal writes
        writes += 1
        play.partition.close()
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "fenced")

    play.partition._write = close_and_refuse  # pyright: ignore[reportPrivateUsage]
    play.clock.advance(LOCK_MS)
    play.clock.advance(100 * LOCK_MS)

    assert writes == 1
