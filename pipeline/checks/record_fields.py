"""A field of a record that an option names: a version or an event time. Its text is that of an event id of one part."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame

from ..bad_option import BadOption
from .event_audit import is_event
from .event_id import event_id_column
from .event_id_parts import parse_event_id
from .transaction_spans import aborted_batches

# The columns of the records view that are read, beside the content of the field.
FIELD_COLUMNS = (
    *("topic", "partition", "offset", "timestamp", "key", "producer_id", "producer_epoch", "base_sequence"),
    *("batch_base_offset", "is_control", "valid_crc", "damage"),
)


def check_field(option: str, text: str) -> None:
    """Raise BadOption for a text that names no field. option: for the error."""
    try:
        parts = parse_event_id(text)
    except BadOption as error:
        raise BadOption(str(error).replace("event-id", option, 1)) from error
    if len(parts) > 1 or any(part.is_decoded for part in parts):
        raise BadOption(f"{option}: must be key, header:NAME or json:$.path, not {text}")


def columns_for(text: str) -> tuple[str, ...]:
    """Return the columns of the records view that a field needs. text: checked by check_field."""
    return tuple(dict.fromkeys((*FIELD_COLUMNS, *(part.content for part in parse_event_id(text)))))


def with_field(records: DataFrame, text: str, batches: DataFrame | None) -> DataFrame:
    """Return the records of events with the column field, a text; null where a record has none.

    records: the records view with columns_for(text). batches: leaves out records of aborted transactions.
    """
    field: Column = event_id_column(text)
    kept = records.where(is_event()).withColumn("field", field)
    if batches is None:
        return kept
    return kept.join(aborted_batches(batches), ["topic", "partition", "batch_base_offset"], "left_anti")
