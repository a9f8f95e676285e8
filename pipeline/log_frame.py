"""The same rows where Spark has no Python data sources (3.5): a DataFrame of splits, decoded by mapInArrow."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from .decode.decoder import Decoder
from .decode.views import Column, check_columns, columns_of
from .options import parse_options
from .source.log_splits import Split, open_log
from .spark.worker_process import spare_imports_from_collection

_SPLIT_SCHEMA = "split binary"


def read_log(spark: SparkSession, options: Mapping[str, str], columns: Iterable[str] | None = None) -> DataFrame:
    """Return the rows that the data source gives for the same options.

    columns: those wanted, all of the view without it. The splits are made now, on the driver. Raises BadOption.
    """
    checked = parse_options(options)
    view_columns = columns_of(checked.view)
    if columns is not None:
        kinds = {column.name: column.kind for column in view_columns}
        view_columns = tuple(Column(name, kinds.get(name, "string")) for name in columns)
        check_columns(checked.view, view_columns)
    splits = [(pickle.dumps(split),) for split in open_log(checked).splits()]
    frame = spark.createDataFrame(splits, _SPLIT_SCHEMA)
    if splits:
        # A task each.
        frame = spark.createDataFrame(spark.sparkContext.parallelize(splits, len(splits)), _SPLIT_SCHEMA)
    schema = ", ".join(f"{column.name} {column.kind}" for column in view_columns)
    return frame.mapInArrow(decode_splits(Decoder(checked.view, view_columns)), schema)


def decode_splits(decoder: Decoder) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow that decodes the splits in a column of that name."""

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        spare_imports_from_collection()
        for batch in batches:
            contents: list[object] = batch.to_pydict()["split"]
            for content in contents:
                yield from _split_of(content).read(decoder)

    return decode


def _split_of(content: object) -> Split:
    assert isinstance(content, bytes), "a split is the bytes that the driver made of it"
    split: Split = pickle.loads(content)
    return split
