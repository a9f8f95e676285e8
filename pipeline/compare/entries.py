"""The records of a side as entries: the numbers that are compared, in the same columns for a log and for a table.

Keys and values are hashes of 64 bits, because every column is shuffled for every record. A value is the bytes of a log
or the text of a column, so that a string in a table is equal to the same bytes in a log.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ..checks.event_id import decode_problem, text_of
from .matching import Matching
from .side_columns import IN_LOG, as_bytes, condition, id_column, order_column, place_columns, time_column
from .sides import LogSide, Side

# What is compared and reported of a record.
ENTRY_KINDS: dict[str, str] = {
    "is_left": "boolean",
    # The name of the topic on the left side.
    "topic": "string",
    # Equal for the records of both sides that belong together; null for a record without one.
    "id": "string",
    # Why the event id cannot be decoded; null if it can, and for one that is not decoded.
    "problem": "string",
    # What identifies the record for a reader: its key, where id is not an event id.
    "label": "string",
    # Hashes. content: null if values are not compared.
    "content": "bigint",
    "key_hash": "bigint",
    "partition": "int",
    "offset": "bigint",
    # The order of the records of a partition; null if it is unknown.
    "position": "bigint",
    "timestamp": "timestamp",
    "is_optional": "boolean",
    "is_tombstone": "boolean",
    # Whether the side has a later record of the key.
    "is_superseded": "boolean",
    # A hash of the offset columns, for the cause of a copy; null without them.
    "origin": "bigint",
    # As in the records view; null for a table.
    "producer_id": "bigint",
    "producer_epoch": "int",
    "sequence": "int",
    "base_sequence": "int",
    "is_transactional": "boolean",
    "timestamp_type": "int",
}
ENTRY_COLUMNS = tuple(ENTRY_KINDS)
PRODUCER_COLUMNS = (
    *("producer_id", "producer_epoch", "sequence", "base_sequence"),
    *("is_transactional", "timestamp_type"),
)


def entries_of(rows: DataFrame, side: Side, matching: Matching, topic: Column, *, has_content: bool) -> DataFrame:
    """Return the entries of a side with the columns of ENTRY_KINDS; is_superseded is false.

    rows: of the side. topic: the name of a row's topic on the left side. has_content: values are compared.
    Raises BadOption for an expression or a column that the rows do not have.
    """
    is_log, columns, option = isinstance(side, LogSide), side.columns, side.name
    if columns.where is not None:
        rows = rows.where(condition(rows, f"{option}-where", columns.where))
    place = {**dict.fromkeys(IN_LOG, _null()), **place_columns(rows, side)}
    value = columns.value or ("value" if is_log else None)
    key = columns.key or ("key" if is_log else None)
    time = columns.time or ("timestamp" if is_log else None)
    order = columns.order
    is_optional = f.lit(False)
    if side.name == "left" and matching.optional is not None:
        is_optional = f.coalesce(condition(rows, "optional", matching.optional), f.lit(False))
    keys = [] if key is None else as_bytes(rows, f"{option}-key", key)
    values: dict[str, Column] = {
        "is_left": f.lit(side.name == "left"),
        "topic": topic,
        "id": _id_of(rows, side, matching, place),
        "problem": _null() if columns.event_id is None else decode_problem(columns.event_id),
        "label": _label(keys) if matching.by != "event-id" else _null(),
        "content": _content(rows, side, value) if has_content else _null(),
        "key_hash": _hash_of_all(keys) if keys else _null(),
        "partition": place["partition"],
        "offset": place["offset"],
        "position": place["offset"] if is_log else _null() if order is None else order_column(rows, side.name, order),
        "timestamp": _null() if time is None else time_column(rows, f"{option}-time", time),
        "is_optional": is_optional,
        "is_tombstone": f.col("value").isNull() if is_log else f.lit(False),
        "is_superseded": f.lit(False),
        "origin": _origin(side, place),
        **{name: f.col(name) if is_log else _null() for name in PRODUCER_COLUMNS},
    }
    return rows.select(*(values[name].cast(kind).alias(name) for name, kind in ENTRY_KINDS.items()))


def with_superseded(entries: DataFrame) -> DataFrame:
    """Set is_superseded: whether a later record of the partition has the same key.

    All rows of a table without an order may be superseded. A record without a key never is.
    """
    # Records without a key form one group each, so that no task gets all of them.
    group = f.when(f.col("key_hash").isNull(), f.coalesce("offset", f.col("content")))
    of_key = Window.partitionBy("topic", "partition", "key_hash", group)
    is_known = f.col("key_hash").isNotNull() & f.col("position").isNotNull()
    latest = f.max("position").over(of_key)
    is_superseded = f.when(is_known, f.col("position") < latest).otherwise(f.col("position").isNull())
    return entries.withColumn("is_superseded", is_superseded)


def _id_of(rows: DataFrame, side: Side, matching: Matching, place: dict[str, Column]) -> Column:
    if matching.by == "event-id":
        text = side.columns.event_id
        assert text is not None, "compare_request.py requires an event id"
        return id_column(rows, f"{side.name}-event-id", text, is_empty_an_id=matching.is_empty_an_id)
    if matching.by == "position":
        return _null()
    parts = [place[name].cast("string") for name in ("partition", "offset")]
    return f.when(parts[0].isNotNull() & parts[1].isNotNull(), f.concat_ws("/", *parts))


def _content(rows: DataFrame, side: Side, text: str | None) -> Column:
    assert text is not None, "values are compared if both sides have them"
    parts = as_bytes(rows, f"{side.name}-value", text)
    # xxhash64 skips nulls, so that a null differs from no bytes by a flag.
    return f.xxhash64(*(column for part in parts for column in (part, part.isNull())))


def _hash_of_all(parts: Sequence[Column]) -> Column:
    """Return a hash of binary columns; null if one of them is null."""
    has_all = f.lit(True)
    for part in parts:
        has_all &= part.isNotNull()
    return f.when(has_all, f.xxhash64(*parts))


def _origin(side: Side, place: dict[str, Column]) -> Column:
    """Return a hash of the offset columns of a table; null without them."""
    if isinstance(side, LogSide) or not side.columns.offsets:
        return _null()
    names = IN_LOG[-len(side.columns.offsets) :]
    return _hash_of_all([place[name].cast("string").cast("binary") for name in names])


def _label(keys: Sequence[Column]) -> Column:
    if not keys:
        return _null()
    texts = [text_of(key) for key in keys]
    return texts[0] if len(texts) == 1 else f.concat_ws(",", *texts)


def _null() -> Column:
    return f.lit(None)
