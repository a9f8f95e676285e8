"""The views of a log as frames, read by the data source or, on Spark 3.5, by read_log."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from ..cluster.spark_session import has_data_sources
from ..decode.views import WAIT_COLUMNS, ViewName, columns_of
from ..read.log_frame import read_log
from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions
from .decoded_fields import with_decoded_fields
from .event_id import contents_read_for

# The large columns of the records view.
_CONTENTS = frozenset({"key", "value", "headers"})


def read_view(
    spark: SparkSession, options: Mapping[str, str], view: ViewName, columns: Collection[str] | None = None
) -> DataFrame:
    """Return a view of the log, read by the data source or, on Spark 3.5, by read_log.

    columns: names of the needed columns, because Spark prunes none of a Python source; default: all.
    """
    chosen = {**options, "view": view}
    if not has_data_sources(spark):
        return read_log(spark, chosen, columns)
    reader = spark.read.format("fauxka-log").options(**chosen)
    if columns is not None:
        every = (*columns_of(view), *WAIT_COLUMNS)
        kinds = (f"{column.name} {column.kind}" for column in every if column.name in columns)
        reader = reader.schema(", ".join(kinds))
    return reader.load()


def read_records(
    spark: SparkSession,
    options: Mapping[str, str],
    event_id: str | None,
    schemas: SchemaOptions = NO_SCHEMAS,
    more: Sequence[str] = (),
) -> DataFrame:
    """Return the records view without key, value and headers, except the contents of the event id.

    schemas: of its decoded parts, which are in another column (decoded_fields.py). more: names of further contents, and
    of WAIT_COLUMNS.
    """
    contents = _CONTENTS - (set() if event_id is None else contents_read_for(event_id)) - set(more)
    names = [column.name for column in columns_of("records") if column.name not in contents]
    records = read_view(spark, options, "records", [*names, *more])
    return records if event_id is None else with_decoded_fields(records, event_id, schemas)
