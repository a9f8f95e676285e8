"""The metadata image: topics, partition registrations and configs of the cluster (Kafka: image/MetadataImage).

The controller is its only writer. Nodes and coordinators read it.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ...protocol.primitives import ZERO_UUID
from ...storage.producers.emulated_version import EmulatedVersion
from .. import metadata
from ..config.dynamic_configs import DynamicConfigs
from .features import FinalizedFeatures

if TYPE_CHECKING:
    from ..security.delegation_token import DelegationToken
    from ..security.sasl.scram import ScramCredential, ScramHash
    from .client_quotas_image import ClientQuotasImage
    from .security_image import SecurityImage

GROUP_METADATA_TOPIC = "__consumer_offsets"
TRANSACTION_STATE_TOPIC = "__transaction_state"
SHARE_GROUP_STATE_TOPIC = "__share_group_state"
# The topics of the coordinators. Clients may read them, but not write to them.
_INTERNAL_TOPICS = frozenset({GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC, SHARE_GROUP_STATE_TOPIC})


def is_internal_topic(name: str) -> bool:
    """Return whether a coordinator stores its state in the topic."""
    return name in _INTERNAL_TOPICS


# The leader of a partition that has none.
NO_LEADER = -1


class Endpoint(NamedTuple):
    """The address that clients of one listener of a broker receive."""

    host: str
    port: int


@dataclass(slots=True)
class BrokerRegistration:
    """A broker of the cluster, as Metadata returns it (Kafka: metadata/BrokerRegistration).

    endpoints: by listener name; empty until the broker listens. directory_id: the id of its log directory, 16 bytes,
    zero until then. is_fenced: whether it may not lead partitions, because
    the controller does not hear from it. is_stopping: whether it may not lead any more, because it shuts down.
    """

    node_id: int
    rack: str | None
    endpoints: dict[str, Endpoint] = field(default_factory=dict[str, Endpoint])
    directory_id: bytes = ZERO_UUID
    is_fenced: bool = False
    is_stopping: bool = False

    @property
    def is_active(self) -> bool:
        """Whether the broker may lead partitions and join an ISR."""
        return not self.is_fenced and not self.is_stopping


@dataclass(slots=True)
class PartitionRegistration:
    """A partition of a topic: its leader and its replicas, by node id (Kafka: metadata/PartitionRegistration).

    leader_id: NO_LEADER if no replica may lead. isr: the in-sync replicas. elr: the eligible leader replicas, which
    have left the ISR with every record below the high watermark (KIP-966). last_known_elr: the last leader, if both are
    empty. adding, removing: what a reassignment in progress adds and removes; replicas has both. partition_epoch: the
    number of changes.
    """

    index: int
    leader_id: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    elr: list[int] = field(default_factory=list[int])
    last_known_elr: list[int] = field(default_factory=list[int])
    adding: list[int] = field(default_factory=list[int])
    removing: list[int] = field(default_factory=list[int])
    partition_epoch: int = 0

    @property
    def has_leader(self) -> bool:
        """Whether a replica leads the partition."""
        return self.leader_id != NO_LEADER

    def led_by(self, node_id: int, isr: list[int]) -> PartitionRegistration:
        """Return the partition with another leader, in the next leader epoch."""
        return replace(
            self,
            leader_id=node_id,
            leader_epoch=self.leader_epoch + 1,
            isr=isr,
            elr=[],
            last_known_elr=[],
            partition_epoch=self.partition_epoch + 1,
        )

    def led_again(self) -> PartitionRegistration:
        """Return the partition with the same leader in the next leader epoch."""
        return replace(self, leader_epoch=self.leader_epoch + 1, partition_epoch=self.partition_epoch + 1)

    def offline_replicas(self, online: Collection[int]) -> list[int]:
        """Return the replicas that are not on one of the online brokers."""
        return [node_id for node_id in self.replicas if node_id not in online]


@dataclass(slots=True, eq=False)
class TopicImage:
    """A topic. configs: the topic's own; the broker's configs are the defaults (Kafka: image/TopicImage)."""

    name: str
    topic_id: bytes
    configs: dict[str, str]
    partitions: list[PartitionRegistration] = field(default_factory=list[PartitionRegistration])

    @property
    def is_internal(self) -> bool:
        """Whether a coordinator stores its state in the topic."""
        return is_internal_topic(self.name)

    def has_partition(self, index: int) -> bool:
        """Return whether the topic has a partition of that index."""
        return 0 <= index < len(self.partitions)


class MetadataImage:
    """The metadata of a cluster.

    cluster_id: the cluster id of Kafka, 22 characters. topics: by name, in the order of their creation.
    configs: static and dynamic configs of brokers, groups and client metrics. features: the finalized levels.
    emulated_version: the release of Kafka that has formatted the cluster, which brokers follow at first.
    offset: the number of changes so far. It stands for the end offset of Kafka's metadata log, and never decreases.
    """

    __slots__ = (
        "_client_quotas",
        "_security",
        "_topics_by_id",
        "brokers",
        "cluster_id",
        "configs",
        "emulated_version",
        "features",
        "offset",
        "topics",
    )

    def __init__(
        self, cluster_id: str, configs: DynamicConfigs, emulated_version: EmulatedVersion | None = None
    ) -> None:
        """Create an image without topics and brokers. emulated_version: 4.4 by default."""
        self.emulated_version = emulated_version or EmulatedVersion.latest()
        self.cluster_id = cluster_id
        self.configs = configs
        self.features = FinalizedFeatures(configs.static.transaction_version, self.emulated_version.release)
        self._security: SecurityImage | None = None
        self._client_quotas: ClientQuotasImage | None = None
        self.offset = 0
        self.brokers: list[BrokerRegistration] = []
        self.topics: dict[str, TopicImage] = {}
        self._topics_by_id: dict[bytes, TopicImage] = {}

    @property
    def security(self) -> SecurityImage:
        """The ACLs, SCRAM credentials and delegation tokens."""
        if self._security is None:
            self._security = metadata.security_image.SecurityImage()
        return self._security

    @property
    def has_security(self) -> bool:
        """Whether there is an ACL, a SCRAM credential or a delegation token."""
        return self._security is not None and not self._security.is_empty

    def find_scram_credential(self, hash_: ScramHash, user: str) -> ScramCredential | None:
        """Return the credential that a client has set for a user, or None."""
        return None if self._security is None else self._security.credentials.get((hash_, user))

    def find_delegation_token(self, token_id: str) -> DelegationToken | None:
        """Return the delegation token of that id, or None."""
        return None if self._security is None else self._security.tokens.get(token_id)

    def replace_security(self, security: SecurityImage | None) -> None:
        """Replace all ACLs, SCRAM credentials and delegation tokens; None for none.

        Only recovery, restore and reset call this.
        """
        self._security = security

    @property
    def client_quotas(self) -> ClientQuotasImage:
        """The client quotas."""
        if self._client_quotas is None:
            self._client_quotas = metadata.client_quotas_image.ClientQuotasImage()
        return self._client_quotas

    @property
    def has_client_quotas(self) -> bool:
        """Whether an entity has a quota."""
        return bool(self._client_quotas)

    def replace_client_quotas(self, quotas: ClientQuotasImage | None) -> None:
        """Replace all client quotas; None for none. Only recovery, restore and reset call this."""
        self._client_quotas = quotas

    def find_broker(self, node_id: int) -> BrokerRegistration | None:
        """Return the registration of a broker, or None."""
        return next((broker for broker in self.brokers if broker.node_id == node_id), None)

    def add_broker(self, broker: BrokerRegistration) -> None:
        """Add the registration of a broker, in the order of the ids. Only the controller and recovery call this."""
        self.brokers.append(broker)
        self.brokers.sort(key=lambda each: each.node_id)

    def online_brokers(self) -> set[int]:
        """Return the ids of the brokers that are not fenced."""
        return {broker.node_id for broker in self.brokers if not broker.is_fenced}

    def find_topic(self, name: str) -> TopicImage | None:
        """Return the topic of that name, or None."""
        return self.topics.get(name)

    def find_topic_by_id(self, topic_id: bytes) -> TopicImage | None:
        """Return the topic of that id (16 bytes), or None."""
        return self._topics_by_id.get(topic_id)

    def topic_name_of(self, topic_id: bytes) -> str | None:
        """Return the name of the topic of that id (16 bytes), or None."""
        topic = self._topics_by_id.get(topic_id)
        return None if topic is None else topic.name

    def has_partition(self, topic_name: str, index: int) -> bool:
        """Return whether the topic exists and has a partition of that index."""
        topic = self.topics.get(topic_name)
        return topic is not None and topic.has_partition(index)

    def add_topic(self, topic: TopicImage) -> None:
        """Add a topic. Only the controller and recovery call this."""
        self.topics[topic.name] = topic
        self._topics_by_id[topic.topic_id] = topic

    def remove_topic(self, topic: TopicImage) -> None:
        """Remove a topic. Only the controller calls this."""
        del self.topics[topic.name]
        del self._topics_by_id[topic.topic_id]

    def copy(self) -> MetadataImage:
        """Return the metadata as it is now; later changes are not in it."""
        copied = MetadataImage(self.cluster_id, deepcopy(self.configs), self.emulated_version)
        copied.features, copied.brokers, copied.offset = deepcopy(self.features), deepcopy(self.brokers), self.offset
        copied._security = None if self._security is None else self._security.copy()
        copied._client_quotas = None if self._client_quotas is None else self._client_quotas.copy()
        for topic in self.topics.values():
            copied.add_topic(replace(topic, configs=dict(topic.configs), partitions=list(topic.partitions)))
        return copied

    def clear_topics(self) -> None:
        """Remove all topics, because the node that leads them died or is restored."""
        self.topics.clear()
        self._topics_by_id.clear()
