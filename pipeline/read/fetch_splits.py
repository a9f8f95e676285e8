"""Splits of topics: ranges of offsets, one a task, fetched from the partition's leader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from ...client.broker_connection import BrokerConnection
from ...client.client_security import ClientSecurity
from ...client.errors import AuthenticationFailed, BrokerError
from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from ...storage.log_files import PartitionName
from ..decode.batch_table import BatchTable, read_batches
from ..decode.decoder import Decoder
from ..decode.row_source import RowSource
from .broker_topics import RetriableError, check_error, connect_to, find_leaders, list_offsets, retry
from .committed import AbortedTransaction, remove_aborted
from .options import EARLIEST, LogOptions

# Enough batches to decode them together.
_FETCH_BYTES_MAX = 16 * 1024 * 1024
# Rarely used: up to the high watermark a broker responds at once.
_FETCH_WAIT_MS = 500


@dataclass(frozen=True, slots=True)
class FetchSplit:
    """A range of offsets for one task. is_first: includes a batch that begins before start and reaches it.

    A planned split has no security, because there can be many, and passwords and certificates are in it.
    """

    options: LogOptions
    topic: str
    partition: int
    start: int
    end: int
    is_first: bool

    def secured_by(self, security: ClientSecurity) -> FetchSplit:
        """Return the split with the security of its connections."""
        return replace(self, options=replace(self.options, security=security))

    def read(self, decoder: Decoder) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the range. Raises BrokerError, DataLossError."""
        yield from decoder.decode_tables(self._tables())

    def _tables(self) -> Iterator[tuple[BatchTable, RowSource]]:
        source = RowSource(
            self.topic, self.partition, start_offset=self.start, end_offset=self.end, is_first=self.is_first
        )
        with _Leader(self) as leader:
            position: int | None = self.start
            while position is not None and position < self.end:
                fetched = leader.fetch(position)
                position = fetched.next_offset
                if fetched.table is not None:
                    yield fetched.table, source
                elif position is not None:
                    # The log start offset can be within a batch that still has the records before it.
                    source = replace(source, start_offset=position)


@dataclass(frozen=True, slots=True)
class _Fetched:
    """Fetched batches, and the offset of the next fetch. None: there are no more."""

    table: BatchTable | None
    next_offset: int | None


class _Leader:
    """A connection to the partition's leader, replaced after an error."""

    def __init__(self, split: FetchSplit) -> None:
        self._split = split
        self._name = f"{split.topic}-{split.partition}"
        self._connection: BrokerConnection | None = None

    def __enter__(self) -> _Leader:
        return self

    def __exit__(self, *_: object) -> None:
        self._disconnect()

    def fetch(self, offset: int) -> _Fetched:
        """Return the batches from offset on. Retries while the leader moves."""
        return retry(lambda: self._try_fetch(offset))

    def _try_fetch(self, offset: int) -> _Fetched:
        try:
            data = self._send_fetch(offset)
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                return self._handle_out_of_range(offset)
            check_error(data.error_code, self._name)
        except AuthenticationFailed:
            raise
        except BrokerError as error:
            # The connection broke or leadership moved; the retry finds the leader again.
            self._disconnect()
            raise RetriableError(str(error)) from None
        if not data.records:
            end = data.last_stable_offset if self._split.options.is_committed else data.high_watermark
            if end < self._split.end:
                raise RetriableError(f"{self._name}: the log ends at {end}, not {self._split.end}")
            return _Fetched(None, None)
        table = read_batches(memoryview(data.records), may_be_cut_off=True)
        aborted = [AbortedTransaction(one.producer_id, one.first_offset) for one in data.aborted_transactions or ()]
        return _Fetched(remove_aborted(table, aborted), self._next_offset(table, offset, data.high_watermark))

    def _leader(self) -> tuple[str, int]:
        leaders = find_leaders(self._split.options, frozenset({self._split.topic}))
        leader = leaders.get(PartitionName(self._split.topic, self._split.partition))
        if leader is None:
            raise BrokerError(f"{self._name}: the partition does not exist any more")
        return leader

    def _send_fetch(self, offset: int) -> PartitionData:
        split = self._split
        if self._connection is None:
            self._connection = connect_to(self._leader(), split.options)
        partition = FetchPartition(partition=split.partition, fetch_offset=offset, partition_max_bytes=_FETCH_BYTES_MAX)
        request = FetchRequest(
            max_wait_ms=_FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=_FETCH_BYTES_MAX,
            isolation_level=split.options.isolation_level,
            topics=[FetchTopic(topic=split.topic, partitions=[partition])],
        )
        response = self._connection.send(ApiKey.FETCH, request, FetchResponse.read)
        check_error(response.error_code, self._name)
        if not response.responses or not response.responses[0].partitions:
            raise BrokerError(f"{self._name}: the Fetch response does not contain the partition")
        return response.responses[0].partitions[0]

    def _handle_out_of_range(self, offset: int) -> _Fetched:
        """Return the log start offset as the next offset. Raises DataLossError unless the options allow the loss."""
        options, name = self._split.options, PartitionName(self._split.topic, self._split.partition)
        start = list_offsets(options, {name: self._leader()}, EARLIEST)[name]
        if start <= offset:
            raise DataLossError(f"{self._name}: offset {offset} is missing: the log ends before it")
        if options.is_loss_failure:
            raise DataLossError(
                f"{self._name}: offset {offset} is missing: the log begins at {start}; "
                "failOnDataLoss=false continues from there"
            )
        return _Fetched(None, start)

    def _next_offset(self, table: BatchTable, offset: int, high_watermark: int) -> int:
        """Return the offset behind the last batch. If a damaged batch has an implausible one, advance by one offset."""
        if not len(table):
            raise BrokerError(f"{self._name}: the Fetch response from offset {offset} on contains no whole batch")
        bases = table.numbers("base_offset")
        next_offsets = bases + table.numbers("last_offset_delta") + 1
        last = int(next_offsets[-1])
        if table.has_valid_crc[-1] or offset < last <= high_watermark:
            return max(last, offset + 1)
        return max(int(bases[-1]), offset) + 1

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class DataLossError(Exception):
    """Offsets to read do not exist any more. The message is one line."""
