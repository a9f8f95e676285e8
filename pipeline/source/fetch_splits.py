"""Ranges of offsets for tasks, each fetched from the partition's leader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from ...storage.log_files import PartitionName
from ..audit.committed import AbortedTransaction, remove_aborted
from ..decode.batch_table import BatchTable, read_batches
from ..decode.decoder import Decoder
from ..decode.row_source import RowSource
from ..options import EARLIEST, LogOptions
from .broker_connection import BrokerConnection, BrokerError
from .broker_topics import RetriableError, check_error, find_leaders, list_offsets, retry

# What is asked for at a time: enough batches to decode them together.
_FETCH_BYTES_MAX = 16 * 1024 * 1024
# How long a broker may wait where there is nothing to answer: there is, up to the high watermark.
_FETCH_WAIT_MS = 500


@dataclass(frozen=True, slots=True)
class FetchSplit:
    """Offsets of a partition that one task fetches; is_first: the batch that begins before start belongs to it."""

    options: LogOptions
    topic: str
    partition: int
    start: int
    end: int
    is_first: bool

    def read(self, decoder: Decoder) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the range. Raises BrokerError."""
        source = RowSource(
            self.topic, self.partition, start_offset=self.start, end_offset=self.end, is_first=self.is_first
        )
        with _Leader(self) as leader:
            position: int | None = self.start
            while position is not None and position < self.end:
                fetched = leader.fetch(position)
                position = fetched.next_offset
                if fetched.table is not None:
                    yield from decoder.decode_table(fetched.table, source)
                elif position is not None:
                    # The log begins there, which may be within a batch that still has the records before it.
                    source = replace(source, start_offset=position)


@dataclass(frozen=True, slots=True)
class _Fetched:
    """Batches, and where to go on; nowhere if there is no more."""

    table: BatchTable | None
    next_offset: int | None


class _Leader:
    """The partition's leader, found anew when it is another."""

    def __init__(self, split: FetchSplit) -> None:
        self._split = split
        self._name = f"{split.topic}-{split.partition}"
        self._connection: BrokerConnection | None = None

    def __enter__(self) -> _Leader:
        return self

    def __exit__(self, *_: object) -> None:
        self._disconnect()

    def fetch(self, offset: int) -> _Fetched:
        """Return the batches from offset on."""
        return retry(lambda: self._try(offset))

    def _try(self, offset: int) -> _Fetched:
        try:
            answer = self._ask(offset)
            if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                return self._handle_out_of_range(offset)
            check_error(answer.error_code, self._name)
        except BrokerError as error:
            # A connection that broke, or a broker that leads no more: another one may.
            self._disconnect()
            raise RetriableError(str(error)) from None
        if not answer.records:
            end = answer.last_stable_offset if self._split.options.is_committed else answer.high_watermark
            if end < self._split.end:
                raise RetriableError(f"{self._name}: the log ends at {end}, not {self._split.end}")
            return _Fetched(None, None)
        table = read_batches(memoryview(answer.records), may_be_cut_off=True)
        aborted = [AbortedTransaction(one.producer_id, one.first_offset) for one in answer.aborted_transactions or ()]
        return _Fetched(remove_aborted(table, aborted), self._next_offset(table, offset, answer.high_watermark))

    def _leader(self) -> tuple[str, int]:
        leaders = find_leaders(self._split.options, frozenset({self._split.topic}))
        leader = leaders.get(PartitionName(self._split.topic, self._split.partition))
        if leader is None:
            raise BrokerError(f"{self._name}: it is not there any more")
        return leader

    def _ask(self, offset: int) -> PartitionData:
        split = self._split
        if self._connection is None:
            self._connection = BrokerConnection(*self._leader(), split.options.timeout_ms)
        partition = FetchPartition(partition=split.partition, fetch_offset=offset, partition_max_bytes=_FETCH_BYTES_MAX)
        request = FetchRequest(
            max_wait_ms=_FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=_FETCH_BYTES_MAX,
            isolation_level=split.options.isolation_level,
            topics=[FetchTopic(topic=split.topic, partitions=[partition])],
        )
        answer = self._connection.ask(ApiKey.FETCH, request, FetchResponse.read)
        check_error(answer.error_code, self._name)
        if not answer.responses or not answer.responses[0].partitions:
            raise BrokerError(f"{self._name}: the answer to a fetch does not name it")
        return answer.responses[0].partitions[0]

    def _handle_out_of_range(self, offset: int) -> _Fetched:
        """Go on where the log begins, if that may be; the answer itself does not tell where it does."""
        options, name = self._split.options, PartitionName(self._split.topic, self._split.partition)
        start = list_offsets(options, {name: self._leader()}, EARLIEST)[name]
        if start <= offset:
            raise DataLossError(f"{self._name}: offset {offset} is not there any more: the log ends before it")
        if options.is_loss_failure:
            raise DataLossError(
                f"{self._name}: offset {offset} is not there: the log begins at {start}; "
                "failOnDataLoss=false goes on from there"
            )
        return _Fetched(None, start)

    def _next_offset(self, table: BatchTable, offset: int, high_watermark: int) -> int:
        """Return the offset behind the last batch; a damaged one may say any, and is passed by one where it does."""
        if not len(table):
            raise BrokerError(f"{self._name}: the answer from offset {offset} on holds no whole batch")
        bases = table.numbers("base_offset")
        next_offsets = bases + table.numbers("last_offset_delta") + 1
        last = int(next_offsets[-1])
        if table.has_valid_crc[-1] or offset < last <= high_watermark:
            return max(last, offset + 1)
        return max(int(bases[-1]), offset) + 1

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.__exit__(None, None, None)
            self._connection = None


class DataLossError(Exception):
    """Offsets that were to be read have gone; the words are one line."""
