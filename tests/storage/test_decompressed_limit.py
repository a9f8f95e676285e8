"""The limit of one decompressed record (max.decompressed.message.bytes), as measured on Kafka 4.4.0."""

from __future__ import annotations

import pytest

from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from fauxka.protocol.release_rules import NEWEST_RULES
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.decompressed_limit import validator_of
from fauxka.storage.log_config import LogConfig
from fauxka.testing import Broker

from ..wire.message_client import MessageClient

NOW_MS = 1_700_000_000_000
VALIDATOR = validator_of("orders-0", LogConfig(max_decompressed_message_bytes=1000), rules=NEWEST_RULES)
# What a record of one value has beside it: attributes, deltas, and the lengths of key, value and headers.
OVERHEAD_BYTES = 7


def batch_of(codec: Compression, *sizes: int) -> memoryview:
    records = [Record(value=bytes(size), timestamp=NOW_MS) for size in sizes]
    return memoryview(build_batch(records, BatchOptions(compression=codec)))


@pytest.mark.parametrize("codec", [each for each in Compression if each is not Compression.NONE])
def test_compressed_record_above_the_limit_is_refused(codec: Compression) -> None:
    with pytest.raises(AppendRefused) as refused:
        VALIDATOR.validate(batch_of(codec, 5000), NOW_MS, 0)

    assert refused.value.code == ErrorCode.INVALID_RECORD
    assert refused.value.record_errors == ()


def test_uncompressed_record_above_the_limit_is_accepted() -> None:
    header, *_ = VALIDATOR.validate(batch_of(Compression.NONE, 5000), NOW_MS, 0)

    assert header.records_count == 1


def test_limit_is_that_of_one_record_and_not_of_the_batch() -> None:
    header, *_ = VALIDATOR.validate(batch_of(Compression.GZIP, *[300] * 10), NOW_MS, 0)

    assert header.records_count == 10


@pytest.mark.parametrize(("size", "is_accepted"), [(1000 - OVERHEAD_BYTES, True), (1001 - OVERHEAD_BYTES, False)])
def test_limit_counts_the_whole_record_without_its_length(size: int, is_accepted: bool) -> None:
    try:
        VALIDATOR.validate(batch_of(Compression.GZIP, size), NOW_MS, 0)
    except AppendRefused:
        assert not is_accepted
    else:
        assert is_accepted


def test_client_gets_invalid_record_without_a_message_and_without_record_errors() -> None:
    with Broker(as_version="4.4") as broker, MessageClient(broker.bootstrap_servers) as client:
        broker.topics.create("orders", configs={"max.decompressed.message.bytes": 1000})
        data = PartitionProduceData(index=0, records=bytes(batch_of(Compression.GZIP, 5000)))
        topic = TopicProduceData(name="orders", partition_data=[data])

        response = client.call(ProduceRequest(acks=-1, topic_data=[topic]), 9, ProduceResponse)

    partition = response.responses[0].partition_responses[0]
    assert (partition.error_code, partition.error_message, partition.record_errors) == (
        ErrorCode.INVALID_RECORD,
        None,
        [],
    )
