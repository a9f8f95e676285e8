"""The requests of the scripts, each about partition 0 of one topic unless said otherwise."""

from collections.abc import Sequence

from fauxka.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fauxka.protocol.messages.describe_producers import DescribeProducersRequest
from fauxka.protocol.messages.describe_producers import TopicRequest as ProducersTopic
from fauxka.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fauxka.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from fauxka.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from .. import raw_batches
from ..capture_batches import FIRST_TIMESTAMP, NO_PRODUCER, batch

TIMEOUT_MS = 10_000
# The first version of each that carries topic ids in place of names.
PRODUCE_BY_ID = 13
FETCH_BY_ID = 13
READ_COMMITTED = 1


class Topic:
    """A topic of a script: its name, and its id for the versions that have no names."""

    def __init__(self, name: str, topic_id: bytes, layout: Sequence[Sequence[int]]) -> None:
        self.name = name
        self.topic_id = topic_id
        self.layout = layout


def creating(name: str, layout: Sequence[Sequence[int]], configs: dict[str, str]) -> CreateTopicsRequest:
    """Return a request for a topic with these replicas of each partition, the preferred leader first."""
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=list(ids)) for index, ids in enumerate(layout)
    ]
    entries = [CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
    topic = CreatableTopic(
        name=name, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=entries
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)


def metadata(*topics: Topic) -> MetadataRequest:
    """Return a request that creates nothing."""
    names = [MetadataRequestTopic(name=topic.name) for topic in topics]
    return MetadataRequest(topics=names, allow_auto_topic_creation=False)


def partitions(*topics: Topic) -> DescribeTopicPartitionsRequest:
    """Return a DescribeTopicPartitions request, the one API with eligible leader replicas."""
    return DescribeTopicPartitionsRequest(topics=[TopicRequest(name=topic.name) for topic in topics])


def records(count: int = 1, *, producer: tuple[int, int, int] = NO_PRODUCER, value: bytes = b"value") -> bytes:
    """Return a batch of so many records; producer is (producer id, epoch, first sequence)."""
    return batch([FIRST_TIMESTAMP + index for index in range(count)], producer=producer, value=value)


def in_transaction(count: int, producer: tuple[int, int, int]) -> bytes:
    """Return a batch of a transaction; producer is (producer id, epoch, first sequence)."""
    producer_id, epoch, sequence = producer
    return raw_batches.batch(
        count,
        FIRST_TIMESTAMP,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=True,
    )


def producing(
    topic: Topic, data: bytes, acks: int = -1, *, timeout_ms: int = 8000, partition: int = 0
) -> ProduceRequest:
    """Return a Produce request of one batch."""
    entry = TopicProduceData(
        name=topic.name,
        topic_id=topic.topic_id,
        partition_data=[PartitionProduceData(index=partition, records=data)],
    )
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[entry])


def fetching(
    topic: Topic, offset: int, epoch: int = -1, *, max_wait_ms: int = 0, last_fetched_epoch: int = -1
) -> FetchRequest:
    """Return a Fetch request without a session, for 1 byte and up."""
    asked = FetchPartition(
        partition=0,
        fetch_offset=offset,
        current_leader_epoch=epoch,
        last_fetched_epoch=last_fetched_epoch,
        partition_max_bytes=10_000,
    )
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=10_000,
        session_epoch=-1,
        topics=[FetchTopic(topic=topic.name, topic_id=topic.topic_id, partitions=[asked])],
    )


def listing_offsets(
    topic: Topic, timestamp: int, epoch: int = -1, *, isolation_level: int = 0, replica_id: int = -1
) -> ListOffsetsRequest:
    """Return a ListOffsets request; timestamp -1 is the end, -2 the start, -3 the largest timestamp."""
    asked = ListOffsetsPartition(partition_index=0, current_leader_epoch=epoch, timestamp=timestamp)
    return ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=topic.name, partitions=[asked])],
    )


def ending_epoch(
    topic: Topic, leader_epoch: int, epoch: int = -1, *, replica_id: int = -1
) -> OffsetForLeaderEpochRequest:
    """Return a request for the end offset of leader_epoch. epoch: the current leader epoch."""
    asked = OffsetForLeaderPartition(partition=0, current_leader_epoch=epoch, leader_epoch=leader_epoch)
    return OffsetForLeaderEpochRequest(
        replica_id=replica_id, topics=[OffsetForLeaderTopic(topic=topic.name, partitions=[asked])]
    )


def describing_producers(topic: Topic) -> DescribeProducersRequest:
    """Return a DescribeProducers request."""
    return DescribeProducersRequest(topics=[ProducersTopic(name=topic.name, partition_indexes=[0])])
