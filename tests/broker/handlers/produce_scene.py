"""A cluster without sockets, and a producer that sends frames and reads response frames."""

from dataclasses import dataclass, field

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.dispatch.dispatch import Dispatcher
from fauxka.broker.metadata.metadata_image import TopicImage
from fauxka.broker.network.listeners import Listener
from fauxka.broker.replica.partition import Partition
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fauxka.protocol.primitives import Reader, Writer
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ...manual_clock import manual_clock

PRODUCE = 0
FLEXIBLE_SINCE = 9
TOPIC_IDS_SINCE = 13
CORRELATION_ID = 7


def frame_of(request: ProduceRequest, version: int) -> bytes:
    """Return a request frame with its header, without the size."""
    writer = Writer()
    writer.int16(PRODUCE)
    writer.int16(version)
    writer.int32(CORRELATION_ID)
    writer.nullable_string("scene")
    if version >= FLEXIBLE_SINCE:
        writer.unsigned_varint(0)
    request.write(writer, version)
    return bytes(writer.buffer)


def batch(producer_id: int = -1, producer_epoch: int = -1, base_sequence: int = -1, records: int = 1) -> bytes:
    """Return a batch of small records without timestamps, so that no clock matters."""
    options = BatchOptions(producer_id=producer_id, producer_epoch=producer_epoch, base_sequence=base_sequence)
    return build_batch([Record(b"value")] * records, options)


@dataclass
class ProduceScene:
    """A cluster with the topic `events`, with the producer rules of one version of Kafka."""

    as_version: str = "4.3"
    partition_count: int = 1
    config: dict[str, str] = field(default_factory=dict[str, str])
    clock: AdjustableClock = field(default_factory=manual_clock)

    def __post_init__(self) -> None:
        version = EmulatedVersion.parse(self.as_version)
        config = BrokerConfig.from_entries(self.config)
        self.cluster = Cluster(config, clock=self.clock, emulated_version=version)
        self.topic: TopicImage = self.cluster.controller.create_topic("events", self.partition_count)
        listener = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)
        self._context = RequestContext(self.cluster.node, ConnectionInfo(1, listener, "127.0.0.1"))
        self._dispatcher = Dispatcher()

    def send(
        self, records: bytes | None, *, version: int | None = None, partition: int = 0, acks: int = -1
    ) -> PartitionProduceResponse:
        """Produce one batch to one partition and return its answer. version: 9, or the last one of the release."""
        if version is None:
            version = min(9, APIS[ApiKey.PRODUCE].versions.in_release(self.cluster.node.emulated_version.release)[-1])
        data = PartitionProduceData(index=partition, records=records)
        topic = TopicProduceData(name="events", topic_id=self.topic.topic_id, partition_data=[data])
        response = self.exchange(ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic]), version)
        assert response is not None
        (answered,) = response.responses
        (answer,) = answered.partition_responses
        return answer

    def exchange(self, request: ProduceRequest, version: int) -> ProduceResponse | None:
        """Send the request as a frame. Return the response, or None with acks=0."""
        answer = self.answer(frame_of(request, version))
        if answer is None:
            return None
        reader = Reader(answer)
        reader.int32()
        assert reader.int32() == CORRELATION_ID
        if version >= FLEXIBLE_SINCE:
            reader.skip_tagged_fields()
        return ProduceResponse.read(reader, version)

    def answer(self, frame: bytes) -> bytes | None:
        """Send a frame without its size. Return the bytes of the response, or None with acks=0."""
        # In a connection's buffer the frame is between other bytes.
        buffer = memoryview(b"\0\0\0\0" + frame + bytes(8))
        pieces = self._dispatcher.handle(self._context, buffer, 4, 4 + len(frame))
        if pieces is None:
            return None
        assert isinstance(pieces, list)
        return b"".join(pieces)

    def forget_last_request(self) -> None:
        """Have the connection and the log know no more what the last request and its batch were like."""
        self._context.produce_route = None
        log = self.partition.log
        log.config = log.config

    @property
    def partition(self) -> Partition:
        """Partition 0 of the topic."""
        return self.cluster.node.replicas.partition_of(self.topic.name, 0)

    @property
    def log_end_offset(self) -> int:
        """How many records partition 0 has taken."""
        return self.partition.log.log_end_offset
