"""The log cleaner: which log and which range it cleans, while the log is in use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Thread

from fauxka.storage.checkpoints.checkpoint_files import CLEANER_OFFSET_CHECKPOINT, decode_offsets
from fauxka.storage.cleaning.log_cleaner import LogCleaner
from fauxka.storage.corrupt_file import CorruptFileError
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.log_config import CleanupPolicy

from ..protocol.batch_bytes import NOW_MS, batch, record
from .cleaned_logs import COMPACTING, FOLDER, CleanedLog
from .logs import append

HOUR_MS = 3_600_000


def test_log_below_the_dirty_ratio_is_not_cleaned() -> None:
    log = CleanedLog(replace(COMPACTING, min_cleanable_dirty_ratio=0.5))
    log.put(("a", "0" * 1000))
    log.roll()
    assert log.clean() == 1
    log.put(("b", "1" * 500))
    log.roll()
    assert log.clean() == 0

    log.put(("b", "1" * 1000))
    log.roll()

    assert log.clean() == 1


def test_overdue_log_is_cleaned_at_any_dirty_ratio() -> None:
    log = CleanedLog(replace(COMPACTING, min_cleanable_dirty_ratio=0.5, max_compaction_lag_ms=HOUR_MS))
    log.put(("a", "0" * 1000))
    log.roll()
    log.clean()
    log.put(("b", "1"))
    log.roll()

    assert log.clean(NOW_MS + HOUR_MS) == 0
    assert log.clean(NOW_MS + HOUR_MS + 1) == 1


def test_segments_within_the_compaction_lag_are_not_cleaned() -> None:
    log = CleanedLog(replace(COMPACTING, min_compaction_lag_ms=HOUR_MS))
    log.put(("a", "0"))
    log.put(("a", "1"))
    log.roll()

    assert log.clean(NOW_MS + HOUR_MS - 1) == 0
    assert log.clean(NOW_MS + HOUR_MS) == 1


def test_dirtiest_log_is_cleaned_first() -> None:
    log = CleanedLog()
    for name in ("half", "whole"):
        created = log.logs.create(name, 0, COMPACTING, now_ms=NOW_MS)
        append(created, batch(record(b"v" * 1000, b"k")))
        created.segments.roll(1, created.config, NOW_MS)
        if name == "half":
            log.clean()
            append(created, batch(record(b"v" * 1000, b"k")))
            created.segments.roll(2, created.config, NOW_MS)

    first = log.cleaner.begin(NOW_MS)

    assert first is not None and first.log.topic_partition == "whole-0"


def test_segments_are_merged_up_to_the_segment_size() -> None:
    log = CleanedLog()
    for number in range(6):
        log.put((str(number), "v" * 100))
        log.roll()
    size = next(iter(log.log.segments)).size
    log.log.config = replace(COMPACTING, segment_bytes=2 * size)

    log.clean()

    assert [segment.base_offset for segment in log.log.segments] == [0, 2, 4, 6]
    assert [segment.size for segment in log.log.segments] == [2 * size] * 3 + [0]


def test_more_keys_than_the_map_can_hold_need_several_cleanings() -> None:
    log = CleanedLog()
    for number in range(40):
        log.put((str(number % 20), str(number)))
    log.roll()
    log.cleaner.dedupe_buffer_bytes = 24 * 8

    assert log.clean() > 1

    # The first of two records is removed only if both are cleaned together or the second one later.
    assert {pair[0]: pair[1] for pair in log.values().values()} == {str(key): str(key + 20) for key in range(20)}
    assert len(log.values()) == 20


def test_checkpoint_stores_the_first_dirty_offset() -> None:
    log = CleanedLog()
    log.put(("a", "0"))
    log.put(("a", "1"))
    log.roll()
    log.clean()
    file = log.file_system.open(CLEANER_OFFSET_CHECKPOINT)
    assert decode_offsets(file.read(0, file.size)) == {("topic", 0): 2}

    assert LogCleaner(log.file_system, log.logs).begin(NOW_MS) is None


def test_recreated_topic_is_dirty_from_its_start() -> None:
    log = CleanedLog()
    log.put(("a", "0"))
    log.roll()
    log.clean()
    log.logs.delete("topic", 0)
    log.log = log.logs.create("topic", 0, COMPACTING, now_ms=NOW_MS)
    for value in ("1", "2", "3"):
        log.put(("a", value))
    log.roll()

    log.clean()

    assert log.values() == {2: ("a", "3")}


# -- cleaning while the log is used


def test_log_is_appended_to_and_read_while_it_is_cleaned() -> None:
    log = CleanedLog()
    log.put(("a", "0"))
    log.put(("a", "1"))
    log.roll()
    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None

    cleaning.run()
    log.put(("a", "2"))
    assert log.cleaner.advance(cleaning)
    cleaning.run()
    assert len(log.values()) == 3
    while log.cleaner.advance(cleaning):
        cleaning.run()

    assert log.values() == {1: ("a", "1"), 2: ("a", "2")}


def test_retention_deletes_no_segments_during_a_cleaning() -> None:
    both = frozenset({CleanupPolicy.COMPACT, CleanupPolicy.DELETE})
    log = CleanedLog(replace(COMPACTING, cleanup_policies=both, retention_ms=HOUR_MS))
    log.put(("a", "0"))
    log.roll()
    log.put(("b", "1"))
    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None

    assert sum(log.logs.enforce_retention(NOW_MS + 2 * HOUR_MS).values()) == 0
    cleaning.run()
    while log.cleaner.advance(cleaning):
        cleaning.run()

    assert sum(log.logs.enforce_retention(NOW_MS + 2 * HOUR_MS).values()) == 2


def test_cleaning_of_a_deleted_topic_ends_without_leftover_files() -> None:
    log = CleanedLog()
    log.put(("a", "0"))
    log.roll()
    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None
    cleaning.run()
    log.cleaner.advance(cleaning)

    log.logs.delete("topic", 0)
    cleaning.run()

    assert not log.cleaner.advance(cleaning)
    assert log.file_system.folders() == []
    assert log.clean() == 0


def test_cancelled_cleaning_leaves_the_log_unchanged() -> None:
    log = CleanedLog()
    log.put(("a", "0"))
    log.put(("a", "1"))
    log.roll()
    before = log.values()
    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None
    cleaning.run()
    log.cleaner.advance(cleaning)

    cleaning.cancel()
    cleaning.run()

    assert not log.cleaner.advance(cleaning)
    assert log.values() == before
    assert not [name for name in log.file_system.names_in(FOLDER) if name.endswith(".cleaned")]
    assert log.clean() == 1


def test_damaged_log_is_not_cleaned_again(tmp_path: Path) -> None:
    log = CleanedLog(file_system=OsFileSystem(tmp_path))
    log.put(("a", "0"))
    log.put(("a", "1"))
    log.roll()
    before = log.values()
    path = tmp_path / FOLDER / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)

    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None
    cleaning.run()

    assert not log.cleaner.advance(cleaning)
    assert isinstance(cleaning.error, CorruptFileError)
    assert path.read_bytes() == data and len(before) == 2
    assert log.clean() == 0


def test_log_on_disk_is_cleaned_by_another_thread(tmp_path: Path) -> None:
    log = CleanedLog(file_system=OsFileSystem(tmp_path))
    for number in range(30):
        log.put(("abc"[number % 3], str(number)))
        if number % 10 == 9:
            log.roll()
    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None

    is_going_on = True
    while is_going_on:
        thread = Thread(target=cleaning.run)
        thread.start()
        thread.join(timeout=60)
        is_going_on = log.cleaner.advance(cleaning)

    assert cleaning.error is None
    assert log.values() == {27: ("a", "27"), 28: ("b", "28"), 29: ("c", "29")}
    log.logs.close()
    assert CleanedLog(file_system=OsFileSystem(tmp_path)).values() == log.values()
