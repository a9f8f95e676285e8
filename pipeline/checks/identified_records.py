"""The records of a log with their event id, version and event time: all that the checks of an audit read of them.

Several checks read them, so a caller persists them, and they are decoded once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions
from .event_audit import EVENT_COLUMNS, count_events, events_of
from .event_id import contents_read_for, decode_problem, event_id_column, is_empty_id
from .log_views import read_records
from .store_waits import wait_columns

# Added: the event id, whether it is empty, and why it cannot be decoded; the fields of the record.
EVENT_ID, _IS_EMPTY, _PROBLEM = "event_id", "has_empty_id", "decode_problem"
VERSION, EVENT_TIME = "version", "event_time"
# The columns of the records view that the checks read.
_RECORD_COLUMNS = (*EVENT_COLUMNS, "is_control", "valid_crc", "damage")


@dataclass(frozen=True, slots=True)
class RecordTexts:
    """What an audit reads of the contents of a record; None: not read.

    event_id, is_empty_an_id: see event_id_column. schemas: of its decoded parts. version, event_time: see check_field.
    """

    event_id: str | None = None
    schemas: SchemaOptions = NO_SCHEMAS
    is_empty_an_id: bool = False
    version: str | None = None
    event_time: str | None = None


def read_identified(spark: SparkSession, options: Mapping[str, str], texts: RecordTexts) -> DataFrame:
    """Return the records with what the checks read of them, and wait_columns. Raises BadOption.

    With a version, the key too: versions are compared by key.
    """
    waits = wait_columns(options)
    fields = {VERSION: texts.version, EVENT_TIME: texts.event_time}
    given = {name: text for name, text in fields.items() if text is not None}
    key = ("key",) if texts.version is not None else ()
    contents = {content for text in given.values() for content in contents_read_for(text)}
    records = read_records(spark, options, texts.event_id, texts.schemas, (*waits, *contents, *key))
    columns = [event_id_column(text).alias(name) for name, text in given.items()]
    if texts.event_id is not None:
        columns += _id_columns(texts.event_id, is_empty_an_id=texts.is_empty_an_id)
    return records.select(*_RECORD_COLUMNS, *key, *columns, *waits)


def _id_columns(event_id: str, *, is_empty_an_id: bool) -> list[Column]:
    return [
        event_id_column(event_id, is_empty_an_id=is_empty_an_id).alias(EVENT_ID),
        (f.lit(False) if is_empty_an_id else is_empty_id(event_id)).alias(_IS_EMPTY),
        decode_problem(event_id).alias(_PROBLEM),
    ]


def count_identified(records: DataFrame, batches: DataFrame | None) -> DataFrame:
    """Return the counts of the records with and without an event id (see count_events).

    batches: the batches view, to leave out records of aborted transactions; None keeps them.
    """
    return count_events(events_of(records, f.col(EVENT_ID), batches, f.col(_IS_EMPTY), f.col(_PROBLEM)))
