"""The events of drawn logs, counted and selected by hashes as by their rows: with damage, cut ranges, and pieces."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.pipeline.decode.decoder import Decoder
from fauxka.pipeline.decode.id_hashes import HashedId, HashSet
from fauxka.pipeline.decode.row_source import OFFSET_MAX, RowSource
from fauxka.pipeline.decode.views import WAIT_COLUMNS, columns_of
from fauxka.protocol.batches.record_batch import parse_header, sealed_header

from ..run_counts import examples
from .batch_strategies import log_files
from .plain_rows import replace_kind
from .test_id_hashes import HASHED, has_empty, id_of

# Its functions run in tasks, and need no JVM.
screened_events = pytest.importorskip("fauxka.pipeline.checks.screened_events")

HEADER_SIZE = 61
Piece = tuple[bytes, RowSource]
Row = dict[str, Any]


@st.composite
def pieces_of_logs(draw: st.DrawFn) -> list[Piece]:
    """Draw pieces of some partitions of two topics, of which a part may be wanted."""
    pieces: list[Piece] = []
    for topic, partition in (("one", 0), ("one", 1), ("two", 0)):
        start = draw(st.sampled_from([0, 0, 1001, 2**40 + 1]))
        end = draw(st.sampled_from([OFFSET_MAX, OFFSET_MAX, 1003, 2**40 + 3]))
        file = draw(st.sampled_from([None, "a-file"]))
        for batch in draw(log_files()):
            source = RowSource(topic, partition, file, 0, 0, start, end, draw(st.booleans()))
            pieces.append((_perhaps_damaged(draw, batch), source))
    return pieces


def _perhaps_damaged(draw: st.DrawFn, batch: bytes) -> bytes:
    match draw(st.integers(0, 7)):
        case 0:
            at = draw(st.integers(0, len(batch) - 1))
            return batch[:at] + bytes((batch[at] ^ 1,)) + batch[at + 1 :]
        case 1:
            # A right CRC around no records.
            header, payload = parse_header(batch), bytes(len(batch) - HEADER_SIZE)
            return sealed_header(header, payload) + payload
        case 2:
            return batch[: draw(st.integers(HEADER_SIZE // 2, len(batch)))]
        case _:
            return batch


def rows_by(decoder: Decoder, pieces: Iterable[Piece]) -> Iterable[pa.RecordBatch]:
    return chain.from_iterable(decoder.decode(memoryview(data), source) for data, source in pieces)


def records_of(pieces: list[Piece], hashed: HashedId | None = None, wanted: HashSet | None = None) -> list[Row]:
    columns = [type(one)(one.name, replace_kind(one.kind)) for one in columns_of("records")]
    return [row for rows in rows_by(Decoder("records", columns, hashed, wanted), pieces) for row in rows.to_pylist()]


def found_by_tasks(pieces: list[Piece], hashed: HashedId) -> list[Row]:
    """Return what the tasks of a shuffle find, each with its rows of the first pass."""
    columns = [type(one)(one.name, replace_kind(one.kind)) for one in (*columns_of("id_hashes"), *WAIT_COLUMNS)]
    of_tasks: dict[int, list[pa.RecordBatch]] = defaultdict(list)
    for rows in rows_by(Decoder("id_hashes", columns, hashed), pieces):
        for index, row in enumerate(rows.to_pylist()):
            of_tasks[row["task"]].append(rows.slice(index, 1))
    found = chain.from_iterable(screened_events._find_repeated(iter(rows)) for rows in of_tasks.values())
    return [row for rows in found for row in rows.to_pylist()]


def counts_of(events: list[Row], hashed: HashedId) -> dict[tuple[str, int], Row]:
    """Return the counts of each partition as rows of the records give them."""
    counts: dict[tuple[str, int], Row] = {}
    by_partition: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in events:
        by_partition[row["topic"], row["partition"]].append(row)
    for partition, rows in by_partition.items():
        missing = [row for row in rows if id_of(row, hashed) is None]
        counts[partition] = {
            "with_id": len(rows) - len(missing),
            "without_id": len(missing),
            "empty_ids": sum(has_empty(row, hashed) for row in rows),
            "first_offset": min((row["offset"] for row in missing), default=None),
        }
    return counts


@given(pieces_of_logs(), HASHED)
@settings(max_examples=examples(100), deadline=None)
def test_hashes_count_and_select_the_events_that_rows_do(pieces: list[Piece], hashed: HashedId) -> None:
    rows = records_of(pieces)
    events = [row for row in rows if row["is_control"] is False and row["valid_crc"] and row["damage"] is None]
    ids = [(row["topic"], id_of(row, hashed)) for row in events]
    copies = Counter(ids)
    repeated = [row for row, one in zip(events, ids, strict=True) if one[1] is not None and copies[one] > 1]

    found = found_by_tasks(pieces, hashed)
    counted = [row for row in found if row["repeated"] is None]
    numbers = [np.frombuffer(row["repeated"], "<u4") for row in found if row["repeated"] is not None]
    expected = counts_of(events, hashed)

    names = ("with_id", "without_id", "empty_ids", "first_offset")
    assert {
        (row["topic"], row["partition"]): {name: row[name] for name in names}
        for row in counted
        if row["with_id"] or row["without_id"]
    } == expected
    assert any(row["is_unreadable"] for row in counted) == any(
        row["valid_crc"] and row["damage"] is not None for row in rows
    )
    wanted = HashSet.from_text(HashSet.of_numbers(numbers).to_text())
    assert records_of(pieces, hashed, wanted) == repeated
