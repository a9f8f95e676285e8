"""Produces one batch to each of many partitions, which the load program cannot do."""

from contextlib import closing

from fauxka.client.broker_connection import BrokerConnection
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

from .load_program import LoadError

VERSION = 9
PARTITIONS_OF_A_REQUEST = 1000
# Each partition creates its files.
ANSWER_SECONDS_MAX = 60
ANSWER_BYTES_MAX = 1024 * 1024


def produce_to_each(port: int, topic: str, partition_count: int) -> None:
    """Produce a batch of one record to every partition. Raises LoadError."""
    batch = build_batch([Record(bytes(90), timestamp=0)])
    with closing(
        BrokerConnection("127.0.0.1", port, timeout_seconds=ANSWER_SECONDS_MAX, response_bytes_max=ANSWER_BYTES_MAX)
    ) as connection:
        for first in range(0, partition_count, PARTITIONS_OF_A_REQUEST):
            indexes = range(first, min(first + PARTITIONS_OF_A_REQUEST, partition_count))
            data = [PartitionProduceData(index=index, records=batch) for index in indexes]
            request = ProduceRequest(
                acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic, partition_data=data)]
            )
            response = connection.send_request(ApiKey.PRODUCE, VERSION, request, ProduceResponse.read)
            refused = [each for each in response.responses[0].partition_responses if each.error_code]
            if refused:
                raise LoadError(f"error code {refused[0].error_code} for partition {refused[0].index}")
