"""A blocking client of a broker in another process: one request at a time."""

import time
from collections.abc import Callable, Mapping
from typing import Self, TypeVar

from fauxka.client.broker_connection import BrokerConnection
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch, decode_batch
from fauxka.protocol.batches.whole_batches import split_batches
from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from fauxka.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from fauxka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from fauxka.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fauxka.protocol.primitives import Reader

Response = TypeVar("Response")

ANSWER_BYTES_MAX = 16 * 1024 * 1024
TIMEOUT_SECONDS = 120.0
TIMEOUT_MS = 20_000

# The last versions with topic names.
PRODUCE_VERSION, FETCH_VERSION, METADATA_VERSION = 9, 12, 9
BROKER, TOPIC = 4, 2


class BlockingClient:
    """One connection. Every method returns the response, or a part of it, unchecked."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._connection = BrokerConnection(
            host, int(port), timeout_seconds=TIMEOUT_SECONDS, response_bytes_max=ANSWER_BYTES_MAX
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def send(
        self, api_key: ApiKey, version: int, request: RequestMessage, read: Callable[[Reader, int], Response]
    ) -> Response:
        """Send a request of any API and return its response. read: the read method of the response."""
        return self._connection.send_request(api_key, version, request, read)

    def create_topic(
        self, name: str, partition_count: int = 1, configs: Mapping[str, str] | None = None
    ) -> CreatableTopicResult:
        texts = [CreatableTopicConfig(name=key, value=text) for key, text in (configs or {}).items()]
        topic = CreatableTopic(name=name, num_partitions=partition_count, replication_factor=1, configs=texts)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)
        return self._connection.send_request(ApiKey.CREATE_TOPICS, 7, request, CreateTopicsResponse.read).topics[0]

    def delete_topic(self, name: str) -> int:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=TIMEOUT_MS)
        return (
            self._connection.send_request(ApiKey.DELETE_TOPICS, 6, request, DeleteTopicsResponse.read)
            .responses[0]
            .error_code
        )

    def add_partitions(self, name: str, total: int) -> int:
        request = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=name, count=total, assignments=None)], timeout_ms=TIMEOUT_MS
        )
        answer = self._connection.send_request(ApiKey.CREATE_PARTITIONS, 3, request, CreatePartitionsResponse.read)
        return answer.results[0].error_code

    def set_config(self, kind: int, name: str, key: str, text: str) -> int:
        resource = AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[AlterableConfig(name=key, config_operation=0, value=text)]
        )
        request = IncrementalAlterConfigsRequest(resources=[resource])
        answer = self._connection.send_request(
            ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request, IncrementalAlterConfigsResponse.read
        )
        return answer.responses[0].error_code

    def config(self, kind: int, name: str, key: str) -> str | None:
        resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=[key])
        request = DescribeConfigsRequest(resources=[resource])
        answer = self._connection.send_request(ApiKey.DESCRIBE_CONFIGS, 4, request, DescribeConfigsResponse.read)
        return answer.results[0].configs[0].value

    def metadata(self) -> MetadataResponse:
        request = MetadataRequest(topics=None)
        return self._connection.send_request(ApiKey.METADATA, METADATA_VERSION, request, MetadataResponse.read)

    def topic_ids(self) -> dict[str, bytes]:
        request = MetadataRequest(topics=None)
        answer = self._connection.send_request(ApiKey.METADATA, 12, request, MetadataResponse.read)
        return {topic.name or "": topic.topic_id for topic in answer.topics}

    def partition_counts(self) -> dict[str, int]:
        return {topic.name or "": len(topic.partitions) for topic in self.metadata().topics}

    def log_directory(self) -> DescribeLogDirsResult:
        request = DescribeLogDirsRequest(topics=None)
        return self._connection.send_request(
            ApiKey.DESCRIBE_LOG_DIRS, 4, request, DescribeLogDirsResponse.read
        ).results[0]

    def producer_id(self) -> int:
        request = InitProducerIdRequest(transactional_id=None, producer_id=-1, producer_epoch=-1)
        answer = self._connection.send_request(ApiKey.INIT_PRODUCER_ID, 4, request, InitProducerIdResponse.read)
        assert answer.error_code == 0, answer
        return answer.producer_id

    def produce(
        self, topic: str, batch: bytes, partition: int = 0, *, acks: int = -1, timeout_ms: int = TIMEOUT_MS
    ) -> PartitionProduceResponse:
        data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=partition, records=batch)])
        request = ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[data])
        answer = self._connection.send_request(ApiKey.PRODUCE, PRODUCE_VERSION, request, ProduceResponse.read)
        return answer.responses[0].partition_responses[0]

    def fetch(self, topic: str, offset: int = 0, partition: int = 0, *, isolation_level: int = 0) -> PartitionData:
        asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=ANSWER_BYTES_MAX // 2)
        request = FetchRequest(
            isolation_level=isolation_level,
            max_bytes=ANSWER_BYTES_MAX // 2,
            topics=[FetchTopic(topic=topic, partitions=[asked])],
        )
        answer = self._connection.send_request(ApiKey.FETCH, FETCH_VERSION, request, FetchResponse.read)
        return answer.responses[0].partitions[0]

    def read_values(self, topic: str, partition: int = 0, *, isolation_level: int = 0) -> list[bytes]:
        """Return the values of all records that a consumer can read."""
        read: list[bytes] = []
        while True:
            fetched = self.fetch(topic, len(read), partition, isolation_level=isolation_level)
            assert fetched.error_code == 0, fetched
            batches = list(split_batches(memoryview(fetched.records or b"")))
            if not batches:
                return read
            read += [record.value or b"" for each in batches for record in decode_batch(each.data)]


def batch(value: bytes, *, count: int = 1, producer_id: int = -1, sequence: int = -1) -> bytes:
    """Return a batch of equal records with the current time. A producer has epoch 0."""
    epoch = -1 if producer_id < 0 else 0
    # At start-up a producer expires by the timestamp of its newest record.
    now_ms = time.time_ns() // 1_000_000
    return build_batch(
        [Record(value, timestamp=now_ms)] * count,
        BatchOptions(producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence),
    )
