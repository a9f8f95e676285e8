"""Reads the records of committed transactions, like a read_committed consumer, and the last stable offset."""

from dataclasses import dataclass

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.control_records import decode_marker
from fauxka.protocol.batches.record_batch import HEADER_SIZE, parse_header
from fauxka.protocol.batches.records import decode_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from fauxka.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from fauxka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from fauxka.scenarios.clients.raw_connection import RawConnection

READ_COMMITTED = 1
FETCH_BYTES_MAX = 10_000_000
# The states of a transaction that has not ended, or whose markers are not all written.
UNFINISHED = ["Ongoing", "PrepareCommit", "PrepareAbort"]


@dataclass(slots=True)
class CommittedReader:
    """One partition, read incrementally; no transaction may be open during a read."""

    topic: str
    partition: int
    next_offset: int = 0

    def read(self, connection: RawConnection) -> list[str]:
        """Return the values of committed records up to the high watermark, which must be stable."""
        values: list[str] = []
        while True:
            response = connection.send_and_receive(ApiKey.FETCH, 11, self._request(), FetchResponse.read)
            data = response.responses[0].partitions[0]
            assert data.error_code == ErrorCode.NONE, ErrorCode(data.error_code).name
            assert data.last_stable_offset == data.high_watermark, (
                f"{self.topic}-{self.partition} is stable up to {data.last_stable_offset} of {data.high_watermark}"
            )
            aborted = sorted((each.first_offset, each.producer_id) for each in data.aborted_transactions or [])
            values += self._take(memoryview(data.records or b""), aborted)
            if self.next_offset >= data.high_watermark:
                return values

    def _request(self) -> FetchRequest:
        partition = FetchPartition(
            partition=self.partition,
            current_leader_epoch=-1,
            fetch_offset=self.next_offset,
            partition_max_bytes=FETCH_BYTES_MAX,
        )
        return FetchRequest(
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=FETCH_BYTES_MAX,
            isolation_level=READ_COMMITTED,
            session_id=0,
            session_epoch=-1,
            topics=[FetchTopic(topic=self.topic, partitions=[partition])],
        )

    def _take(self, data: memoryview, aborted: list[tuple[int, int]]) -> list[str]:
        values: list[str] = []
        aborting: set[int] = set()
        position = 0
        while position + HEADER_SIZE <= len(data):
            header = parse_header(data, position)
            batch = data[position : position + header.size]
            if len(batch) < header.size:
                break
            position += header.size
            while aborted and aborted[0][0] <= header.last_offset:
                aborting.add(aborted.pop(0)[1])
            marker = decode_marker(header, batch)
            if marker is not None and not marker.is_commit:
                aborting.discard(header.producer_id)
            elif not header.is_control and not (header.is_transactional and header.producer_id in aborting):
                values += [bytes(record.value or b"").decode() for record in decode_batch(batch)]
            self.next_offset = header.last_offset + 1
        return values


def committed_offset(connection: RawConnection, group_id: str, topic: str) -> int:
    """Return the group's committed offset of partition 0; no transaction with offsets may be pending."""
    group = OffsetFetchRequestGroup(
        group_id=group_id, topics=[OffsetFetchRequestTopics(name=topic, partition_indexes=[0])]
    )
    request = OffsetFetchRequest(groups=[group], require_stable=True)
    answer = connection.send_and_receive(ApiKey.OFFSET_FETCH, 8, request, OffsetFetchResponse.read)
    partition = answer.groups[0].topics[0].partitions[0]
    assert partition.error_code == ErrorCode.NONE, ErrorCode(partition.error_code).name
    return partition.committed_offset


def unfinished_transactions(connection: RawConnection) -> list[str]:
    """Return the transactional ids whose transaction has not ended."""
    request = ListTransactionsRequest(state_filters=UNFINISHED)
    answer = connection.send_and_receive(ApiKey.LIST_TRANSACTIONS, 0, request, ListTransactionsResponse.read)
    return [each.transactional_id for each in answer.transaction_states]
