"""Hypothesis strategies for stored batches: offsets in order, with gaps from cleaning."""

from hypothesis import strategies as st

from fauxka.protocol.batches import compression, records
from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from fauxka.protocol.batches.record_batch import (
    CONTROL_BIT,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Compression,
    HeaderFields,
    sealed_header,
    stamped_prefix,
)
from fauxka.protocol.batches.records import Record
from fauxka.protocol.sequences import MAX_SEQUENCE

NAMES = st.text(max_size=5)
# What a timestamp of microseconds can hold, and deltas of one to ten bytes.
TIMESTAMPS = st.one_of(st.integers(0, 2**41), st.integers(1_700_000_000_000, 1_700_000_100_000), st.just(-1))
DATA = st.one_of(
    st.none(), st.binary(max_size=20), st.binary(min_size=60, max_size=70), st.builds(bytes, st.just(9000))
)


@st.composite
def stored_records(draw: st.DrawFn) -> list[Record]:
    """Draw the records of a batch, with offsets relative to its base and some offsets missing."""
    gaps = draw(st.lists(st.sampled_from([1, 1, 1, 2, 100]), max_size=8))
    offset = -1
    stored: list[Record] = []
    for gap in gaps:
        offset += gap
        headers = draw(st.lists(st.tuples(NAMES, st.one_of(st.none(), st.binary(max_size=5))), max_size=3))
        stored.append(Record(draw(DATA), draw(DATA), draw(TIMESTAMPS), tuple(headers), offset))
    return stored


@st.composite
def stored_batches(draw: st.DrawFn, base_offset: int) -> tuple[bytes, int]:
    """Draw a batch; return it with the offset behind it."""
    if draw(st.integers(0, 9)) == 0:
        marker = EndTransactionMarker(draw(st.booleans()), draw(st.integers(0, 5)))
        built = build_marker_batch(marker, producer_id=7, producer_epoch=1, timestamp=draw(TIMESTAMPS))
        return stamped_prefix(base_offset, len(built) - 12, 4) + built[16:], base_offset + 1
    batch_records = draw(stored_records())
    codec = draw(st.sampled_from(Compression))
    base_timestamp = draw(TIMESTAMPS)
    data = b"".join(
        records.encode_record(record, record.offset, record.timestamp - base_timestamp) for record in batch_records
    )
    # Cleaning leaves a batch without records as a header alone.
    payload = compression.compress(codec, data) if batch_records else b""
    last_offset_delta = (batch_records[-1].offset if batch_records else 0) + draw(st.integers(0, 2))
    has_producer = draw(st.booleans())
    attributes = codec | draw(st.sampled_from([0, TIMESTAMP_TYPE_BIT])) | (TRANSACTIONAL_BIT if has_producer else 0)
    fields = HeaderFields(
        base_offset=base_offset,
        length=0,
        partition_leader_epoch=draw(st.integers(-1, 3)),
        magic=2,
        crc=0,
        attributes=attributes & ~CONTROL_BIT,
        last_offset_delta=last_offset_delta,
        base_timestamp=base_timestamp,
        max_timestamp=draw(TIMESTAMPS),
        producer_id=draw(st.integers(0, 2**62)) if has_producer else -1,
        producer_epoch=draw(st.integers(0, 2**15 - 1)) if has_producer else -1,
        # The wrap falls into some of them.
        base_sequence=draw(st.sampled_from([0, 17, MAX_SEQUENCE - 2, MAX_SEQUENCE])) if has_producer else -1,
        records_count=len(batch_records),
    )
    return sealed_header(BatchHeader(fields), payload) + payload, base_offset + last_offset_delta + 1


@st.composite
def log_files(draw: st.DrawFn, batches_min: int = 0) -> list[bytes]:
    """Draw the batches of a log file in order."""
    offset = draw(st.sampled_from([0, 1000, 2**40]))
    batches: list[bytes] = []
    for _ in range(draw(st.integers(batches_min, 5))):
        batch, offset = draw(stored_batches(offset))
        batches.append(batch)
        offset += draw(st.sampled_from([0, 0, 5]))
    return batches
