"""Every file of a log truncated or with a flipped bit anywhere: it loads, keeps the rest, serves no wrong CRC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest

from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_manager import LogManager
from fauxka.storage.partition_log import PartitionLog

from ..faulty_files.faulty_file_system import FaultyFileSystem
from ..protocol.batch_bytes import NOW_MS, batch, record
from .checks import read_batches
from .drawing import Sent, draw_batch
from .simulation import CLEAN_MARK, contents_of
from .stored_batches import StoredBatch, batches_in

pytestmark = pytest.mark.simulation

TOPIC = "damaged"
FOLDER = f"{TOPIC}-0"
CONFIG = LogConfig(segment_bytes=4300, index_interval_bytes=300, segment_index_bytes=600)
# The minimum number of segments before the last one, which has about 4 KB.
SEGMENTS_BEFORE = 2

# The files of the top folder and of the log's folder, by path.
Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Stored:
    """A log on disk, its batches in order, and the base offset of its last segment."""

    files: Files
    batches: list[StoredBatch]
    last_base: int

    @property
    def last_log(self) -> str:
        return f"{FOLDER}/{self.last_base:020d}.log"


def files_of(file_system: FileSystem) -> Files:
    found = dict(contents_of(file_system, "").items())
    found.update({f"{FOLDER}/{name}": data for name, data in contents_of(file_system, FOLDER).items()})
    return found


def disk_with(files: Files) -> FaultyFileSystem:
    inner = MemoryFileSystem()
    for path, data in files.items():
        inner.open(path).append(data, b"")
    return FaultyFileSystem(inner)


@cache
def stored(*, is_clean: bool) -> Stored:
    """Return a log of several segments, the last about full, after a clean shutdown or a kill."""
    random = Random(4)
    disk = FaultyFileSystem(MemoryFileSystem())
    manager = LogManager(disk)
    manager.prepare_loading()
    log = manager.create(TOPIC, 0, CONFIG, now_ms=NOW_MS)
    sequences = {1: 0, 2: 0, 3: 0}
    batch_count = 0
    while len(log.segments) <= SEGMENTS_BEFORE or log.segments.active.size < 3800:
        batch_count += 1
        producer_id = random.choice((-1, 1, 2, 3))
        sent = drawn(random, batch_count, producer_id, sequences)
        log.append(memoryview(sent.data), now_ms=NOW_MS, leader_epoch=batch_count // 20)
        if log.is_flush_due or batch_count % 10 == 0:
            flush = log.begin_flush()
            flush.run()
            log.finish_flush(flush)
    log.delete_records_before(3)
    if is_clean:
        manager.close()
    else:
        manager.write_checkpoints()
    files = files_of(disk.after_kill())
    logs = [data for path, data in sorted(files.items()) if path.endswith(".log")]
    batches = [found for data in logs for found in batches_in(data)]
    return Stored(files, batches, log.segments.active.base_offset)


def drawn(random: Random, number: int, producer_id: int, sequences: dict[int, int]) -> Sent:
    if producer_id < 0:
        return draw_batch(random, number, NOW_MS + number, producer_id=-1, epoch=-1, sequence=-1)
    sent = draw_batch(
        random, number, NOW_MS + number, producer_id=producer_id, epoch=0, sequence=sequences[producer_id]
    )
    sequences[producer_id] += sent.count
    return sent


def loaded(files: Files) -> PartitionLog:
    manager = LogManager(disk_with(files))
    manager.prepare_loading()
    return manager.load(TOPIC, 0, CONFIG, now_ms=NOW_MS + 1_000)


def flipped(data: bytes, position: int) -> bytes:
    """Return data with one bit of the byte at position flipped, always the same one."""
    bit = 1 << Random(position).randrange(8)
    return data[:position] + bytes((data[position] ^ bit,)) + data[position + 1 :]


def served_batches(log: PartitionLog) -> list[StoredBatch]:
    """Return every batch that the log serves; fails for a wrong CRC."""
    return list(read_batches(log, 10**6))


def places(batches: list[StoredBatch]) -> list[tuple[int, bytes]]:
    return [(each.base_offset, each.checked) for each in batches]


def from_start(batches: list[StoredBatch], log: PartitionLog) -> list[StoredBatch]:
    return [each for each in batches if each.last_offset >= log.log_start_offset]


def check_log_damage(intact: Stored, damaged: bytes, position: int) -> None:
    """Check that a log with a last segment damaged at position keeps all batches before it and serves no wrong one."""
    log = loaded({**intact.files, intact.last_log: damaged})
    before = [
        each for each in intact.batches if each.base_offset < intact.last_base or each.position + each.size <= position
    ]
    left = places(served_batches(log))
    wanted = places(from_start(before, log))
    assert left[: len(wanted)] == wanted, f"damage at {position}"
    # A bit of what the CRC does not cover, the leader epoch or an offset that still grows, damages no records.
    contents = {each.checked for each in intact.batches}
    assert all(checked in contents for _, checked in left), f"damage at {position}"
    check_takes_batches(log)


def check_takes_batches(log: PartitionLog) -> None:
    data = batch(record(b"after"), base_timestamp=NOW_MS)
    result = log.append(memoryview(data), now_ms=NOW_MS, leader_epoch=log.leader_epochs.latest_epoch)
    found = log.read(result.base_offset, 10**6, upper_offset=log.log_end_offset, min_one_batch=True)
    assert [each.checked for each in batches_in(b"".join(found.views))] == [data[21:]]


def every(size: int, first: int, step: int) -> Iterator[int]:
    return iter(range(first, size, step))


# Each test damages every eighth position. `make test` starts at position 0 only, the group simulation at each of eight.
STEP = 8
EIGHTHS = [pytest.param(first, marks=pytest.mark.slice if first == 0 else ()) for first in range(STEP)]


@pytest.mark.parametrize("first", EIGHTHS)
@pytest.mark.parametrize("is_clean", [False, True], ids=["killed", "clean"])
def test_last_segment_cut_anywhere_loses_only_the_cut_batches(is_clean: bool, first: int) -> None:
    intact = stored(is_clean=is_clean)
    data = intact.files[intact.last_log]
    for size in every(len(data), first, STEP):
        check_log_damage(intact, data[:size], size)


@pytest.mark.parametrize("first", EIGHTHS)
def test_last_segment_of_a_killed_log_with_a_wrong_bit_anywhere_keeps_the_batches_before_it(first: int) -> None:
    intact = stored(is_clean=False)
    data = intact.files[intact.last_log]
    for position in every(len(data), first, STEP):
        check_log_damage(intact, flipped(data, position), position)


@pytest.mark.parametrize("first", EIGHTHS)
def test_last_segment_of_a_closed_log_with_a_wrong_bit_anywhere_keeps_the_batches_before_it(first: int) -> None:
    """Only the end of the segment is checked: as in Kafka, damage before the last index entry is served."""
    intact = stored(is_clean=True)
    data = intact.files[intact.last_log]
    index = intact.files[intact.last_log.removesuffix(".log") + ".index"]
    checked_from = int.from_bytes(index[-4:], "big")
    for position in every(len(data), first, STEP):
        if position >= checked_from:
            check_log_damage(intact, flipped(data, position), position)
            continue
        log = loaded({**intact.files, intact.last_log: flipped(data, position)})
        before = [
            each
            for each in from_start(intact.batches, log)
            if each.base_offset < intact.last_base or each.position + each.size <= position
        ]
        offsets = [each.base_offset for each in before]
        assert all(is_served(log, max(offset, log.log_start_offset)) for offset in offsets), f"damage at {position}"


def is_served(log: PartitionLog, offset: int) -> bool:
    fetched = log.read(offset, 1, upper_offset=log.log_end_offset, min_one_batch=True)
    found = batches_in(b"".join(fetched.views))
    return bool(found) and found[0].base_offset <= offset <= found[0].last_offset


def small_files(suffixes: tuple[str, ...]) -> Callable[[Stored], list[str]]:
    return lambda intact: [path for path in sorted(intact.files) if path.endswith(suffixes)]


@pytest.mark.parametrize("first", EIGHTHS)
@pytest.mark.parametrize("is_clean", [False, True], ids=["killed", "clean"])
@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(small_files((".snapshot",)), id="snapshots"),
        pytest.param(small_files((".index", ".timeindex")), id="indexes"),
        pytest.param(small_files(("checkpoint", CLEAN_MARK)), id="checkpoints"),
    ],
)
def test_truncated_or_flipped_other_file_loses_no_batch(
    paths: Callable[[Stored], list[str]], is_clean: bool, first: int
) -> None:
    intact = stored(is_clean=is_clean)
    for path in paths(intact):
        data = intact.files[path]
        for position in every(len(data), first, STEP):
            for damaged in (flipped(data, position), data[:position]):
                check_other_damage(intact, path, damaged, f"{path} at {position}")


def check_other_damage(intact: Stored, path: str, damaged: bytes, where: str) -> None:
    log = loaded({**intact.files, path: damaged})
    # A checkpoint has no checksum: another digit is another log start, but never one after the log end.
    assert log.log_start_offset <= 9, where
    assert log.log_end_offset == intact.batches[-1].last_offset + 1, where
    assert places(served_batches(log)) == places(from_start(intact.batches, log)), where
    check_takes_batches(log)


@pytest.mark.slice
def test_undamaged_log_is_loaded_completely_after_a_kill_and_after_a_clean_shutdown() -> None:
    for is_clean in (False, True):
        intact = stored(is_clean=is_clean)

        log = loaded(intact.files)

        assert len(log.segments) > SEGMENTS_BEFORE
        assert log.log_start_offset == 3
        assert places(served_batches(log)) == places(from_start(intact.batches, log))
        assert (CLEAN_MARK in intact.files) == is_clean
        assert sorted(entry.producer_id for entry in log.producers.active_producers()) == [1, 2, 3]
        assert 3700 < len(intact.files[intact.last_log]) < 4300
