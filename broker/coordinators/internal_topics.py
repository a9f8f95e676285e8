"""The internal topics of the coordinators, and the mapping of keys to their partitions.

The first request for a coordinator creates its topic. The leader of a key's partition is the key's coordinator.
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

from ...security.java_text import is_blank
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
    """The key types of FindCoordinator."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """The topic of one type of coordinator.

    partition_count, replication_factor: the broker config keys of these. configs: topic configs with fixed values.
    configs_from: topic config keys to the broker config keys that set their values.
    """

    name: str
    partition_count: str
    replication_factor: str
    configs: Mapping[str, str]
    configs_from: Mapping[str, str]


INTERNAL_TOPICS: Mapping[CoordinatorType, InternalTopic] = MappingProxyType(
    {
        CoordinatorType.GROUP: InternalTopic(
            GROUP_METADATA_TOPIC,
            "offsets.topic.num.partitions",
            "offsets.topic.replication.factor",
            {"cleanup.policy": "compact", "compression.type": "producer"},
            {"segment.bytes": "offsets.topic.segment.bytes"},
        ),
        CoordinatorType.TRANSACTION: InternalTopic(
            TRANSACTION_STATE_TOPIC,
            "transaction.state.log.num.partitions",
            "transaction.state.log.replication.factor",
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
            "share.coordinator.state.topic.replication.factor",
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
    """Return the partition that stores the state of a key. Creates the topic if it does not exist.

    key: a group id, a transactional id, or the GROUP:TOPIC_ID:PARTITION of a share group.
    """
    topic = ensure_internal_topic(controller, coordinator_type)
    return replicas.partitions_of(topic)[partition_index_of_key(key, len(topic.partitions))]


def expected_index_of_key(image: MetadataImage, coordinator_type: CoordinatorType, key: str) -> int:
    """Return the index of a key's partition. For a missing topic, it depends on the configured partition count."""
    wanted = INTERNAL_TOPICS[coordinator_type]
    topic = image.find_topic(wanted.name)
    return partition_index_of_key(key, _partition_count(image, wanted) if topic is None else len(topic.partitions))


def partition_index_of_key(key: str, partition_count: int) -> int:
    """Return the partition index of a key, from 0 to partition_count - 1.

    The smallest 32-bit integer has no absolute value in Java and counts as 0 (Utils.abs).
    """
    value = java_string_hash(key)
    return 0 if value == INT32_MIN else abs(value) % partition_count


def ensure_internal_topic(controller: Controller, coordinator_type: CoordinatorType) -> TopicImage:
    """Return the topic of a type of coordinator. Creates it from the broker's configs if it does not exist.

    It has at most as many replicas as there are brokers; Kafka creates no topic with fewer than configured.
    """
    wanted = INTERNAL_TOPICS[coordinator_type]
    image = controller.image
    topic = image.find_topic(wanted.name)
    if topic is not None:
        return topic
    configs = {name: str(image.configs.current.value_of(key)) for name, key in wanted.configs_from.items()}
    return controller.create_topic(
        wanted.name,
        _partition_count(image, wanted),
        configs={**wanted.configs, **configs},
        replication_factor=min(_number(image, wanted.replication_factor), len(image.brokers)),
    )


def _partition_count(image: MetadataImage, wanted: InternalTopic) -> int:
    return _number(image, wanted.partition_count)


def _number(image: MetadataImage, key: str) -> int:
    value = image.configs.current.value_of(key)
    assert isinstance(value, int), f"{key} is {value!r}"
    return value


def is_share_key(key: str) -> bool:
    """Return whether the key is GROUP:TOPIC_ID:PARTITION, the key of a share group's state."""
    parts = key.split(":")
    if len(parts) != SHARE_KEY_PARTS or any(map(is_blank, parts)):
        return False
    _, topic_id, partition = parts
    return _is_uuid_text(topic_id) and partition.removeprefix("-").isdecimal()


def _is_uuid_text(text: str) -> bool:
    """Return whether the text is 16 bytes in base64url, with or without padding."""
    try:
        return len(urlsafe_b64decode(text.rstrip("=") + "==")) == UUID_BYTES
    except (binascii.Error, ValueError):
        return False
