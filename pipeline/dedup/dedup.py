"""Deduplication of records by event id: a batch keeps the first copy, a stream the copy that is read first.

- A record without an event id is always kept.
- Transaction markers and damaged batches are dropped.
- A stream stores an event id for the length of a window, which begins when the record is read. With a watermark on the
  records' timestamps Spark would drop every late record whatever its event id, and one producer with a fast clock would
  make all other records late. So no event is lost, but a copy that is read after the window is kept.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ..bad_option import BadOption
from ..checks.decoded_fields import DECODED, PROBLEM

# The added column.
EVENT_ID = "event_id"

# The place of a record without event id, which makes it distinct; null for all other records.
_PLACE = "place_without_event_id"
_READ_AT = "read_at"
_COPY_NUMBER = "copy_number"

# The names of the counts of counts_of, in their order.
COUNT_NAMES = ("records_read", "without_event_id", "empty_ids", "undecodable", "damaged_batches")

_WINDOW = re.compile(r"[1-9]\d{0,5} (second|minute|hour|day)s?")


def check_window(text: str) -> str:
    """Return text if it is a duration such as "10 minutes". Raises BadOption."""
    if _WINDOW.fullmatch(text) is None:
        raise BadOption(f"within: must be a number of seconds, minutes, hours or days, such as 10 minutes, not {text}")
    return text


def with_event_ids(records: DataFrame, event_id: Column) -> DataFrame:
    """Return the records with the column EVENT_ID, without transaction markers, damaged batches and decoded fields."""
    is_record = f.col("damage").isNull() & ~f.coalesce("is_control", f.lit(False))
    return records.where(is_record).withColumn(EVENT_ID, event_id).drop(DECODED)


def counts_of(event_id: Column, is_empty: Column, problem: Column | None = None) -> tuple[Column, ...]:
    """Return the aggregates over all rows before any is dropped: COUNT_NAMES, and the problem of one record.

    is_empty: whether a record's id has no characters. problem: why it cannot be decoded.
    """
    problem = f.lit(None).cast("string") if problem is None else problem
    is_damaged = f.col("damage").isNotNull()
    is_record = ~is_damaged & ~f.coalesce("is_control", f.lit(False))
    counted = (is_record & event_id.isNull(), is_record & is_empty, is_record & problem.isNotNull())
    counts = zip(COUNT_NAMES, (is_record, *counted, is_damaged), strict=True)
    return (*(f.count_if(rows).alias(name) for name, rows in counts), f.min(f.when(is_record, problem)).alias(PROBLEM))


def first_copies(records: DataFrame, event_id: Column) -> DataFrame:
    """Return the first copy of each event by topic, partition and offset, with the column EVENT_ID.

    Of copies in several partitions, the one in the partition with the lowest number is kept.
    """
    copies = Window.partitionBy(EVENT_ID, _PLACE).orderBy("topic", "partition", "offset")
    numbered = _placed(with_event_ids(records, event_id)).withColumn(_COPY_NUMBER, f.row_number().over(copies))
    return numbered.where(f.col(_COPY_NUMBER) == 1).drop(_COPY_NUMBER, _PLACE)


def first_copies_of_stream(records: DataFrame, event_id: Column, window: str) -> DataFrame:
    """Return a stream of the copy of each event that is read first, with the column EVENT_ID.

    window: the minimum time for which an event id is stored after its first copy was read. A repeated micro-batch has
    its original time, which Spark stores in the checkpoint.
    """
    read = _placed(with_event_ids(records, event_id)).withColumn(_READ_AT, f.current_timestamp())
    kept = read.withWatermark(_READ_AT, window).dropDuplicatesWithinWatermark([EVENT_ID, _PLACE])
    return kept.drop(_READ_AT, _PLACE)


def _placed(records: DataFrame) -> DataFrame:
    place = f.concat_ws("-", "topic", "partition", "offset")
    return records.withColumn(_PLACE, f.when(f.col(EVENT_ID).isNull(), place))
