"""Offset and time index: Kafka's bytes, and lookups."""

from __future__ import annotations

from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.segments.offset_index import OffsetIndex
from fauxka.storage.segments.time_index import TimeIndex

ROOM = 10_485_760


def offset_index(files: MemoryFileSystem, *, index_bytes_max: int = ROOM) -> OffsetIndex:
    return OffsetIndex(files, "t-0/i", 2, index_bytes_max)


def time_index(files: MemoryFileSystem, *, index_bytes_max: int = ROOM) -> TimeIndex:
    return TimeIndex(files, "t-0/t", 2, index_bytes_max)


def content(files: MemoryFileSystem, path: str) -> bytes:
    file = files.open(path)
    return bytes(file.read(0, file.size))


def test_offset_index_has_the_bytes_of_a_real_kafka() -> None:
    files = MemoryFileSystem()
    index = offset_index(files)

    for offset, position in ((6, 171), (8, 324), (11, 474), (12, 575)):
        index.append(offset, position)

    assert content(files, "t-0/i") == bytes.fromhex(
        "00000004000000ab 0000000600000144 00000009000001da 0000000a0000023f"
    )


def test_time_index_has_the_bytes_of_a_real_kafka() -> None:
    files = MemoryFileSystem()
    index = time_index(files)

    index.append(1795242098062, 6)
    index.append(1795242098366, 8)

    assert content(files, "t-0/t") == bytes.fromhex("000001a1fcc47d8e00000004 000001a1fcc47ebe00000006")


def test_offset_lookup_returns_the_greatest_entry_up_to_it() -> None:
    index = offset_index(MemoryFileSystem())
    index.append(6, 171)
    index.append(8, 324)

    assert [index.find(offset) for offset in (2, 5)] == [None, None]
    assert [index.find(offset) for offset in (6, 7)] == [(6, 171), (6, 171)]
    assert [index.find(offset) for offset in (8, 100)] == [(8, 324), (8, 324)]


def test_lookup_in_a_sealed_index_reads_the_file() -> None:
    files = MemoryFileSystem()
    index = offset_index(files)
    for number in range(100):
        index.append(10 + 2 * number, 100 * number)

    index.file.seal()

    assert [index.find(offset) for offset in (9, 10, 11, 208, 999)] == [
        None, (10, 0), (10, 0), (208, 9900), (208, 9900)
    ]  # fmt: skip


def test_timestamp_lookup_returns_the_greatest_entry_up_to_it() -> None:
    index = time_index(MemoryFileSystem())
    index.append(100, 6)
    index.append(200, 8)

    assert [index.lookup(timestamp) for timestamp in (99, 100, 199, 200, 999)] == [2, 6, 6, 8, 8]


def test_timestamp_not_above_the_last_entry_is_not_written() -> None:
    files = MemoryFileSystem()
    index = time_index(files)

    index.append(100, 6)
    index.append(100, 9)
    index.append(50, 10)

    assert len(content(files, "t-0/t")) == 12


def test_indexes_are_loaded_from_their_files() -> None:
    files = MemoryFileSystem()
    offset_index(files).append(6, 171)
    time_index(files).append(100, 6)

    assert offset_index(files).find(7) == (6, 171)
    assert time_index(files).lookup(150) == 6


def test_first_entry_creates_the_file() -> None:
    files = MemoryFileSystem()

    offset_index(files)
    time_index(files)

    assert files.names_in("t-0") == []


def test_index_is_full_when_no_entry_fits_the_time_index_one_entry_earlier() -> None:
    offsets = offset_index(MemoryFileSystem(), index_bytes_max=17)
    times = time_index(MemoryFileSystem(), index_bytes_max=36)

    offsets.append(3, 10)
    times.append(1, 3)
    assert (offsets.is_full, times.is_full) == (False, False)

    offsets.append(4, 20)
    times.append(2, 4)
    assert (offsets.is_full, times.is_full) == (True, True)
