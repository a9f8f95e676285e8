"""Start and end offsets of leader epochs, as for OffsetForLeaderEpoch."""

from __future__ import annotations

from fauxka.storage.leader_epoch_cache import EpochEndOffset, LeaderEpochCache

from ..protocol.batch_bytes import batch
from .logs import append, new_log

UNKNOWN = EpochEndOffset(-1, -1)


def epochs(*entries: tuple[int, int]) -> LeaderEpochCache:
    cache = LeaderEpochCache()
    for epoch, offset in entries:
        cache.assign(epoch, offset)
    return cache


def test_epoch_ends_where_the_next_one_starts_and_the_latest_at_the_log_end() -> None:
    cache = epochs((2, 0), (4, 10), (7, 25))

    found = [cache.end_offset_for(epoch, 40) for epoch in (-1, 1, 2, 3, 4, 6, 7, 8)]

    assert found == [
        UNKNOWN,
        EpochEndOffset(1, 0),
        EpochEndOffset(2, 10),
        EpochEndOffset(2, 10),
        EpochEndOffset(4, 25),
        EpochEndOffset(4, 25),
        EpochEndOffset(7, 40),
        UNKNOWN,
    ]


def test_log_without_epochs_has_none() -> None:
    assert epochs().end_offset_for(0, 0) == UNKNOWN


def test_older_epoch_changes_nothing() -> None:
    cache = epochs((2, 0), (2, 5), (1, 9))

    assert cache.entries() == [(2, 0)]


def test_first_epoch_starts_at_the_log_start() -> None:
    cache = epochs((0, 0), (1, 10), (2, 20))

    cache.truncate_from_start(12)

    assert cache.entries() == [(1, 12), (2, 20)]


def test_epoch_of_an_offset() -> None:
    cache = epochs((2, 5), (4, 10))

    assert [cache.epoch_of(offset) for offset in (4, 5, 9, 10, 99)] == [-1, 2, 2, 4, 4]


def test_epochs_of_a_log_come_from_its_batches_and_its_leader() -> None:
    log = new_log()
    log.assign_leader_epoch(0)
    assert log.end_offset_for_epoch(0) == EpochEndOffset(0, 0)

    append(log, batch(), leader_epoch=0)
    append(log, batch(), leader_epoch=3)

    assert [log.end_offset_for_epoch(epoch) for epoch in (0, 2, 3)] == [
        EpochEndOffset(0, 1),
        EpochEndOffset(0, 1),
        EpochEndOffset(3, 2),
    ]


def test_epochs_follow_the_log_start() -> None:
    log = new_log()
    for epoch in (0, 0, 1):
        append(log, batch(), leader_epoch=epoch)

    log.delete_records_before(2)

    assert log.leader_epochs.entries() == [(1, 2)]
