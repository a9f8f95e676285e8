"""The Spark 4 data source `fauxka-log`: segment files or topics of a broker, as rows of records or of batches.

    spark.dataSource.register(FauxkaLog)
    spark.read.format("fauxka-log").load("/var/lib/kafka/data")
    spark.readStream.format("fauxka-log").option("bootstrap", "127.0.0.1:9092").option("topics", "a").load()

The reader has no pushFilters: Spark rejects a source with pushFilters while its flag for them is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from ...client.client_security import ClientSecurity
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..decode.decoder import Decoder
from ..decode.views import Column, check_columns, schema_of
from ..sessions.worker_process import freeze_imported_objects
from .fetch_log import FetchLog
from .file_log import FileLog, Place
from .log_splits import Split, open_log, read_split
from .options import LogOptions, parse_options

# An offset in Spark's checkpoint: the next offset, or segment and position, by topic and partition.
StreamOffset = dict[str, dict[str, dict[str, int]]]


class FauxkaLog(DataSource):
    """The data source. docs/pipeline.md lists its options."""

    @classmethod
    def name(cls) -> str:
        """Return the name for format()."""
        return "fauxka-log"

    def schema(self) -> str:
        """Return all columns of the view in the options."""
        return schema_of(parse_options(self.options).view)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch query."""
        options = parse_options(self.options)
        return LogReader(options, wanted_columns(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the reader of a streaming query. Raises BadOption for an option of batch queries."""
        options = parse_options(self.options)
        if options.ending.offsets:
            raise BadOption("endingOffsets: must not be set for a stream")
        if options.ending.timestamp is not None:
            raise BadOption("endingTimestamp: must not be set for a stream")
        if options.path is not None and options.starting.timestamp is not None:
            raise BadOption("startingTimestamp: must not be set for a stream of segment files")
        return LogStreamReader(options, wanted_columns(options, schema))


def wanted_columns(options: LogOptions, schema: StructType) -> tuple[Column, ...]:
    """Return the columns of a schema. Raises BadOption for an unknown column or an unsupported type."""
    columns = tuple(Column(field.name, field.dataType.simpleString(), field.nullable) for field in schema.fields)
    check_columns(options.view, columns)
    return columns


@dataclass
class LogPartition(InputPartition):
    """A split for one task."""

    split: Split


def _rows(decoder: Decoder, security: ClientSecurity, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    freeze_imported_objects()
    # For a source without partitions Spark calls read with an empty one.
    if isinstance(partition, LogPartition):
        yield from read_split(partition.split, decoder, security)


class LogReader(DataSourceReader):
    """Reads the log up to its end when the query starts."""

    def __init__(self, options: LogOptions, columns: tuple[Column, ...]) -> None:
        """columns: from wanted_columns."""
        self._options = options
        self._decoder = Decoder(options.view, columns, options.hashed, options.wanted)

    def partitions(self) -> Sequence[InputPartition]:
        """Return the splits; runs on the driver."""
        return [LogPartition(split) for split in open_log(self._options).splits()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split, in a task."""
        return _rows(self._decoder, self._options.security, partition)


class LogStreamReader(DataSourceStreamReader):
    """Reads, in each micro-batch, from the end of the previous one up to the end of the log at planning time."""

    def __init__(self, options: LogOptions, columns: tuple[Column, ...]) -> None:
        """columns: from wanted_columns."""
        self._options = options
        self._log: FileLog | FetchLog = open_log(options)
        self._decoder = Decoder(options.view, columns, options.hashed, options.wanted)

    def initialOffset(self) -> StreamOffset:
        """Return the start of a new query."""
        return _stream_offset(self._log.beginnings())

    def latestOffset(self) -> StreamOffset:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the end of a micro-batch that is planned now.

        Omits the parameters that Spark 4.2 added: earlier versions do not pass them, and 4.2 accepts the method.
        """
        return _stream_offset(self._log.ends())

    def partitions(self, start: StreamOffset, end: StreamOffset) -> Sequence[InputPartition]:
        """Return the splits of a micro-batch."""
        if isinstance(self._log, FileLog):
            return [LogPartition(split) for split in self._log.splits_between(_places(start), _places(end))]
        return [LogPartition(split) for split in self._log.splits_between(_offsets(start), _offsets(end))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split, in a task."""
        return _rows(self._decoder, self._options.security, partition)


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
