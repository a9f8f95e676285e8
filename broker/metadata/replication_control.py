"""The controller's decisions on replicas: death and return of brokers, elections, ISR changes and reassignments.

- A broker that the controller does not hear from is fenced: it leaves every ISR, and others lead its partitions.
- A broker that stops leads no more partitions before it goes, so that no client waits for its death.
- A broker that was killed may have lost records: with its return it leaves the ELR.
- With its return, and when it has caught up, a broker may lead the partitions without a leader.
- The leader of a partition proposes its ISR. A replica joins it only if its broker may lead.
Source: ReplicationControlManager and BrokerHeartbeatManager, Kafka 4.3.0; tests/golden/replicas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import IntEnum

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.error_messages import ERROR_MESSAGES
from .features import ELR_VERSION
from .metadata_image import NO_LEADER, BrokerRegistration, MetadataImage, PartitionRegistration, TopicImage
from .partition_change import Election, ElectionRules, PartitionChange, change_partition
from .topic_config import LogConfigCache
from .topic_validation import check_assignment

# Called with a topic and the indexes of its partitions that have changed.
Publish = Callable[[TopicImage, Sequence[int]], None]


class ElectionType(IntEnum):
    """The election types, by their number on the wire (Kafka: ElectionType)."""

    PREFERRED = 0
    UNCLEAN = 1


class ReplicationControl:
    """Changes the partition registrations of an image, and publishes them."""

    def __init__(self, image: MetadataImage, publish: Publish) -> None:
        """publish: has the nodes apply changed partitions."""
        self._image = image
        self._publish = publish
        self._log_configs = LogConfigCache(image.configs.current)

    # -- brokers

    def fence(self, node_id: int) -> None:
        """Fence a broker that the controller does not hear from. No effect on a fenced or unregistered broker."""
        broker = self._image.find_broker(node_id)
        if broker is None:
            return
        broker.is_stopping = False
        if not broker.is_fenced:
            broker.is_fenced = True
            self._remove_from_isrs(node_id)

    def begin_shutdown(self, node_id: int) -> None:
        """Move the leaders away from a broker that will stop (controlled shutdown)."""
        broker = self._image.find_broker(node_id)
        if broker is not None:
            broker.is_stopping = True
            self._remove_from_isrs(node_id)

    def register(self, node_id: int, *, was_killed: bool) -> None:
        """Register a broker that has started again; it stays fenced. was_killed: it did not stop cleanly."""
        self.fence(node_id)
        if self._image.find_broker(node_id) is None:
            rack = self._image.configs.nodes[node_id].static.broker_rack
            self._image.add_broker(BrokerRegistration(node_id, rack, is_fenced=True))
        if was_killed:
            killed = PartitionChange(killed=[node_id])
            self._change_all(lambda each: killed if node_id in each.elr else None)

    def unfence(self, node_id: int) -> None:
        """Let a broker lead partitions, because it has caught up with the metadata. No effect if it is unregistered."""
        broker = self._image.find_broker(node_id)
        if broker is not None:
            broker.is_fenced = False
            self.elect_missing()

    def elect_missing(self) -> None:
        """Elect leaders of the partitions that have none."""
        self._change_all(lambda each: None if each.has_leader else PartitionChange())

    def update_elrs(self) -> None:
        """Update the ELRs after a change of configs: with a lower min.insync.replicas the high watermark moves on.

        Source: ReplicationControlManager.getPartitionElrUpdatesForConfigChanges, Kafka 4.3.0.
        """
        self._change_all(lambda each: PartitionChange() if each.elr else None)

    def _remove_from_isrs(self, node_id: int) -> None:
        def without(partition: PartitionRegistration) -> PartitionChange | None:
            if node_id not in partition.isr:
                return None
            return PartitionChange(isr=[each for each in partition.isr if each != node_id])

        self._change_all(without)

    def _change_all(self, change_of: Callable[[PartitionRegistration], PartitionChange | None]) -> None:
        """Change every partition for which change_of returns a change."""
        for topic in list(self._image.topics.values()):
            changed = [
                partition.index
                for partition in list(topic.partitions)
                if (change := change_of(partition)) is not None and self._change(topic, partition.index, change)
            ]
            if changed:
                self._publish(topic, changed)

    def _change(self, topic: TopicImage, index: int, change: PartitionChange, election: Election | None = None) -> bool:
        """Change a partition of the image, and return whether it has changed. The caller publishes it."""
        rules = self._rules(topic, election)
        changed = change_partition(topic.partitions[index], change, rules)
        if changed is not None:
            topic.partitions[index] = changed
        return changed is not None

    def _rules(self, topic: TopicImage, election: Election | None = None) -> ElectionRules:
        """Return what an election of the topic depends on. election: ONLINE or UNCLEAN by the topic's config."""
        config = self._image.configs.current
        log_config = self._log_configs.get(config, topic.configs)
        if election is None:
            election = Election.UNCLEAN if log_config.unclean_leader_election_enable else Election.ONLINE
        active = {broker.node_id for broker in self._image.brokers if broker.is_active}
        return ElectionRules(
            can_lead=active.__contains__,
            min_isr=log_config.min_insync_replicas,
            is_elr_enabled=self._image.features.level_of(ELR_VERSION) > 0,
            election=election,
        )

    # -- partitions

    def alter_isr(self, topic_id: bytes, index: int, leader_epoch: int, isr: Sequence[int]) -> bool:
        """Change the ISR as the leader of leader_epoch proposes it, and return whether it is in force.

        It is refused in another epoch, and with a replica whose broker may not lead.
        Source: ReplicationControlManager.alterPartition, Kafka 4.3.0.
        """
        topic = self._image.find_topic_by_id(topic_id)
        if topic is None or not topic.has_partition(index):
            return False
        partition = topic.partitions[index]
        active = {broker.node_id for broker in self._image.brokers if broker.is_active}
        added = set(isr).difference(partition.isr)
        is_valid = partition.leader_id in isr and set(isr) <= set(partition.replicas) and len(set(isr)) == len(isr)
        if partition.leader_epoch != leader_epoch or not added <= active or not is_valid:
            return False
        if self._change(topic, index, PartitionChange(isr=isr)):
            self._publish(topic, [index])
        return True

    def elect(self, topic_name: str, index: int, election_type: ElectionType) -> None:
        """Elect a leader.

        Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE,
        ELIGIBLE_LEADERS_NOT_AVAILABLE.
        """
        topic, partition = self._partition(topic_name, index, "No such topic as {0}", "No such partition as {0}-{1}")
        is_preferred = election_type is ElectionType.PREFERRED
        is_needed = partition.leader_id != partition.replicas[0] if is_preferred else not partition.has_leader
        if not is_needed:
            raise _error(ErrorCode.ELECTION_NOT_NEEDED)
        election = Election.PREFERRED if is_preferred else Election.UNCLEAN
        if not self._change(topic, index, PartitionChange(), election):
            code = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
            raise _error(code if is_preferred else ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)
        self._publish(topic, [index])

    def balance(self) -> None:
        """Elect the preferred leaders, and any leader of a partition without one, as Kafka does from time to time.

        Source: ReplicationControlManager.maybeBalancePartitionLeaders and
        maybeTriggerUncleanLeaderElectionForLeaderlessPartitions, Kafka 4.3.0.
        """
        for topic in list(self._image.topics.values()):
            changed = [
                partition.index
                for partition in list(topic.partitions)
                if partition.leader_id != partition.replicas[0]
                and self._change(
                    topic, partition.index, PartitionChange(), Election.PREFERRED if partition.has_leader else None
                )
            ]
            if changed:
                self._publish(topic, changed)

    def move_leader(self, topic: TopicImage, index: int, node_id: int) -> None:
        """Make a replica the leader, in the next epoch. Without a place in the ISR, the ISR is that replica alone."""
        partition = topic.partitions[index]
        assert node_id in partition.replicas, f"node {node_id} has no replica of {topic.name}-{index}"
        if partition.leader_id == node_id:
            return
        isr = list(partition.isr) if node_id in partition.isr else [node_id]
        topic.partitions[index] = partition.led_by(node_id, isr)
        self._publish(topic, [index])

    def remove_leader(self, topic: TopicImage, index: int) -> None:
        """Have no leader until the next election, as while the nodes of the ISR are down. The ISR stays as it is."""
        partition = topic.partitions[index]
        if partition.has_leader:
            topic.partitions[index] = partition.led_by(NO_LEADER, partition.isr)
            self._publish(topic, [index])

    # -- reassignments

    def reassign(
        self, topic_name: str, index: int, replicas: Sequence[int] | None, *, may_change_factor: bool = True
    ) -> None:
        """Begin to move a partition to other brokers, in that order; it ends when they are in sync.

        replicas: the requested broker ids; None cancels a reassignment. may_change_factor: whether they may be more or
        fewer than the partition has.
        Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR,
        NO_REASSIGNMENT_IN_PROGRESS.
        Source: ReplicationControlManager.changePartitionReassignment and cancelPartitionReassignment, Kafka 4.3.0.
        """
        topic, partition = self._partition(
            topic_name, index, "Unable to find a topic named {0}.", "Unable to find partition {0}:{1}."
        )
        if replicas is None:
            change = _cancelled(partition)
            if set(partition.isr) <= set(partition.adding):
                self._check_unclean(topic, index)
        else:
            check_assignment(replicas, {broker.node_id for broker in self._image.brokers})
            if not may_change_factor:
                _check_factor(partition, replicas)
            change = _reassigned(partition, replicas)
        # A reassignment begins no unclean election.
        if self._change(topic, index, change, None if replicas is None else Election.ONLINE):
            self._publish(topic, [index])

    def _check_unclean(self, topic: TopicImage, index: int) -> None:
        """Raise KafkaError INVALID_REPLICA_ASSIGNMENT if the topic does not allow unclean elections."""
        if self._rules(topic).election is not Election.UNCLEAN:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Unable to revert partition assignment for {topic.name}:{index} because it would require an unclean "
                "leader election.",
            )

    def reassignments(self) -> Iterator[tuple[TopicImage, PartitionRegistration]]:
        """Yield the partitions whose reassignment is in progress."""
        for topic in self._image.topics.values():
            for partition in topic.partitions:
                if partition.adding or partition.removing:
                    yield topic, partition

    def _partition(
        self, topic_name: str, index: int, no_topic: str, no_partition: str
    ) -> tuple[TopicImage, PartitionRegistration]:
        """Return the partition. Raises KafkaError UNKNOWN_TOPIC_OR_PARTITION with one of the messages."""
        topic = self._image.find_topic(topic_name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, no_topic.format(topic_name))
        if not topic.has_partition(index):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, no_partition.format(topic_name, index))
        return topic, topic.partitions[index]


def _error(code: ErrorCode) -> KafkaError:
    return KafkaError(code, ERROR_MESSAGES[code])


def _check_factor(partition: PartitionRegistration, target: Sequence[int]) -> None:
    """Raise KafkaError INVALID_REPLICATION_FACTOR unless the partition keeps the number of its replicas.

    Source: ReplicationControlManager.validatePartitionReplicationFactorUnchanged, Kafka 4.3.0.
    """
    factor = len(_without(partition.replicas, partition.removing))
    if len(target) != factor:
        message = f"The replication factor is changed from {factor} to {len(target)}"
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)


def _reassigned(partition: PartitionRegistration, target: Sequence[int]) -> PartitionChange:
    """Return the change that begins a reassignment. What one in progress adds or removes stays if there is no other."""
    adding, removing = sorted(_without(target, partition.replicas)), sorted(_without(partition.replicas, target))
    return PartitionChange(replicas=[*target, *removing], adding=adding or None, removing=removing or None)


def _cancelled(partition: PartitionRegistration) -> PartitionChange:
    """Return the change that ends a reassignment without its effect. Raises KafkaError.

    If only what it adds is in sync, the first replica is so then: an unclean election.
    """
    if not partition.adding and not partition.removing:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = _without(partition.replicas, partition.adding)
    isr = _without(partition.isr, partition.adding) or replicas[:1]
    return PartitionChange(replicas=replicas, isr=isr, adding=[], removing=[])


def _without(node_ids: Iterable[int], removed: Collection[int]) -> list[int]:
    return [node_id for node_id in node_ids if node_id not in removed]
