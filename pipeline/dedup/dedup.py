"""One copy of each event: of a batch of records the first one, of a stream the first that is read.

Events are told apart by an event id. A record without one is no copy of anything and is always kept. What is no record
of a user's is left out: markers of transactions, and batches that cannot be read.

A stream remembers an event id for the length of a window, counted on the clock of the reader and not by the records'
own timestamps. By those, a record older than the watermark would be dropped as late, whatever its event id, and one
producer with a clock that is ahead would make all the others late: a lost event is worse than a copy that stays.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ..bad_option import BadOption

# What both ways add to the columns of the records.
EVENT_ID = "event_id"

# Where a record without event id stands, so that it is unlike all others; null for the others.
_PLACE = "place_without_event_id"
_READ_AT = "read_at"
_COPY_NUMBER = "copy_number"

# What is counted of the records on their way; see counted().
READ = "read"
RECORDS_READ = "records_read"
WITHOUT_EVENT_ID = "without_event_id"
DAMAGED_BATCHES = "damaged_batches"

_WINDOW = re.compile(r"[1-9]\d{0,5} (second|minute|hour|day)s?")


def check_window(text: str) -> str:
    """Return the length of a window in Spark's words, such as "10 minutes". Raises BadOption."""
    if _WINDOW.fullmatch(text) is None:
        raise BadOption(f"within: a number and seconds, minutes, hours or days, such as 10 minutes, not {text}")
    return text


def with_event_ids(records: DataFrame, event_id: Column) -> DataFrame:
    """Return the users' records with their event ids in a column of that name."""
    is_record = f.col("damage").isNull() & ~f.coalesce("is_control", f.lit(False))
    return records.where(is_record).withColumn(EVENT_ID, event_id)


def counts_of(event_id: Column) -> tuple[Column, ...]:
    """Return what is to be counted of all rows before they are dropped, as aggregates with names."""
    is_damaged = f.col("damage").isNotNull()
    is_record = ~is_damaged & ~f.coalesce("is_control", f.lit(False))
    return (
        f.count_if(is_record).alias(RECORDS_READ),
        f.count_if(is_record & event_id.isNull()).alias(WITHOUT_EVENT_ID),
        f.count_if(is_damaged).alias(DAMAGED_BATCHES),
    )


def first_copies(records: DataFrame, event_id: Column) -> DataFrame:
    """Return the first copy of each event by topic, partition and offset, with its event id.

    Two partitions have no order between them; the one of the lower number counts as the earlier.
    """
    copies = Window.partitionBy(EVENT_ID, _PLACE).orderBy("topic", "partition", "offset")
    numbered = _placed(with_event_ids(records, event_id)).withColumn(_COPY_NUMBER, f.row_number().over(copies))
    return numbered.where(f.col(_COPY_NUMBER) == 1).drop(_COPY_NUMBER, _PLACE)


def first_copies_of_stream(records: DataFrame, event_id: Column, window: str) -> DataFrame:
    """Return a stream of the copy of each event that is read first, with its event id.

    window: how long an event id is remembered at least, counted from when its first copy was read. A micro-batch that
    is repeated after a failure has the time that it had at first, as Spark keeps it in the checkpoint.
    """
    read = _placed(with_event_ids(records, event_id)).withColumn(_READ_AT, f.current_timestamp())
    kept = read.withWatermark(_READ_AT, window).dropDuplicatesWithinWatermark([EVENT_ID, _PLACE])
    return kept.drop(_READ_AT, _PLACE)


def _placed(records: DataFrame) -> DataFrame:
    place = f.concat_ws("-", "topic", "partition", "offset")
    return records.withColumn(_PLACE, f.when(f.col(EVENT_ID).isNull(), place))
