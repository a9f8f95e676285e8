"""A field of a record that an option names: a version or an event time. Its text is that of an event id of one part."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame

from ..bad_option import BadOption
from .event_audit import is_event
from .event_id_parts import parse_event_id
from .transaction_spans import without_aborted


def check_field(option: str, text: str) -> None:
    """Raise BadOption for a text that names no field. option: for the error."""
    try:
        (part,) = parse_event_id(text)
        is_plain = not part.is_decoded
    except ValueError:
        is_plain = False
    if not is_plain:
        raise BadOption(f"{option}: must be key, header:NAME or json:$.path, not {text}")


def with_field(records: DataFrame, field: Column, batches: DataFrame | None) -> DataFrame:
    """Return the records of events with the column field, a text; null where a record has none.

    records: of the records view. batches: leaves out records of aborted transactions.
    """
    return without_aborted(records.where(is_event()).withColumn("field", field), batches)
