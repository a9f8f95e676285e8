"""The events whose id may be in a topic more than once, found without a row of Spark for each record.

Tasks read the log and pass on hashes of the ids (id_hashes.py), many in a row. Other tasks find the repeated ones. A
second pass over the log returns the events with one of these, and some others. It is left out if no hash is repeated.

Only ids of keys and headers are hashed as bytes. All others are expressions of Spark or decoded by a schema, and need
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Row, SparkSession

from ..decode.arrow_types import arrow
from ..decode.id_hash_rows import KINDS
from ..decode.id_hashes import HashedId, HashSet, set_bits_of
from ..decode.varints import Words
from ..decode.views import REPEATED_REQUESTS, WAIT_COLUMNS, WAITED_MS, Column
from ..read.options import HASH_SET, HASHED_ID
from ..read.store_attempts import Waits
from ..sessions.worker_process import freeze_imported_objects
from .event_id_parts import HEADER, KEY, parse_event_id
from .log_views import read_view

_UNREADABLE, _REPEATED = "is_unreadable", "repeated"
_PARTITION = ("topic", "partition")
# How the columns of the pieces of a partition make those of the partition: aggregates of Arrow.
_AGGREGATES = {
    "with_id": "sum",
    "without_id": "sum",
    "empty_ids": "sum",
    "first_offset": "min",
    "first_timestamp": "min",
    _UNREADABLE: "any",
    REPEATED_REQUESTS: "sum",
    WAITED_MS: "sum",
}
_NUMBER = np.dtype("<u4")
# What a task finds. repeated: numbers of set_bits_of, in a row of its own.
_FOUND = tuple(
    Column(name, kind)
    for name, kind in (
        *((name, kind) for name, kind in KINDS.items() if name in (*_PARTITION, *_AGGREGATES)),
        *((column.name, "bigint") for column in WAIT_COLUMNS),
        (_REPEATED, "binary"),
    )
)


@dataclass(frozen=True, slots=True)
class ScreenedEvents:
    """The result of the first pass over a log.

    counts: rows of event_audit.COUNTS_SCHEMA. options: of the records view, to read the events with a repeated hash;
    None if there are none. has_unreadable: see unreadable_records.has_unreadable.
    """

    counts: tuple[Row, ...]
    options: dict[str, str] | None
    has_unreadable: bool
    waits: Waits


@dataclass(frozen=True, slots=True)
class CountedEvents:
    """The counts of events, of COUNTS_SCHEMA, and the result of the screening; None if they were counted without."""

    counts: DataFrame
    screened: ScreenedEvents | None = None


def hashed_id(event_id: str, *, is_empty_an_id: bool) -> HashedId | None:
    """Return the event id as one whose bytes are hashed; None if it cannot be. Raises BadOption."""
    parts = parse_event_id(event_id)
    if any(part.source not in (KEY, HEADER) for part in parts):
        return None
    return HashedId(tuple(part.name if part.source == HEADER else None for part in parts), is_empty_an_id)


def screen_events(spark: SparkSession, options: Mapping[str, str], hashed: HashedId, tasks: int) -> ScreenedEvents:
    """Read a log once, and return its counts and how to read the events that may be there more than once.

    tasks: that find the repeated hashes.
    """
    hashed = replace(hashed, tasks=tasks)
    chosen = {**options, HASHED_ID: hashed.to_text()}
    pieces = read_view(spark, chosen, "id_hashes", ("task", "hashes", *_PARTITION, *_AGGREGATES))
    schema = ", ".join(f"{column.name} {column.kind}" for column in _FOUND)
    found = pieces.repartition(tasks, "task").mapInArrow(_find_repeated, schema).collect()
    repeated = [np.frombuffer(row[_REPEATED], _NUMBER) for row in found if row[_REPEATED] is not None]
    counted = [row for row in found if row[_REPEATED] is None]
    return ScreenedEvents(
        counts=tuple(_counts(row) for row in counted if row["with_id"] or row["without_id"]),
        options={**chosen, HASH_SET: HashSet.of_numbers(repeated).to_text()} if repeated else None,
        has_unreadable=any(row[_UNREADABLE] for row in counted),
        waits=Waits(sum(row[REPEATED_REQUESTS] for row in counted), sum(row[WAITED_MS] for row in counted) / 1000),
    )


def _counts(row: Row) -> Row:
    # What is hashed needs no decoding.
    counts = {name: row[name] for name in (*_PARTITION, "with_id", "without_id", "empty_ids")}
    first = {name: row[name] for name in ("first_offset", "first_timestamp")}
    return Row(**counts, undecodable=0, problem=None, **first)


def _find_repeated(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one row for each partition, and one with the repeated hashes if there are some; in a task.

    batches: all rows of some tasks of the view id_hashes.
    """
    freeze_imported_objects()
    pieces: list[pa.RecordBatch] = []
    hashes: list[Words] = []
    for batch in batches:
        column: Any = cast("Any", batch).column("hashes")
        pieces.append(batch.filter(column.is_null()))
        hashes += [np.frombuffer(one.as_buffer(), np.uint64) for one in column.drop_null()]
    schema = arrow.schema([column.field for column in _FOUND])
    if pieces:
        yield from _by_partition(arrow.Table.from_batches(pieces)).cast(schema).to_batches()
    numbers = _repeated_numbers(hashes)
    if len(numbers):
        yield arrow.RecordBatch.from_pylist([{_REPEATED: numbers.tobytes()}], schema)


def _by_partition(pieces: Any) -> Any:
    summed = pieces.group_by(list(_PARTITION)).aggregate(list(_AGGREGATES.items()))
    columns = {f"{name}_{how}": name for name, how in _AGGREGATES.items()}
    named = summed.rename_columns([columns.get(name, name) for name in summed.column_names])
    with_all = named.append_column(_REPEATED, arrow.nulls(len(named), arrow.binary()))
    return with_all.select([column.name for column in _FOUND])


def _repeated_numbers(hashes: Sequence[Words]) -> NDArray[np.uint32]:
    """Return the numbers of set_bits_of of all hashes that are there more than once."""
    in_order = np.sort(np.concatenate([np.zeros(0, np.uint64), *hashes]))
    repeated = in_order[1:][in_order[1:] == in_order[:-1]]
    return np.unique(set_bits_of(repeated)).astype(_NUMBER)
