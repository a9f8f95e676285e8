"""Segments: rolling, file contents, and reads."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig

from ..protocol.batch_bytes import NOW_MS, batch, records
from ..run_counts import examples
from .logs import append, batches_in, new_log, produce, read_bytes, records_in, sized_batch

SMALL = LogConfig(segment_bytes=1000, index_interval_bytes=100)


def test_segment_rolls_when_the_next_batch_does_not_fit() -> None:
    files = MemoryFileSystem()
    log = new_log(SMALL, file_system=files)

    for _ in range(3):
        append(log, sized_batch(500))

    logs = [name for name in files.names_in("topic-0") if name.endswith(".log")]
    assert logs == ["00000000000000000000.log", "00000000000000000002.log"]


def test_segment_rolls_by_the_time_between_its_first_batch_and_the_next() -> None:
    log = new_log(LogConfig(segment_ms=1000))

    append(log, batch(base_timestamp=NOW_MS))
    append(log, batch(base_timestamp=NOW_MS + 1000))
    assert len(log.segments) == 1

    append(log, batch(base_timestamp=NOW_MS + 1001))
    assert len(log.segments) == 2


def test_segment_without_timestamps_rolls_by_the_clock() -> None:
    log = new_log(LogConfig(segment_ms=1000))

    append(log, batch(base_timestamp=-1), now_ms=NOW_MS)
    append(log, batch(base_timestamp=-1), now_ms=NOW_MS + 1000)
    assert len(log.segments) == 1

    append(log, batch(base_timestamp=-1), now_ms=NOW_MS + 1001)
    assert len(log.segments) == 2


def test_segment_rolls_when_an_index_is_full() -> None:
    # Space for four entries of the offset index; the time index has one, because all timestamps are equal.
    log = new_log(LogConfig(index_interval_bytes=1, segment_index_bytes=39))

    for _ in range(5):
        append(log, batch())
    assert len(log.segments) == 1

    append(log, batch())
    assert len(log.segments) == 2


def test_refused_batch_may_roll_and_a_duplicate_too() -> None:
    log = new_log(LogConfig(segment_ms=1000))
    produce(log, 0)

    with pytest.raises(AppendRefused):
        produce(log, 9, timestamp=NOW_MS + 5000)

    assert (len(log.segments), log.log_end_offset) == (2, 1)


def test_batch_larger_than_a_segment_is_refused_without_log_start_offset() -> None:
    log = new_log(replace(SMALL, max_message_bytes=5000))

    append(log, sized_batch(1000))
    with pytest.raises(AppendRefused) as raised:
        append(log, sized_batch(1001))

    assert (raised.value.code, raised.value.log_start_offset) == (ErrorCode.RECORD_LIST_TOO_LARGE, -1)
    assert len(log.segments) == 1


def test_first_batch_of_a_segment_gets_no_index_entry() -> None:
    files = MemoryFileSystem()
    log = new_log(LogConfig(index_interval_bytes=100), file_system=files)

    for _ in range(4):
        append(log, sized_batch(90))

    # An entry after more than 100 bytes: at the third batch, at position 180; the fourth follows 90 bytes later.
    index = files.open("topic-0/00000000000000000000.index")
    assert bytes(index.read(0, index.size)) == struct.pack(">ii", 2, 180)


def test_time_index_is_closed_when_the_segment_rolls() -> None:
    files = MemoryFileSystem()
    log = new_log(LogConfig(segment_bytes=200), file_system=files)

    append(log, sized_batch(150, timestamp=NOW_MS + 7))
    append(log, sized_batch(150))

    index = files.open("topic-0/00000000000000000000.timeindex")
    assert bytes(index.read(0, index.size)) == struct.pack(">qi", NOW_MS + 7, 0)


def test_log_file_is_the_batches_back_to_back_with_offset_and_leader_epoch_stamped() -> None:
    files = MemoryFileSystem()
    log = new_log(file_system=files)
    sent = batch(records(2), count=2, leader_epoch=55)

    append(log, sent, leader_epoch=3)
    append(log, sent, leader_epoch=4)

    file = files.open("topic-0/00000000000000000000.log")
    stamped = [struct.pack(">qii", offset, len(sent) - 12, epoch) + sent[16:] for offset, epoch in ((0, 3), (2, 4))]
    assert bytes(file.read(0, file.size)) == b"".join(stamped)


def test_read_begins_with_the_batch_that_holds_the_offset() -> None:
    log = new_log()
    for _ in range(3):
        append(log, batch(records(10), count=10))

    assert [records_in(read_bytes(log, offset))[0].offset for offset in (0, 9, 10, 15, 29)] == [0, 0, 10, 10, 20]


def test_read_is_cut_at_max_bytes_in_the_middle_of_a_batch() -> None:
    log = new_log()
    for _ in range(3):
        append(log, sized_batch(100))

    fetched = log.read(0, 250, upper_offset=3, min_one_batch=False)

    assert (fetched.size, sum(len(view) for view in fetched.views)) == (250, 250)


@pytest.mark.parametrize(("min_one_batch", "size"), [(True, 100), (False, 0)])
def test_first_batch_larger_than_max_bytes_is_whole_or_left_out(min_one_batch: bool, size: int) -> None:
    log = new_log()
    append(log, sized_batch(100))
    append(log, sized_batch(100))

    assert log.read(0, 99, upper_offset=2, min_one_batch=min_one_batch).size == size


def test_read_sees_nothing_at_or_behind_the_upper_offset() -> None:
    log = new_log(SMALL)
    for _ in range(5):
        append(log, sized_batch(400))

    sizes = [log.read(offset, 10**6, upper_offset=3, min_one_batch=True).size for offset in (0, 1, 2, 3, 4, 5)]

    assert sizes == [800, 400, 400, 0, 0, 0]


def test_read_at_the_end_is_empty_and_beyond_it_out_of_range() -> None:
    log = new_log()
    append(log, batch())

    assert log.read(1, 10**6, upper_offset=1, min_one_batch=True).size == 0
    for offset in (-1, 2):
        with pytest.raises(KafkaError) as raised:
            log.read(offset, 10**6, upper_offset=1, min_one_batch=True)
        assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_read_returns_one_segment_at_a_time() -> None:
    log = new_log(SMALL)
    for _ in range(5):
        append(log, sized_batch(400))

    assert [len(batches_in(read_bytes(log, offset))) for offset in (0, 2, 4)] == [2, 2, 1]


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 300)), min_size=1, max_size=40),
    st.integers(10_000, 30_000),
    st.integers(1, 2000),
    st.data(),
)
@settings(derandomize=True, max_examples=examples(120), deadline=None)
def test_reads_are_those_of_a_plain_list_of_batches(
    drawn: list[tuple[int, int]], segment_bytes: int, interval: int, choose: st.DataObject
) -> None:
    log = new_log(LogConfig(segment_bytes=segment_bytes, index_interval_bytes=interval))
    model: list[Stored] = []
    for count, value_size in drawn:
        sent = batch(records(count, bytes(value_size)), count=count)
        first = model[-1].last + 1 if model else 0
        append(log, sent)
        segment = model[-1].segment if model else 0
        if sum(each.size for each in model if each.segment == segment) + len(sent) > segment_bytes:
            segment += 1
        model.append(Stored(first, first + count - 1, len(sent), segment))
    offset = choose.draw(st.integers(0, log.log_end_offset))
    upper = choose.draw(st.sampled_from([each.first for each in model] + [log.log_end_offset]))
    max_bytes = choose.draw(st.integers(0, 9000))
    min_one_batch = choose.draw(st.booleans())

    fetched = log.read(offset, max_bytes, upper_offset=upper, min_one_batch=min_one_batch)

    expected = model_read(model, offset, max_bytes, upper, min_one_batch)
    data = b"".join(fetched.views)
    assert (fetched.size, len(data)) == (expected.size, expected.size)
    assert [records_in(each)[0].offset for each in whole_batches_in(data)] == expected.whole


@dataclass
class Stored:
    first: int
    last: int
    size: int
    segment: int


@dataclass
class Expected:
    size: int
    whole: list[int]


def model_read(model: list[Stored], offset: int, max_bytes: int, upper: int, min_one_batch: bool) -> Expected:
    """Return the bytes of a read, and the base offsets of its complete batches."""
    seen = [each for each in model if offset <= each.last < upper]
    if not seen or offset >= upper:
        return Expected(0, [])
    in_segment = [each for each in seen if each.segment == seen[0].segment]
    room = max(max_bytes, seen[0].size) if min_one_batch else max_bytes
    if room < seen[0].size:
        return Expected(0, [])
    size, whole = 0, list[int]()
    for each in in_segment:
        size += each.size
        if size <= room:
            whole.append(each.first)
    return Expected(min(size, room), whole)


def whole_batches_in(data: bytes) -> list[bytes]:
    return [each for each in batches_in(data) if len(each) > 61 and len(each) == 12 + int.from_bytes(each[8:12], "big")]
