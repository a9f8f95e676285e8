"""A client that sends requests over a socket, with sequences that the test chooses.

Every batch is of one record of producer 1, epoch 0, so that its sequence is all there is to say of it.
"""

from typing import Protocol

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from fauxka.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, ForgottenTopic
from fauxka.protocol.messages.fetch import PartitionData as FetchedPartition
from fauxka.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from fauxka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fauxka.protocol.primitives import Reader, Writer

from ..ready_sockets import is_readable
from .wire_connection import CREATE_TOPICS, FETCH, PRODUCE, WireConnection, framed, header

LIST_OFFSETS, DELETE_RECORDS = 2, 21
# The last flexible versions with topic names, and a version of ListOffsets with timestamps.
PRODUCE_VERSION, FETCH_VERSION, LIST_OFFSETS_VERSION = 9, 12, 7
CREATE_TOPICS_VERSION, DELETE_RECORDS_VERSION = 7, 2
TOPIC = "events"
RECORD_BYTES_MAX = 1 << 20
# The timestamp of every record, before that of any clock.
TIMESTAMP_MS = 1000


class WritableRequest(Protocol):
    def write(self, writer: Writer, version: int, /) -> None: ...


def batch(sequence: int) -> bytes:
    options = BatchOptions(producer_id=1, producer_epoch=0, base_sequence=sequence)
    return build_batch([Record(b"value %d" % sequence, timestamp=TIMESTAMP_MS)], options)


class RawClient:
    """One connection, which can send requests before the previous responses."""

    def __init__(self, address: str) -> None:
        self._connection = WireConnection(address)
        self._correlation_id = 0

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.__exit__()

    def send_produce(self, *sequences: int, partitions: int = 1, acks: int = -1) -> None:
        """Send one request per sequence, each with a batch for all partitions from 0 on, in one write."""
        stream = b""
        for sequence in sequences:
            data = [PartitionProduceData(index=index, records=batch(sequence)) for index in range(partitions)]
            topic = TopicProduceData(name=TOPIC, partition_data=data)
            request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])
            stream += self._framed(PRODUCE, PRODUCE_VERSION, request)
        self._connection.send(stream)

    def receive_produced(self) -> list[PartitionProduceResponse]:
        """Return the partitions of the next Produce response."""
        response = ProduceResponse.read(self._receive(), PRODUCE_VERSION)
        return response.responses[0].partition_responses

    def is_answered(self) -> bool:
        """Whether there are unread bytes."""
        return is_readable(self._connection.socket, 0)

    def is_closed(self) -> bool:
        """Wait for the next byte or the end. Return whether the broker closed the connection."""
        return self.receive_until_closed() == b""

    def receive_until_closed(self) -> bytes:
        """Return all bytes until the broker closes the connection."""
        return self._connection.receive_until_closed()

    def produce(self, sequence: int) -> PartitionProduceResponse:
        """Send one batch to partition 0 and return its response."""
        self.send_produce(sequence)
        return self.receive_produced()[0]

    def send_fetch(
        self, *, max_wait_ms: int = 0, offset: int = 0, session: tuple[int, int] = (0, -1), forgets: bool = False
    ) -> None:
        """session: its id and epoch; by default none is wanted. forgets: the request also forgets partition 0."""
        partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=RECORD_BYTES_MAX)
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=RECORD_BYTES_MAX,
            session_id=session[0],
            session_epoch=session[1],
            topics=[FetchTopic(topic=TOPIC, partitions=[partition])],
            forgotten_topics_data=[ForgottenTopic(topic=TOPIC, partitions=[0])] if forgets else [],
        )
        self._connection.send(self._framed(FETCH, FETCH_VERSION, request))

    def receive_fetch_response(self) -> FetchResponse:
        return FetchResponse.read(self._receive(), FETCH_VERSION)

    def receive_fetched(self) -> FetchedPartition:
        return self.receive_fetch_response().responses[0].partitions[0]

    def fetch(self) -> FetchedPartition:
        """Fetch partition 0 from its beginning."""
        self.send_fetch()
        return self.receive_fetched()

    def list_offset(self, timestamp: int) -> ListOffsetsPartitionResponse:
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        topic = ListOffsetsTopic(name=TOPIC, partitions=[asked])
        request = ListOffsetsRequest(replica_id=-1, topics=[topic])
        self._connection.send(self._framed(LIST_OFFSETS, LIST_OFFSETS_VERSION, request))
        return ListOffsetsResponse.read(self._receive(), LIST_OFFSETS_VERSION).topics[0].partitions[0]

    def delete_records(self, offset: int) -> DeleteRecordsPartitionResult:
        """Delete the records of partition 0 before the offset."""
        topic = DeleteRecordsTopic(name=TOPIC, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=1000)
        self._connection.send(self._framed(DELETE_RECORDS, DELETE_RECORDS_VERSION, request))
        return DeleteRecordsResponse.read(self._receive(), DELETE_RECORDS_VERSION).topics[0].partitions[0]

    def create_topic(self, name: str) -> int:
        """Create a topic of two partitions, and return the error code."""
        self.send_create_topic(name)
        return self.receive_created()

    def send_create_topic(self, name: str) -> None:
        topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=1000)
        self._connection.send(self._framed(CREATE_TOPICS, CREATE_TOPICS_VERSION, request))

    def receive_created(self) -> int:
        """Return the error code of the created topic."""
        return CreateTopicsResponse.read(self._receive(), CREATE_TOPICS_VERSION).topics[0].error_code

    def _framed(self, api_key: int, version: int, request: WritableRequest) -> bytes:
        self._correlation_id += 1
        writer = Writer()
        request.write(writer, version)
        return framed(header(api_key, version, self._correlation_id, is_flexible=True) + bytes(writer.buffer))

    def _receive(self) -> Reader:
        """Return a reader of the next response, after its header. Responses are read in the order of their requests."""
        reader = Reader(self._connection.receive_frame())
        self.answered = reader.int32()
        reader.skip_tagged_fields()
        return reader
