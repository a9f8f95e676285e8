"""A client of one topic, with sequences that the test chooses.

Every batch is of one record of producer 1, epoch 0, so that its sequence is all there is to say of it.
"""

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.client_requests import RequestMessage
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

from ..wire.message_client import MessageClient

# The last flexible versions with topic names, and a version of ListOffsets with timestamps.
PRODUCE_VERSION, FETCH_VERSION, LIST_OFFSETS_VERSION = 9, 12, 7
CREATE_TOPICS_VERSION, DELETE_RECORDS_VERSION = 7, 2
TOPIC = "events"
RECORD_BYTES_MAX = 1 << 20
# The timestamp of every record, before that of any clock.
TIMESTAMP_MS = 1000


def batch(sequence: int) -> bytes:
    options = BatchOptions(producer_id=1, producer_epoch=0, base_sequence=sequence)
    return build_batch([Record(b"value %d" % sequence, timestamp=TIMESTAMP_MS)], options)


class TopicClient(MessageClient):
    """A connection without a client id."""

    def __init__(self, address: str) -> None:
        super().__init__(address, None)

    def send_produce(self, *sequences: int, partitions: int = 1, acks: int = -1) -> None:
        """Send one request per sequence, each with a batch for all partitions from 0 on, in one write."""
        requests: list[tuple[RequestMessage, int]] = []
        for sequence in sequences:
            data = [PartitionProduceData(index=index, records=batch(sequence)) for index in range(partitions)]
            topic = TopicProduceData(name=TOPIC, partition_data=data)
            requests.append((ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic]), PRODUCE_VERSION))
        self.send_each(requests)

    def receive_produced(self) -> list[PartitionProduceResponse]:
        """Return the partitions of the next Produce response."""
        return self.receive(ProduceResponse).responses[0].partition_responses

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
        self.send(request, FETCH_VERSION)

    def receive_fetched(self) -> FetchedPartition:
        return self.receive(FetchResponse).responses[0].partitions[0]

    def fetch(self) -> FetchedPartition:
        """Fetch partition 0 from its beginning."""
        self.send_fetch()
        return self.receive_fetched()

    def list_offset(self, timestamp: int) -> ListOffsetsPartitionResponse:
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        topic = ListOffsetsTopic(name=TOPIC, partitions=[asked])
        request = ListOffsetsRequest(replica_id=-1, topics=[topic])
        return self.call(request, LIST_OFFSETS_VERSION, ListOffsetsResponse).topics[0].partitions[0]

    def delete_records(self, offset: int) -> DeleteRecordsPartitionResult:
        """Delete the records of partition 0 before the offset."""
        topic = DeleteRecordsTopic(name=TOPIC, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=1000)
        return self.call(request, DELETE_RECORDS_VERSION, DeleteRecordsResponse).topics[0].partitions[0]

    def create_topic(self, name: str) -> int:
        """Create a topic of two partitions, and return the error code."""
        self.send_create_topic(name)
        return self.receive_created()

    def send_create_topic(self, name: str) -> None:
        topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=1000)
        self.send(request, CREATE_TOPICS_VERSION)

    def receive_created(self) -> int:
        """Return the error code of the created topic."""
        return self.receive(CreateTopicsResponse).topics[0].error_code
