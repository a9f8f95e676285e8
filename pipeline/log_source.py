"""The Spark 4 data source `fauxka-log`: segment files, or a broker's topics, as rows of records or of batches.

    spark.dataSource.register(FauxkaLog)
    spark.read.format("fauxka-log").load("/var/lib/kafka/data")
    spark.readStream.format("fauxka-log").option("bootstrap", "127.0.0.1:9092").option("topics", "a").load()

It has no pushFilters on purpose: Spark refuses a source that has them where its flag for them is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from ..storage.log_files import PartitionName
from .bad_option import BadOption
from .decode.decoder import Decoder
from .decode.views import Column, check_columns, schema_of
from .options import LogOptions, parse_options
from .source.fetch_log import FetchLog
from .source.file_log import FileLog, Place
from .source.log_splits import Split, open_log
from .spark.worker_process import spare_imports_from_collection

# A stream's offset in Spark's checkpoint: by topic and partition where to go on.
StreamOffset = dict[str, dict[str, dict[str, int]]]


class FauxkaLog(DataSource):
    """The data source; see docs/pipeline.md for its options."""

    @classmethod
    def name(cls) -> str:
        """Return what it is called in format()."""
        return "fauxka-log"

    def schema(self) -> str:
        """Return all columns of the view that is asked for."""
        return schema_of(parse_options(self.options).view)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads a batch."""
        options = parse_options(self.options)
        return LogReader(options, wanted_columns(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return what reads a stream."""
        options = parse_options(self.options)
        if options.ending.offsets:
            raise BadOption("endingOffsets: a stream has no end")
        return LogStreamReader(options, wanted_columns(options, schema))


def wanted_columns(options: LogOptions, schema: StructType) -> tuple[Column, ...]:
    """Return the columns of a schema, the user's or ours. Raises BadOption for what cannot be had."""
    columns = tuple(Column(field.name, field.dataType.simpleString(), field.nullable) for field in schema.fields)
    check_columns(options.view, columns)
    return columns


@dataclass
class LogPartition(InputPartition):
    """A split on its way to a task."""

    split: Split


def _rows(decoder: Decoder, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    spare_imports_from_collection()
    # Spark hands an empty partition to a source that has none.
    if isinstance(partition, LogPartition):
        yield from partition.split.read(decoder)


class LogReader(DataSourceReader):
    """Reads what is there when the query starts."""

    def __init__(self, options: LogOptions, columns: tuple[Column, ...]) -> None:
        """Take what was checked."""
        self._options = options
        self._decoder = Decoder(options.view, columns)

    def partitions(self) -> Sequence[InputPartition]:
        """Return the splits, on the driver."""
        return [LogPartition(split) for split in open_log(self._options).splits()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split, in a task."""
        return _rows(self._decoder, partition)


class LogStreamReader(DataSourceStreamReader):
    """Reads what is there when a micro-batch is planned, from where the one before ended."""

    def __init__(self, options: LogOptions, columns: tuple[Column, ...]) -> None:
        """Take what was checked."""
        self._options = options
        self._log: FileLog | FetchLog = open_log(options)
        self._decoder = Decoder(options.view, columns)

    def initialOffset(self) -> StreamOffset:
        """Return where a new query begins."""
        return _stream_offset(self._log.beginnings())

    def latestOffset(self) -> StreamOffset:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return where a micro-batch that is planned now ends.

        Without the parameters of 4.2, which no earlier version hands over; every version takes it so.
        """
        return _stream_offset(self._log.ends())

    def partitions(self, start: StreamOffset, end: StreamOffset) -> Sequence[InputPartition]:
        """Return the splits of a micro-batch."""
        if isinstance(self._log, FileLog):
            return [LogPartition(split) for split in self._log.splits_between(_places(start), _places(end))]
        return [LogPartition(split) for split in self._log.splits_between(_offsets(start), _offsets(end))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split, in a task."""
        return _rows(self._decoder, partition)


def _stream_offset(ends: Mapping[PartitionName, Place | int]) -> StreamOffset:
    offset: StreamOffset = {}
    for name, end in sorted(ends.items()):
        numbers = {"offset": end} if isinstance(end, int) else {"segment": end.base_offset, "position": end.position}
        offset.setdefault(name.topic_name, {})[str(name.partition)] = numbers
    return offset


def _numbers(offset: StreamOffset) -> Iterator[tuple[PartitionName, dict[str, int]]]:
    for topic, partitions in offset.items():
        for partition, numbers in partitions.items():
            yield PartitionName(topic, int(partition)), numbers


def _places(offset: StreamOffset) -> dict[PartitionName, Place]:
    return {name: Place(numbers["segment"], numbers["position"]) for name, numbers in _numbers(offset)}


def _offsets(offset: StreamOffset) -> dict[PartitionName, int]:
    return {name: numbers["offset"] for name, numbers in _numbers(offset)}
