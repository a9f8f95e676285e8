"""The offset of the last whole batch that a read returns, beside a plain walk through its bytes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.batches.record_batch import HEADER_SIZE, parse_header
from fauxka.storage.log_config import LogConfig
from fauxka.storage.segments.offset_index import IndexedBatch
from fauxka.storage.segments.whole_batches import NO_OFFSET, last_offset_in

from ..run_counts import examples
from .logs import new_log, produce

# A block of memory has 64 KiB at first: some reads go across two blocks.
VALUE_BYTES = st.sampled_from([1, 50, 3000, 20_000])


def expected_last_offset(data: bytes) -> int:
    """Return the last offset of the whole batches in the bytes of a read."""
    last_offset = NO_OFFSET
    while len(data) >= HEADER_SIZE and len(data) >= parse_header(memoryview(data)).size:
        header = parse_header(memoryview(data))
        last_offset, data = header.last_offset, data[header.size :]
    return last_offset


@given(
    sizes=st.lists(st.tuples(st.integers(1, 3), VALUE_BYTES), min_size=1, max_size=20),
    offset=st.integers(0, 60),
    max_bytes=st.integers(1, 100_000),
)
@settings(max_examples=examples(200))
def test_read_returns_the_last_offset_of_its_last_whole_batch(
    sizes: list[tuple[int, int]], offset: int, max_bytes: int
) -> None:
    log = new_log(LogConfig(index_interval_bytes=100, segment_bytes=100_000))
    for sequence, (count, value_bytes) in enumerate(sizes):
        produce(log, 0, count, producer_id=sequence, value=bytes(value_bytes))

    read = log.read(
        min(offset, log.log_end_offset), max_bytes, upper_offset=log.log_end_offset, min_one_batch=offset % 2 == 0
    )

    assert read.last_offset == expected_last_offset(b"".join(read.views))


def test_index_entry_of_another_batch_does_not_count() -> None:
    log = new_log(LogConfig(index_interval_bytes=1))
    for sequence in range(4):
        produce(log, sequence)
    views = log.read(0, 10**9, upper_offset=4, min_one_batch=True).views
    size = len(views[0]) // 4

    assert last_offset_in(views, IndexedBatch(last_offset=2, position=2 * size)) == 3
    assert last_offset_in([views[0][:-1]], IndexedBatch(last_offset=3, position=3 * size)) == 2
    assert last_offset_in([views[0][:-1]], IndexedBatch(last_offset=9, position=size)) == 2
