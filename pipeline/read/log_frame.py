"""The rows of the data source for Spark 3.5, without Python data sources: a DataFrame of splits and mapInArrow."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ...client.client_security import PLAINTEXT, ClientSecurity
from ..decode.decoder import Decoder
from ..decode.views import WAIT_COLUMNS, Column, check_columns, columns_of
from .log_splits import Split, open_log, read_split
from .options import parse_options
from .worker_process import freeze_imported_objects

_SPLIT_SCHEMA = "split binary"


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
    splits = [(pickle.dumps(split),) for split in open_log(checked).splits()]
    frame = spark.createDataFrame(splits, _SPLIT_SCHEMA)
    if splits:
        # One task a split.
        frame = spark.createDataFrame(spark.sparkContext.parallelize(splits, len(splits)), _SPLIT_SCHEMA)
    schema = ", ".join(f"{column.name} {column.kind}" for column in view_columns)
    return frame.mapInArrow(decode_splits(Decoder(checked.view, view_columns), checked.security), schema)


def decode_splits(
    decoder: Decoder, security: ClientSecurity = PLAINTEXT
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow that decodes the pickled splits in the column `split`.

    security: of the connections to a broker.
    """

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_imported_objects()
        for batch in batches:
            contents: list[bytes] = batch.to_pydict()["split"]
            for content in contents:
                split: Split = pickle.loads(content)
                yield from read_split(split, decoder, security)

    return decode
