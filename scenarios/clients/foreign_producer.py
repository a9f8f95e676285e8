"""Another process that writes with a producer's id, epoch and next sequences, over its own connection."""

from __future__ import annotations

import time

from ...protocol.api_keys import ApiKey
from ...protocol.batches.records import BatchOptions, Record, build_batch
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from ...protocol.sequences import increment_sequence
from ..brokers.scenario_broker import AWAIT_MS_MAX, BrokerFailed
from ..report.journal_requests import JournalBatch
from ..steps import Batch
from .client import events_of, headers_of, value_of
from .raw_client import ALL_REPLICAS, PRODUCE_VERSION
from .raw_connection import RawConnection

# The client id of its requests.
PROCESS = "other-process"


def produce_as(address: str, topic: str, last: JournalBatch, batch: Batch) -> None:
    """Write a batch as the producer of the batch `last`. Raises BrokerFailed."""
    base_sequence = increment_sequence(last.last_sequence, 1)
    options = BatchOptions(
        producer_id=last.producer_id, producer_epoch=last.producer_epoch, base_sequence=base_sequence
    )
    now_ms = time.time_ns() // 1_000_000
    records = [
        Record(value_of(event), timestamp=now_ms, headers=headers_of(batch, event)) for event in events_of(batch)
    ]
    data = PartitionProduceData(index=last.partition, records=build_batch(records, options))
    topic_data = [TopicProduceData(name=topic, partition_data=[data])]
    request = ProduceRequest(acks=ALL_REPLICAS, timeout_ms=AWAIT_MS_MAX, topic_data=topic_data)
    connection = RawConnection(address, PROCESS)
    try:
        answer = connection.send_and_receive(ApiKey.PRODUCE, PRODUCE_VERSION, request, ProduceResponse.read)
    finally:
        connection.close()
    code = answer.responses[0].partition_responses[0].error_code
    if code:
        raise BrokerFailed(f"the batch of the other process was refused: {ErrorCode(code).name}")
