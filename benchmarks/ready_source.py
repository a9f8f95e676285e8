"""A Spark data source of Arrow batches that are ready, which measures the part of Spark: transfer and rows.

Rows and columns are those of the pipeline's benchmark, in the columns of the `kafka` format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from fauxka.pipeline.decode.arrow_columns import TIMESTAMP
from fauxka.pipeline.decode.arrow_types import arrow


class ReadySource(DataSource):
    """Options: records, partitions and rows (of an Arrow batch). The schema must be that of the kafka format."""

    @classmethod
    def name(cls) -> str:
        """Return the name for format()."""
        return "ready-arrow-batches"

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch query."""
        records, partitions, rows = (int(self.options[name]) for name in ("records", "partitions", "rows"))
        return _ReadyReader(records // partitions, partitions, rows)


class _ReadyReader(DataSourceReader):
    def __init__(self, records: int, partitions: int, rows: int) -> None:
        self._records, self._partitions, self._rows = records, partitions, rows

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in range(self._partitions)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        rows = self._rows
        columns = {
            "key": pa.array([b"%08d" % number for number in range(rows)], pa.binary()),
            "value": pa.array([bytes(92)] * rows, pa.binary()),
            "topic": pa.array(["t"] * rows),
            "partition": pa.array(np.zeros(rows, np.int32)),
            "offset": pa.array(np.arange(rows)),
            "timestamp": pa.array(np.arange(rows)).view(TIMESTAMP),
            "timestamp_type": pa.array(np.zeros(rows, np.int32)),
        }
        batch: pa.RecordBatch = arrow.RecordBatch.from_pydict(columns)
        for first in range(0, self._records, rows):
            yield batch.slice(0, min(rows, self._records - first))
