"""The vectorised decoder against the plain one, field by field."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.pipeline.decode import record_columns
from fauxka.protocol.batches import records
from fauxka.protocol.batches.record_batch import Compression, parse_header, sealed_header
from fauxka.protocol.batches.records import BatchOptions, Record

from ..run_counts import examples
from .batch_strategies import log_files
from .plain_rows import Row, decoded, plain_batches, plain_records

KAFKA_LOGS = sorted((Path(__file__).parents[1] / "golden" / "kafka-4.3.0-data-dir").glob("*-*/*.log"))


def without_markers(rows: list[Row]) -> list[Row]:
    """Remove the columns that come from the record of a control batch."""
    return [
        {name: value for name, value in row.items() if name not in ("control_type", "coordinator_epoch")}
        for row in rows
    ]


@given(log_files())
@settings(max_examples=examples(100), deadline=None)
def test_records_equal_those_of_the_plain_decoder(batches: list[bytes]) -> None:
    data = b"".join(batches)

    rows = decoded(data, "records")

    assert rows == plain_records(data)


@given(log_files())
@settings(max_examples=examples(40), deadline=None)
def test_batches_equal_those_of_the_plain_decoder(batches: list[bytes]) -> None:
    data = b"".join(batches)

    rows = decoded(data, "batches")

    assert without_markers(rows) == plain_batches(data)


@pytest.mark.parametrize("log", KAFKA_LOGS, ids=lambda log: f"{log.parent.name}/{log.name}")
def test_kafka_files_equal_the_plain_decoder(log: Path) -> None:
    data = log.read_bytes()

    rows = decoded(data, "records")
    batch_rows = decoded(data, "batches")

    assert rows == plain_records(data)
    assert without_markers(batch_rows) == plain_batches(data)


@pytest.mark.parametrize("codec", list(Compression))
def test_many_batches_of_different_sizes_are_read(codec: Compression) -> None:
    """Enough batches for a lockstep, a few much longer than the others, lengths of one to three bytes."""
    counts = [3 + index % 7 for index in range(300)] + [900, 1, 400]
    parts: list[bytes] = []
    offset = 0
    for count in counts:
        sizes = [(offset + index) % 97 for index in range(count)]
        sizes[0] = 9000 if count == 5 else 1
        batch = [Record(bytes(size), str(size).encode(), offset + size * size) for size in sizes]
        parts.append(records.build_batch(batch, BatchOptions(compression=codec, base_offset=offset)))
        offset += count
    data = b"".join(parts)

    rows = decoded(data, "records")

    assert rows == plain_records(data)


@pytest.mark.parametrize("together", [1, 7, 50])
def test_batches_read_in_several_groups_have_the_same_rows(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    """Constant columns differ between the groups of rows, and a damaged batch is in the middle."""
    monkeypatch.setattr(record_columns, "RECORDS_TOGETHER", together)
    parts: list[bytes] = []
    for index in range(100):
        stored = [Record(f"value {index}".encode(), timestamp=1000 * index)] * (1 + index % 9)
        options = BatchOptions(
            base_offset=9 * index,
            compression=Compression(index // 40),
            producer_id=index // 20,
            producer_epoch=index // 30,
            base_sequence=9 * (index % 20),
        )
        parts.append(records.build_batch(stored, options))
    header = parse_header(parts[25])
    broken = sealed_header(header, b"\x00" * (header.size - 61)) + b"\x00" * (header.size - 61)

    rows = decoded(b"".join(parts), "records")
    rows_with_broken = decoded(b"".join([*parts[:25], broken, *parts[26:]]), "records")

    assert rows == plain_records(b"".join(parts))
    assert [row for row in rows_with_broken if row["batch_base_offset"] != 9 * 25] == [
        row for row in rows if row["batch_base_offset"] != 9 * 25
    ]
    assert [(row["offset"], row["value"]) for row in rows_with_broken if row["damage"]] == [(9 * 25, None)]


def test_runs_of_equal_lengths_end_at_a_record_of_another_length() -> None:
    """One large batch: lengths of one, two and three bytes, long runs of equal lengths, and the ends of such runs."""
    sizes = [5] * 100 + [100] * 6000 + [101, 100, 100] * 50 + [9000] * 40 + [0] * 300
    stored = [Record(bytes(size), timestamp=index // 50) for index, size in enumerate(sizes)]
    data = records.build_batch(stored, BatchOptions())

    rows = decoded(data, "records")

    assert rows == plain_records(data)


def test_a_length_that_differs_only_in_its_third_byte_ends_a_run() -> None:
    """The run detection compares two bytes of a length; 8192 bytes more differ only in the third."""
    sizes = [9000] * 32 + [9000 + 8192]
    data = records.build_batch([Record(bytes(size)) for size in sizes])

    rows = decoded(data, "records")

    assert rows == plain_records(data)


def test_a_record_with_very_many_headers_is_read() -> None:
    headers = tuple((f"name {index}", None if index % 3 else b"x") for index in range(500))
    data = records.build_batch([Record(b"v", headers=headers), Record(b"w"), Record(None, headers=headers[:1])])

    rows = decoded(data, "records")

    assert rows == plain_records(data)


def test_invalid_utf8_in_a_header_name_is_replaced() -> None:
    encoded = records.encode_record(Record(b"v", headers=(("ab", b"x"),)), 0, 0).replace(b"ab", b"\xff\xfe")
    batch = bytearray(records.build_batch([Record(b"v", headers=(("ab", b"x"),))]))
    header = parse_header(batch)
    data = sealed_header(header, encoded) + encoded

    rows = decoded(data, "records")

    assert rows == plain_records(data)
    assert rows[0]["headers"] == [{"key": "\ufffd\ufffd", "value": b"x"}]


@given(log_files(batches_min=2), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_adjacent_ranges_of_offsets_return_each_row_once(batches: list[bytes], data: st.DataObject) -> None:
    log = b"".join(batches)
    rows, batch_rows = decoded(log, "records"), decoded(log, "batches")
    middle = data.draw(st.integers(batch_rows[0]["base_offset"], batch_rows[-1]["last_offset"] + 1))

    parts = [decoded(log, "records", end_offset=middle), decoded(log, "records", start_offset=middle, is_first=False)]
    halves = [decoded(log, "batches", end_offset=middle), decoded(log, "batches", start_offset=middle, is_first=False)]

    assert parts == [
        [row for row in rows if row["offset"] < middle],
        [row for row in rows if row["offset"] >= middle],
    ]
    assert halves[0] + halves[1] == batch_rows


def test_a_range_includes_the_batch_of_its_first_offset() -> None:
    log = b"".join(
        records.build_batch([Record(b"v")] * 3, BatchOptions(base_offset=base_offset)) for base_offset in (0, 3, 6)
    )

    rows = decoded(log, "batches", start_offset=4, end_offset=6)

    assert [row["base_offset"] for row in rows] == [3]


def test_markers_have_the_end_of_their_transaction() -> None:
    log = next(log for log in KAFKA_LOGS if log.name.startswith("00000000000000000002") and log.parent.name == "demo-0")

    rows = decoded(log.read_bytes(), "batches")

    ends = [(row["base_offset"], row["producer_id"], row["control_type"]) for row in rows if row["is_control"]]
    assert ends == [(6, 0, "commit"), (8, 0, "abort")]
    assert {row["coordinator_epoch"] for row in rows} == {None, 0}
