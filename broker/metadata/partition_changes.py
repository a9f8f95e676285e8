"""Leader elections and reassignments of partitions (Kafka: ReplicationControlManager).

Each partition has its only replica on the only broker. That broker is its preferred leader and always leads it, so that
no election changes a leader, and no reassignment adds or removes a replica.
Source: ReplicationControlManager.electLeader, alterPartitionReassignment and cancelPartitionReassignment, Kafka 4.3.0;
tests/golden/replicas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.error_messages import ERROR_MESSAGES
from .metadata_image import MetadataImage, PartitionRegistration
from .topic_validation import check_assignment


class ElectionType(IntEnum):
    """The election types, by their number on the wire (Kafka: ElectionType)."""

    PREFERRED = 0
    UNCLEAN = 1


def check_election(image: MetadataImage, topic_name: str, index: int) -> None:
    """Raise the KafkaError that ends an election: ELECTION_NOT_NEEDED, or UNKNOWN_TOPIC_OR_PARTITION."""
    topic = image.find_topic(topic_name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic_name}")
    if not topic.has_partition(index):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {topic_name}-{index}")
    partition = topic.partitions[index]
    assert partition.leader_id == partition.replicas[0], "the only broker leads every partition"
    raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, ERROR_MESSAGES[ErrorCode.ELECTION_NOT_NEEDED])


def check_reassignment(
    image: MetadataImage, topic_name: str, index: int, replicas: Sequence[int] | None, brokers: Collection[int]
) -> None:
    """Return if the replicas of the partition can be, and therefore are, on these brokers.

    replicas: the requested broker ids; None cancels a reassignment. brokers: the ids of the registered brokers.
    Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_REPLICA_ASSIGNMENT, NO_REASSIGNMENT_IN_PROGRESS.
    """
    partition = _partition_of(image, topic_name, index)
    if replicas is None:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    check_assignment(replicas, brokers)
    assert list(replicas) == partition.replicas, "one broker has one valid assignment"


def _partition_of(image: MetadataImage, topic_name: str, index: int) -> PartitionRegistration:
    topic = image.find_topic(topic_name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic_name}.")
    if not topic.has_partition(index):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic_name}:{index}.")
    return topic.partitions[index]
