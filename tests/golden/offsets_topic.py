"""Reading the only partition of __consumer_offsets from a broker."""

from collections.abc import Callable, Iterator

from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.batches.records import decode_batch
from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic

OFFSETS_TOPIC = "__consumer_offsets"
FETCH_VERSION = 12


def stored_records(call: Callable[[RequestMessage, int], object]) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield key and value of each record. call: sends a request of a version and returns the response."""
    offset = 0
    while True:
        partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0, topics=[FetchTopic(topic=OFFSETS_TOPIC, partitions=[partition])], session_epoch=-1
        )
        response = call(request, FETCH_VERSION)
        assert isinstance(response, FetchResponse)
        answer = response.responses[0].partitions[0]
        assert answer.error_code == 0, answer.error_code
        data = memoryview(answer.records or b"")
        if not data:
            return
        while data:
            header = parse_header(data, 0)
            for record in decode_batch(data[: header.size]):
                if record.offset >= offset and record.key is not None:
                    yield record.key, record.value
            offset = header.last_offset + 1
            data = data[header.size :]
