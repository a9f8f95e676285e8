"""The rows of the data source by mapInArrow over the splits, also for Spark 3.5, which has no Python data sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ...client.client_security import ClientSecurity
from ..decode.decoder import Decoder
from ..decode.views import WAIT_COLUMNS, Column, check_columns, columns_of
from ..sessions.session_kind import kind_of
from .log_splits import Split, open_log, read_split
from .options import parse_options


def read_log(spark: SparkSession, options: Mapping[str, str], columns: Iterable[str] | None = None) -> DataFrame:
    """Return the rows that the data source returns for the same options. Plans the splits at once, on the driver.

    columns: names of the wanted columns; default: all columns of the view. Raises BadOption.
    """
    checked = parse_options(options)
    view_columns = columns_of(checked.view)
    if columns is not None:
        kinds = {column.name: column.kind for column in (*view_columns, *WAIT_COLUMNS)}
        view_columns = tuple(Column(name, kinds.get(name, "string")) for name in dict.fromkeys(columns))
        check_columns(checked.view, view_columns)
    schema = ", ".join(f"{column.name} {column.kind}" for column in view_columns)
    read = split_reader(Decoder(checked.view, view_columns, checked.hashed, checked.wanted), checked.security)
    splits: Sequence[Split] = open_log(checked).splits()
    return kind_of(spark).rows_of_tasks(splits, read, schema)


def split_reader(decoder: Decoder, security: ClientSecurity) -> Callable[[Split], Iterator[pa.RecordBatch]]:
    """Return a function that yields the rows of a split. security: of the connections to a broker."""
    return lambda split: read_split(split, decoder, security)
