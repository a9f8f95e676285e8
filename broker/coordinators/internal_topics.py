"""The topics that coordinators keep their state in, and which partition of them, so which node, a key belongs to.

Such a topic comes into being when a coordinator of its kind is first asked for.
Source: KafkaApis.getCoordinator, AutoTopicCreationManager and the coordinators' *TopicConfigs methods, Kafka 4.3.0.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..metadata.metadata_image import GROUP_METADATA_TOPIC, SHARE_GROUP_STATE_TOPIC, TRANSACTION_STATE_TOPIC
from .java_strings import java_string_hash

if TYPE_CHECKING:
    from ..metadata.controller import Controller
    from ..metadata.metadata_image import MetadataImage, TopicImage
    from ..replica.partition import Partition
    from ..replica.replica_manager import ReplicaManager

SHARE_KEY_PARTS = 3
UUID_BYTES = 16
INT32_MIN = -(2**31)


class CoordinatorType(IntEnum):
    """What a client looks for a coordinator of; the numbers stand on the wire."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """A topic of a coordinator: partition_count and configs_from name broker keys, configs are fixed."""

    name: str
    partition_count: str
    configs: Mapping[str, str]
    configs_from: Mapping[str, str]


INTERNAL_TOPICS: Mapping[CoordinatorType, InternalTopic] = MappingProxyType(
    {
        CoordinatorType.GROUP: InternalTopic(
            GROUP_METADATA_TOPIC,
            "offsets.topic.num.partitions",
            {"cleanup.policy": "compact", "compression.type": "producer"},
            {"segment.bytes": "offsets.topic.segment.bytes"},
        ),
        CoordinatorType.TRANSACTION: InternalTopic(
            TRANSACTION_STATE_TOPIC,
            "transaction.state.log.num.partitions",
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "unclean.leader.election.enable": "false",
            },
            {
                "min.insync.replicas": "transaction.state.log.min.isr",
                "segment.bytes": "transaction.state.log.segment.bytes",
            },
        ),
        CoordinatorType.SHARE: InternalTopic(
            SHARE_GROUP_STATE_TOPIC,
            "share.coordinator.state.topic.num.partitions",
            {"cleanup.policy": "delete", "compression.type": "producer", "retention.ms": "-1"},
            {
                "min.insync.replicas": "share.coordinator.state.topic.min.isr",
                "segment.bytes": "share.coordinator.state.topic.segment.bytes",
            },
        ),
    }
)


def partition_of_key(
    controller: Controller, replicas: ReplicaManager, coordinator_type: CoordinatorType, key: str
) -> Partition:
    """Return the partition that keeps the state of a group, a transactional id or a share group's partition.

    Its leader is the coordinator. The topic is created if it is not there yet.
    """
    topic = internal_topic(controller, coordinator_type)
    return replicas.partitions_of(topic)[partition_index_of_key(key, len(topic.partitions))]


def find_index_of_key(image: MetadataImage, coordinator_type: CoordinatorType, key: str) -> int:
    """Return the index of that partition; the topic need not be there, and is not created."""
    wanted = INTERNAL_TOPICS[coordinator_type]
    topic = image.find_topic(wanted.name)
    return partition_index_of_key(key, _partition_count(image, wanted) if topic is None else len(topic.partitions))


def partition_index_of_key(key: str, partition_count: int) -> int:
    """Return which of partition_count partitions a key belongs to.

    The smallest hash has no absolute value in Java and counts as 0 (Utils.abs).
    """
    value = java_string_hash(key)
    return 0 if value == INT32_MIN else abs(value) % partition_count


def internal_topic(controller: Controller, coordinator_type: CoordinatorType) -> TopicImage:
    """Return the topic of that kind of coordinator, created as it was configured if it is not there yet."""
    wanted = INTERNAL_TOPICS[coordinator_type]
    image = controller.image
    topic = image.find_topic(wanted.name)
    if topic is not None:
        return topic
    configs = {name: str(image.configs.current.value_of(key)) for name, key in wanted.configs_from.items()}
    return controller.create_topic(wanted.name, _partition_count(image, wanted), configs={**wanted.configs, **configs})


def _partition_count(image: MetadataImage, wanted: InternalTopic) -> int:
    partition_count = image.configs.current.value_of(wanted.partition_count)
    assert isinstance(partition_count, int), f"{wanted.partition_count} is {partition_count!r}"
    return partition_count


def is_share_key(key: str) -> bool:
    """Return whether the key is GROUP:TOPIC_ID:PARTITION, which is what share groups keep their state by."""
    parts = key.split(":")
    if len(parts) != SHARE_KEY_PARTS or not all(part.strip() for part in parts):
        return False
    _, topic_id, partition = parts
    return _is_uuid_text(topic_id) and partition.removeprefix("-").isdecimal()


def _is_uuid_text(text: str) -> bool:
    """Return whether the text is 16 bytes in base64url, with or without padding."""
    try:
        return len(urlsafe_b64decode(text.rstrip("=") + "==")) == UUID_BYTES
    except (binascii.Error, ValueError):
        return False
