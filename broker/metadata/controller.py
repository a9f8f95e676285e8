"""The controller: the only writer of the metadata image (Kafka: QuorumController and its control managers).

Every change follows the same steps:
1. The image changes.
2. The publishers apply the change: a node creates or deletes logs. If a publisher cannot create the files of a
   partition, the controller takes the change back, with what other publishers did, and the request fails.
3. The metadata store writes the change to the data folder. A response waits for `saved`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.kafka_uuid import new_uuid
from .. import metadata
from ..runtime.deferred import Deferred
from .features import ELR_VERSION, FeatureUpdate, check_updates
from .metadata_image import MetadataImage, PartitionRegistration, TopicImage
from .producer_id_manager import ProducerIdManager
from .quorum_observers import LostObservers
from .replica_placement import place_replicas
from .topic_validation import assignment_error

if TYPE_CHECKING:
    from random import Random

    from ..runtime.quota_rates import TokenBucket
    from ..security.acl.acls import AclBinding
    from ..security.sasl.scram import ScramCredential
    from .client_quota_control import Alteration
    from .client_quotas_image import QuotaEntity
    from .delegation_token_control import DelegationTokenControl
    from .replication_control import ReplicationControl
    from .scram_control import CredentialKey

# The result of `saved` in memory.
_SAVED = Deferred[KafkaError | None].completed(None)

# Stands for default.replication.factor, as in CreateTopics.
DEFAULT_REPLICATION_FACTOR = -1


class MetadataPublisher(Protocol):
    """A node that follows the image (Kafka: image/publisher/MetadataPublisher)."""

    def partitions_created(self, topic: TopicImage, first_index: int) -> None:
        """Create the logs of the topic's partitions from first_index on.

        Raises KafkaError KAFKA_STORAGE_ERROR where the files cannot be created; no file is left then.
        """
        ...

    def partitions_taken_back(self, topic: TopicImage, first_index: int) -> None:
        """Delete the logs of the topic's partitions from first_index on, because the change could not be completed."""
        ...

    def apply_partitions(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        """Lead and follow the topic's partitions of these indexes as the image says."""
        ...

    def leaders_changed(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        """Load and unload coordinators, after all nodes have applied the partitions."""
        ...

    def topic_created(self, topic: TopicImage) -> None:
        """Note that the topic exists now."""
        ...

    def topics_removed(self, topics: Sequence[TopicImage]) -> None:
        """Delete the logs of the topics, but complete no request that waits for one of them."""
        ...

    def complete_waiting(self) -> None:
        """Complete the requests that wait for a partition that was removed."""
        ...

    def topic_configs_changed(self, topic: TopicImage) -> None:
        """Apply the topic's configs from the next append on."""
        ...

    def broker_configs_changed(self) -> None:
        """Apply the broker's configs from the next request on."""
        ...

    def client_quotas_changed(self) -> None:
        """Apply the client quotas from the next request on."""
        ...


class MetadataStore(Protocol):
    """Writes the image to a data folder. A cluster in memory has none."""

    @property
    def is_saved(self) -> bool:
        """Whether all changes so far are written."""
        ...

    def changed(self) -> None:
        """Note a change; it is written after the current request."""
        ...

    def write(self) -> None:
        """Begin to write the changes, if there are any."""
        ...

    def saved(self) -> Deferred[KafkaError | None]:
        """Return what completes when all changes so far are written: with None, or with KAFKA_STORAGE_ERROR."""
        ...

    async def stop(self) -> None:
        """Wait for the writes in flight, if the store has threads of its own."""
        ...

    def close(self) -> None:
        """Write the changes, and close the logs as in a clean shutdown."""
        ...


def new_partition(
    index: int, replicas: Sequence[int], fenced: Collection[int] = (), *, leader_epoch: int = 0
) -> PartitionRegistration:
    """Return the registration of a new partition: its replicas are in sync, and the first one leads.

    fenced: the brokers that can do neither. Raises KafkaError INVALID_REPLICA_ASSIGNMENT if all replicas are on them.
    """
    isr = [node_id for node_id in replicas if node_id not in fenced]
    if not isr:
        raise assignment_error(
            f"All brokers specified in the manual partition assignment for partition {index} are fenced or in "
            "controlled shutdown."
        )
    return PartitionRegistration(index, isr[0], leader_epoch, list(replicas), isr)


class Controller:
    """The controller of a cluster. It also allocates producer ids (Kafka: ProducerIdControlManager)."""

    def __init__(self, image: MetadataImage, random: Random | None = None) -> None:
        """image: the image that this controller writes from now on. random: where new topics are placed."""
        self.image = image
        self._random = random
        self.producer_ids = ProducerIdManager()
        self.publishers: list[MetadataPublisher] = []
        self.lost_observers = LostObservers()
        # Has the nodes apply changed partitions of a topic, by their indexes; None with one node.
        self.publish_partitions: Callable[[TopicImage, Sequence[int]], None] | None = None
        # Called with the topics that were removed; None with one node.
        self.forget_topics: Callable[[Sequence[TopicImage]], None] | None = None
        # The tokens of the clients with a quota of mutations, by entity; ClientQuotas fills it.
        self.mutation_buckets: dict[QuotaEntity, TokenBucket] = {}
        # None in memory.
        self.store: MetadataStore | None = None

    # -- topics

    def create_topic(
        self,
        name: str,
        partition_count: int,
        *,
        configs: Mapping[str, str] | None = None,
        replication_factor: int = DEFAULT_REPLICATION_FACTOR,
        assignments: Sequence[Sequence[int]] | None = None,
    ) -> TopicImage:
        """Create a topic. The caller has validated the name, the configs and the assignments.

        assignments: the broker ids of each partition's replicas; by default they are placed on replication_factor
        brokers, whose default is default.replication.factor.
        Raises KafkaError: TOPIC_ALREADY_EXISTS; INVALID_REPLICATION_FACTOR; INVALID_REPLICA_ASSIGNMENT for replicas
        that are all on fenced brokers; KAFKA_STORAGE_ERROR where its files cannot be created. The topic does not exist
        then.
        """
        if name in self.image.topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        topic = TopicImage(name, new_uuid(), dict(configs or {}))
        if assignments is None:
            factor = self.replication_factor_of(replication_factor)
            assignments = self._placed(partition_count, factor)
        self._add_partitions(topic, assignments)
        self.image.add_topic(topic)
        self._partitions_changed(topic, range(len(topic.partitions)))
        for publisher in self.publishers:
            publisher.topic_created(topic)
        return topic

    def _placed(self, partition_count: int, replication_factor: int) -> list[list[int]]:
        """Return the broker ids of each new partition's replicas. Raises KafkaError INVALID_REPLICATION_FACTOR."""
        brokers = self.image.brokers
        if len(brokers) == replication_factor == 1:
            return [[brokers[0].node_id] for _ in range(partition_count)]
        if self._random is None:
            # The start of one node does not need it.
            from random import Random

            self._random = Random()
        return place_replicas(brokers, partition_count, replication_factor, self._random)

    def replication_factor_of(self, requested: int) -> int:
        """Return the replication factor of a new topic; DEFAULT_REPLICATION_FACTOR stands for the broker's default."""
        if requested != DEFAULT_REPLICATION_FACTOR:
            return requested
        return self.image.configs.current.default_replication_factor

    def create_partitions(
        self, topic: TopicImage, total: int, *, assignments: Sequence[Sequence[int]] | None = None
    ) -> None:
        """Add partitions to the topic until it has total of them.

        assignments: the broker ids of each new partition's replicas; by default they are placed with the replication
        factor of the topic's first partition. Raises KafkaError as create_topic; the topic is unchanged then.
        """
        if assignments is None:
            factor, count = len(topic.partitions[0].replicas), total - len(topic.partitions)
            assignments = self._placed(count, factor)
        before = len(topic.partitions)
        self._add_partitions(topic, assignments)
        self._partitions_changed(topic, range(before, len(topic.partitions)))

    def _add_partitions(self, topic: TopicImage, assignments: Sequence[Sequence[int]]) -> None:
        before = len(topic.partitions)
        fenced = {broker.node_id for broker in self.image.brokers if broker.is_fenced}
        topic.partitions += [
            new_partition(index, replicas, fenced) for index, replicas in enumerate(assignments, start=before)
        ]
        for count, publisher in enumerate(self.publishers):
            try:
                publisher.partitions_created(topic, before)
            except KafkaError:
                for other in self.publishers[:count]:
                    other.partitions_taken_back(topic, before)
                del topic.partitions[before:]
                raise

    def take_back_partitions(self, topic: TopicImage, first_index: int) -> None:
        """Delete the topic's partitions from first_index on, because the metadata could not be saved with them."""
        for publisher in self.publishers:
            publisher.partitions_taken_back(topic, first_index)
        del topic.partitions[first_index:]
        self._partitions_changed(topic, ())
        if self.store is not None:
            self.store.write()
        for publisher in self.publishers:
            publisher.complete_waiting()

    def _partitions_changed(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        if self.publish_partitions is not None:
            self.publish_partitions(topic, indexes)
        self.metadata_changed()

    @cached_property
    def replication(self) -> ReplicationControl:
        """The decisions on replicas."""
        return metadata.replication_control.ReplicationControl(self.image, self._registrations_changed)

    def _registrations_changed(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        if self.publish_partitions is None:
            # A node without others leads every partition that it has, unless this says otherwise.
            for publisher in self.publishers:
                publisher.apply_partitions(topic, indexes)
                publisher.leaders_changed(topic, indexes)
        self._partitions_changed(topic, indexes)

    def delete_topics(self, topics: Sequence[TopicImage]) -> None:
        """Delete the topics with their logs, and complete the requests that wait for them."""
        self.remove_topics(topics)
        for publisher in self.publishers:
            publisher.complete_waiting()

    def remove_topics(self, topics: Sequence[TopicImage]) -> None:
        """Delete the topics with their logs. The caller completes the requests that wait for them."""
        for topic in topics:
            self.image.remove_topic(topic)
        # The file goes first: a topic that it still lists, without folders, would be created again at start-up.
        self.metadata_changed()
        if self.store is not None:
            self.store.write()
        for publisher in self.publishers:
            publisher.topics_removed(topics)
        if self.forget_topics is not None:
            self.forget_topics(topics)

    # -- configs

    def alter_topic_configs(self, topic: TopicImage, configs: Mapping[str, str]) -> None:
        """Replace the topic's own configs. The caller has validated them."""
        topic.configs = dict(configs)
        self._update_elrs()
        for publisher in self.publishers:
            publisher.topic_configs_changed(topic)
        self.metadata_changed()

    def apply_dynamic_configs(self) -> None:
        """Apply what was set in `image.configs`, for brokers and for the topics that inherit from them."""
        self.image.configs.apply()
        self._update_elrs()
        for publisher in self.publishers:
            publisher.broker_configs_changed()
        self.metadata_changed()

    def _update_elrs(self) -> None:
        if self.publish_partitions is not None:
            self.replication.update_elrs()

    # -- features

    def update_features(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool) -> None:
        """Change the levels of features, unless validate_only.

        Raises KafkaError INVALID_UPDATE_VERSION for the first invalid update; no level changes then.
        """
        features = self.image.features
        check_updates(features, self.image.brokers[0].node_id, updates)
        changed = {name: update.level for name, update in updates.items() if update.level != features.level_of(name)}
        if validate_only or not changed:
            return
        features.updated.update(changed)
        if changed.get(ELR_VERSION):
            # Broker configs of this key could disagree about eligible leader replicas
            # (ConfigurationControlManager.maybeGenerateElrSafetyRecords).
            self.image.configs.unify_min_insync_replicas()
            self.apply_dynamic_configs()
        else:
            self.metadata_changed()

    # -- ACLs

    def create_acl(self, acl: AclBinding) -> None:
        """Create an ACL, unless it is there. Raises KafkaError INVALID_REQUEST."""
        metadata.acl_control.check_acl(acl)
        if acl not in self.image.security.acls:
            self.image.security.acls.add(acl)
            self.metadata_changed()

    def delete_acl(self, acl: AclBinding) -> None:
        """Delete an ACL, unless it is already deleted."""
        if acl in self.image.security.acls:
            self.image.security.acls.discard(acl)
            self.metadata_changed()

    # -- client quotas

    def alter_client_quotas(self, alterations: Iterable[Alteration]) -> None:
        """Change the quotas of the entities. The caller has validated them."""
        quotas = self.image.client_quotas
        has_changed = False
        for entity, changes, addresses in alterations:
            different = {key: value for key, value in changes.items() if quotas.find(entity, key) != value}
            for key, value in different.items():
                quotas.set(entity, key, value)
            if addresses is not None and quotas.quotas_of(entity):
                quotas.set_addresses(entity, addresses)
            has_changed = has_changed or bool(different)
        if has_changed:
            self.apply_client_quotas()
            self.metadata_changed()

    def apply_client_quotas(self) -> None:
        """Have the nodes apply the quotas of the image."""
        for publisher in self.publishers:
            publisher.client_quotas_changed()

    # -- SCRAM credentials

    def alter_scram_credentials(
        self, deletions: Iterable[CredentialKey], upsertions: Mapping[CredentialKey, ScramCredential]
    ) -> None:
        """Delete credentials, of which each may be gone, and set others. The caller has validated both."""
        credentials = self.image.security.credentials
        deleted = [key for key in deletions if credentials.pop(key, None) is not None]
        credentials.update(upsertions)
        if deleted or upsertions:
            self.metadata_changed()

    # -- delegation tokens

    @cached_property
    def delegation_tokens(self) -> DelegationTokenControl:
        """The changes of delegation tokens."""
        return metadata.delegation_token_control.DelegationTokenControl(self.image, self.metadata_changed)

    def remove_expired_tokens(self, now_ms: int) -> list[str]:
        """Remove the delegation tokens that have expired, and return their ids. now_ms: of the cluster's clock."""
        return self.delegation_tokens.remove_expired(now_ms) if self.image.has_security else []

    # -- brokers

    def unregister_broker(self, broker_id: int) -> None:
        """Remove a broker from the cluster, also one that runs, until it is restarted. It keeps its replicas.

        Raises KafkaError: BROKER_ID_NOT_REGISTERED; INVALID_REQUEST for the only broker. Kafka unregisters it too, and
        has no leader for any partition until the broker is restarted.
        """
        broker = self.image.find_broker(broker_id)
        if broker is None:
            raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {broker_id} is not currently registered")
        if len(self.image.brokers) == 1:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"Broker ID {broker_id} is the only broker and cannot be unregistered"
            )
        self.replication.fence(broker_id)
        self.image.brokers.remove(broker)
        self.metadata_changed()

    # -- producer ids

    def restart_producer_ids(self, first_producer_id: int, *, is_persistent: bool = False) -> None:
        """Allocate from first_producer_id on, or from the next id if that is greater: no id is allocated twice.

        is_persistent: whether blocks of ids must be saved; see ProducerIdManager.
        """
        first = max(first_producer_id, self.producer_ids.next_producer_id)
        self.producer_ids = ProducerIdManager(first, is_persistent=is_persistent)

    def claim_producer_ids(self, node_id: int) -> None:
        """Claim a block of producer ids for a node. They are allocated once the block is `saved`."""
        if self.producer_ids.claim_block(node_id):
            self.metadata_changed()

    def skip_producer_ids_up_to(self, producer_id: int) -> None:
        """Never allocate a producer id up to this one, because a log contains it."""
        if self.producer_ids.skip_up_to(producer_id):
            self.metadata_changed()

    # -- metadata store

    def metadata_changed(self) -> None:
        """Count a change of the image, and have the metadata store write it if there is one."""
        self.image.offset += 1
        if self.store is not None:
            self.store.changed()

    @property
    def is_saved(self) -> bool:
        """Whether all changes so far are written; always in memory."""
        return self.store is None or self.store.is_saved

    def saved(self) -> Deferred[KafkaError | None]:
        """Return what completes with None when all changes so far are written; in memory it is complete.

        It completes with KAFKA_STORAGE_ERROR if they cannot be written yet; they are in force all the same.
        """
        return _SAVED if self.store is None else self.store.saved()
