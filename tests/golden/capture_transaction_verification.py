"""Transactional batches outside of a transaction: python -m tests.golden.capture_transaction_verification HOST:PORT.

Needs a fresh broker with default configuration. transaction.partition.verification.enable is on, off by a dynamic
change, and on again while a transaction hangs.
"""

from fauxka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from fauxka.protocol.messages.describe_transactions import DescribeTransactionsRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.init_producer_id import InitProducerIdResponse
from fauxka.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fauxka.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from .capture_recorder import Recorder, main
from .transaction_story import (
    NEW_END,
    NEW_PRODUCE,
    OLD_END,
    OLD_PRODUCE,
    Story,
)

KEY = "transaction.partition.verification.enable"
BROKER_RESOURCE = 4
READ_COMMITTED = 1
# No producer has it.
UNKNOWN_PRODUCER_ID = 1_000_000
# The last version without topic ids.
FETCH_VERSION = 12
# Before TRANSACTION_ABORTABLE.
OLDER_PRODUCE = 10


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _late_batch(Story(recorder, "on"))
    _never_added(Story(recorder, "on-never-added"))
    _set(recorder, is_enabled=False)
    _late_batch(Story(recorder, "off"))
    _never_added(Story(recorder, "off-never-added"))
    _next_transactions(Story(recorder, "off-next"))
    hanging = Story(recorder, "on-again")
    producer = _late_batch(hanging)
    _set(recorder, is_enabled=True)
    hanging.produce("another late batch", producer, 2, version=OLD_PRODUCE)
    hanging.produce("one more late batch", producer, 3, version=OLD_PRODUCE)
    _look(hanging)


def _set(recorder: Recorder, *, is_enabled: bool) -> None:
    value = str(is_enabled).lower()
    entry = AlterableConfig(name=KEY, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=BROKER_RESOURCE, resource_name="", configs=[entry])
    recorder.case(f"to {value}", 1, IncrementalAlterConfigsRequest(resources=[resource]))
    recorder.settle()

    def is_set() -> bool:
        asked = DescribeConfigsResource(resource_type=BROKER_RESOURCE, resource_name="1", configuration_keys=[KEY])
        response = recorder.call(DescribeConfigsRequest(resources=[asked]), 4, DescribeConfigsResponse)
        return response.results[0].configs[0].value == value

    recorder.wait(is_set, f"{KEY}={value}")


def _late_batch(story: Story) -> tuple[int, int]:
    """Record a batch behind the end of its transaction. Return the producer."""
    producer = (story.producer_id, 0)
    story.add("AddPartitionsToTxn", producer, 0)
    story.produce("a batch", producer, 0, version=OLD_PRODUCE)
    story.end("commit", producer, OLD_END)
    story.wait_for_completion()
    story.produce("a late duplicate", producer, 0, version=OLD_PRODUCE)
    story.produce("a late batch with a gap", producer, 2, version=OLD_PRODUCE)
    story.produce("a late batch", producer, 1, version=OLD_PRODUCE)
    _look(story)
    story.end("commit again", producer, OLD_END)
    story.end("abort", producer, OLD_END, is_commit=False)
    _look(story)
    return producer


def _never_added(story: Story) -> None:
    """Record batches for partitions that are in no transaction."""
    producer, unknown = (story.producer_id, 0), (UNKNOWN_PRODUCER_ID, 0)
    story.produce("no transaction", producer, 0, version=OLDER_PRODUCE)
    story.produce("no transaction", producer, 0, version=OLD_PRODUCE, partition=1)
    story.produce("another producer id", unknown, 5, version=OLD_PRODUCE, partition=1)
    story.produce("another epoch", (story.producer_id, 3), 0, version=OLD_PRODUCE, partition=2)
    story.produce("an older epoch", producer, 0, version=OLD_PRODUCE, partition=2)
    _look(story)
    story.produce("KIP-890, another producer id", unknown, 0, version=NEW_PRODUCE, partition=2)
    story.produce("KIP-890", producer, 1, version=NEW_PRODUCE)
    story.wait_for_group()
    for version in (3, 4, 5):
        story.commit_offset("TxnOffsetCommit", producer, version)
    story.commit_offset("TxnOffsetCommit of another producer id", unknown, 4)
    _look(story)
    story.end("commit", producer, NEW_END)


def _next_transactions(story: Story) -> None:
    """Record what ends a transaction that hangs, and what does not."""
    first = _late_batch(story)
    response = story.init("InitProducerId")
    assert isinstance(response, InitProducerIdResponse)
    _look(story)
    second = (response.producer_id, response.producer_epoch)
    story.produce("a late batch after InitProducerId", first, 2, version=OLD_PRODUCE)
    story.add("the next AddPartitionsToTxn", second, 0)
    story.produce("the next transaction", second, 0, version=OLD_PRODUCE)
    _look(story)
    story.end("the next commit", second, OLD_END)
    story.wait_for_completion()
    _look(story)
    story.produce("the next late batch", second, 1, version=OLD_PRODUCE)
    _look(story)
    topic = WritableTxnMarkerTopic(name=story.topic, partition_indexes=[0])
    marker = WritableTxnMarker(
        producer_id=second[0], producer_epoch=second[1], transaction_result=False, topics=[topic]
    )
    story.recorder.case(f"{story.title}: WriteTxnMarkers", 1, WriteTxnMarkersRequest(markers=[marker]))
    _look(story)


def _look(story: Story) -> None:
    """Record what the partition, its readers and the coordinator know of the transaction."""
    story.producers("producers")
    case = story.recorder.case
    for isolation_level in (0, READ_COMMITTED):
        partition = ListOffsetsPartition(partition_index=0, timestamp=-1)
        topic = ListOffsetsTopic(name=story.topic, partitions=[partition])
        offsets = ListOffsetsRequest(replica_id=-1, isolation_level=isolation_level, topics=[topic])
        case(f"{story.title}: latest offset, isolation {isolation_level}", 7, offsets)
    fetched = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000_000)
    fetch = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        isolation_level=READ_COMMITTED,
        session_epoch=-1,
        topics=[FetchTopic(topic=story.topic, partitions=[fetched])],
    )
    case(f"{story.title}: Fetch", FETCH_VERSION, fetch)
    describe = DescribeTransactionsRequest(transactional_ids=[story.transactional_id])
    case(f"{story.title}: the coordinator", 0, describe)


if __name__ == "__main__":
    main(capture)
