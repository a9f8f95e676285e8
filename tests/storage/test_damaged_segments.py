"""Damage in segments that an earlier process wrote: reads, lookups and recovery."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.checkpoints.checkpoint_files import CLEAN_SHUTDOWN, RECOVERY_POINT_CHECKPOINT, encode_offsets
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import CleanupPolicy, LogConfig
from fauxka.storage.log_loader import LoadState
from fauxka.storage.log_manager import LogManager
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.segments import header_checks
from fauxka.storage.segments.header_checks import DamagedSegmentError, HeaderChecks

from ..protocol.batch_bytes import NOW_MS
from .logs import append, batches_in, new_log, read_bytes, sized_batch
from .test_log_loading import load

SIZE = 100
# Segments of four batches of one record: offsets 0 to 3, 4 to 7, and 8 to 11.
CONFIG = LogConfig(segment_bytes=4 * SIZE, index_interval_bytes=10**6)
CLEAN = LoadState(is_clean=True, recovery_point=12, is_recovery_point_known=True)
KILLED = LoadState(recovery_point=0, is_recovery_point_known=True)
CLOSED, ACTIVE = (f"topic-0/{base:020d}.log" for base in (4, 8))


def closed_log() -> MemoryFileSystem:
    files = MemoryFileSystem()
    log = new_log(CONFIG, file_system=files)
    for number in range(12):
        append(log, sized_batch(SIZE, timestamp=NOW_MS + number))
    log.close()
    return files


def damaged(path: str, change: Callable[[bytearray], object]) -> MemoryFileSystem:
    files = closed_log()
    file = files.open(path)
    content = bytearray(file.read(0, file.size))
    change(content)
    files.replace(path, bytes(content))
    return files


def with_base_offset(number: int, base_offset: int) -> Callable[[bytearray], object]:
    def change(content: bytearray) -> None:
        content[number * SIZE : number * SIZE + 8] = base_offset.to_bytes(8, "big", signed=True)

    return change


def cut_at(size: int) -> Callable[[bytearray], object]:
    return lambda content: content.__delitem__(slice(size, None))


def base_offsets(log: PartitionLog, offset: int) -> list[int]:
    return [int.from_bytes(each[:8], "big") for each in batches_in(read_bytes(log, offset))]


def refused_offsets(log: PartitionLog, offsets: Sequence[int]) -> list[int]:
    refused: list[int] = []
    for offset in offsets:
        try:
            read_bytes(log, offset)
        except DamagedSegmentError as error:
            assert (error.code, error.next_offset) == (ErrorCode.CORRUPT_MESSAGE, 8)
            refused.append(offset)
    return refused


@pytest.mark.parametrize("size", [100, 101, 130, 160, 199, 200, 250, 300, 399])
def test_batches_before_a_cut_are_served_and_those_after_it_are_refused(size: int) -> None:
    log = load(damaged(CLOSED, cut_at(size)), CLEAN, config=CONFIG)
    whole = size // SIZE

    assert base_offsets(log, 4) == list(range(4, 4 + whole))
    assert refused_offsets(log, range(12)) == list(range(4 + whole, 8))
    assert base_offsets(log, 8) == [8, 9, 10, 11]


@pytest.mark.parametrize("base_offset", [-1, 0, 4, 8, 2**40, -(2**63)])
def test_base_offset_outside_its_place_is_refused(base_offset: int) -> None:
    log = load(damaged(CLOSED, with_base_offset(1, base_offset)), CLEAN, config=CONFIG)

    assert base_offsets(log, 4) == [4]
    assert refused_offsets(log, range(12)) == [5, 6, 7]


def test_batch_that_jumps_over_the_next_one_is_the_refused_one() -> None:
    log = load(damaged(CLOSED, with_base_offset(1, 7)), CLEAN, config=CONFIG)

    assert base_offsets(log, 4) == [4]


def test_negative_length_ends_the_search() -> None:
    log = load(damaged(CLOSED, lambda data: data.__setitem__(108, 0xFF)), CLEAN, config=CONFIG)

    assert refused_offsets(log, range(12)) == [5, 6, 7]


def test_damage_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    log = load(damaged(CLOSED, cut_at(250)), CLEAN, config=CONFIG)
    with caplog.at_level(logging.ERROR):
        refused_offsets(log, [6, 7, 6, 7])

    assert [record.getMessage() for record in caplog.records] == [
        f"{CLOSED} is damaged at byte 200: 50 bytes are left for a batch; "
        "reads of the lost records return CORRUPT_MESSAGE"
    ]


def test_lookup_by_timestamp_beyond_damage_is_refused() -> None:
    log = load(damaged(CLOSED, cut_at(250)), CLEAN, config=CONFIG)

    assert log.offset_for_timestamp(NOW_MS + 5) is not None
    with pytest.raises(DamagedSegmentError):
        log.offset_for_timestamp(NOW_MS + 6)


def test_compacted_log_may_lack_batches() -> None:
    config = replace(CONFIG, cleanup_policies=frozenset({CleanupPolicy.COMPACT}))
    files = damaged(CLOSED, lambda data: data.__delitem__(slice(SIZE, 2 * SIZE)))

    log = load(files, CLEAN, config=config)

    assert base_offsets(log, 5) == [6, 7]


def test_compacted_log_may_have_an_empty_segment() -> None:
    config = replace(CONFIG, cleanup_policies=frozenset({CleanupPolicy.COMPACT}))
    files = damaged(CLOSED, lambda data: data.clear())
    for suffix in (".index", ".timeindex"):
        files.replace(CLOSED.replace(".log", suffix), b"")

    log = load(files, CLEAN, config=config)

    assert [base_offsets(log, offset)[0] for offset in range(4, 8)] == [8] * 4


def test_missing_end_of_the_last_segment_is_logged_after_a_clean_shutdown(caplog: pytest.LogCaptureFixture) -> None:
    files = closed_log()
    manager = LogManager(files)
    files.replace(RECOVERY_POINT_CHECKPOINT, encode_offsets({("topic", 0): 12}))
    files.replace(CLEAN_SHUTDOWN, b"{}")
    files.replace(ACTIVE, bytes(files.open(ACTIVE).read(0, 2 * SIZE)))
    manager.prepare_loading()

    manager.load("topic", 0, CONFIG, now_ms=NOW_MS)

    assert [record.getMessage() for record in caplog.records] == [
        "topic-0: the log ends at offset 10, and records up to offset 12 were on disk"
    ]


@pytest.mark.parametrize(("number", "base_offset", "log_end"), [(1, 40, 9), (1, 10, 9), (1, 8, 9), (3, 13, 11)])
@pytest.mark.parametrize("state", [CLEAN, KILLED], ids=["clean", "killed"])
def test_wrong_base_offset_in_the_last_segment_ends_the_log(
    number: int, base_offset: int, log_end: int, state: LoadState
) -> None:
    log = load(damaged(ACTIVE, with_base_offset(number, base_offset)), state, config=CONFIG)

    assert log.log_end_offset == log_end


def test_recovery_believes_no_base_offset_of_the_next_segment() -> None:
    log = load(damaged(CLOSED, with_base_offset(3, 8)), LoadState(), config=CONFIG)

    assert log.log_end_offset == 7


def test_each_header_of_a_loaded_segment_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []
    log = load(closed_log(), CLEAN, config=CONFIG)

    class Counting:
        size = header_checks._CHECKED.size  # pyright: ignore[reportPrivateUsage]

        def unpack_from(self, buffer: memoryview, offset: int) -> tuple[int, ...]:
            unpacked.append(offset)
            return original(buffer, offset)

    original = header_checks._CHECKED.unpack_from  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(header_checks, "_CHECKED", Counting())
    for _ in range(5):
        for offset in range(8):
            read_bytes(log, offset)

    assert len(unpacked) == 8


def test_batches_of_this_process_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    log = new_log(CONFIG)
    for _ in range(12):
        append(log, sized_batch(SIZE))

    monkeypatch.setattr(HeaderChecks, "check", None)

    assert [base_offsets(log, offset)[0] for offset in range(12)] == list(range(12))
