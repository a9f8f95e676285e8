"""The records of a log with their event id and without contents: all that the checks of an audit read of them.

Several checks read them, so a caller persists them, and they are decoded once.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions
from .event_audit import EVENT_COLUMNS, count_events, events_of
from .event_id import decode_problem, event_id_column, is_empty_id
from .log_views import read_records
from .store_waits import wait_columns

# Added: the event id, whether it is empty, and why it cannot be decoded.
EVENT_ID, _IS_EMPTY, _PROBLEM = "event_id", "has_empty_id", "decode_problem"
# The columns of the records view that the checks read.
_RECORD_COLUMNS = (*EVENT_COLUMNS, "is_control", "valid_crc", "damage")


def read_identified(
    spark: SparkSession,
    options: Mapping[str, str],
    event_id: str | None,
    schemas: SchemaOptions = NO_SCHEMAS,
    *,
    is_empty_an_id: bool = False,
) -> DataFrame:
    """Return the records with what the checks read of them, and wait_columns.

    event_id, is_empty_an_id: see event_id_column; None adds no column of it. Raises BadOption.
    """
    waits = wait_columns(options)
    records = read_records(spark, options, event_id, schemas, waits)
    if event_id is None:
        return records.select(*_RECORD_COLUMNS, *waits)
    of_id = (
        event_id_column(event_id, is_empty_an_id=is_empty_an_id).alias(EVENT_ID),
        (f.lit(False) if is_empty_an_id else is_empty_id(event_id)).alias(_IS_EMPTY),
        decode_problem(event_id).alias(_PROBLEM),
    )
    return records.select(*_RECORD_COLUMNS, *of_id, *waits)


def count_identified(records: DataFrame, batches: DataFrame | None) -> DataFrame:
    """Return the counts of the records with and without an event id (see count_events).

    batches: the batches view, to leave out records of aborted transactions; None keeps them.
    """
    return count_events(events_of(records, f.col(EVENT_ID), batches, f.col(_IS_EMPTY), f.col(_PROBLEM)))
