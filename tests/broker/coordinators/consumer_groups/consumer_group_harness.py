"""A group coordinator with a manual clock, and the requests of the members of one consumer group."""

from __future__ import annotations

from typing import TypedDict, Unpack

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.consumer.heartbeats import Client
from fauxka.broker.coordinators.group.group_coordinator import GroupCoordinator
from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.protocol.messages.consumer_group_describe import DescribedGroup
from fauxka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

from ....manual_clock import manual_clock
from ..group_harness import BreakableLog

GROUP = "group"
HEARTBEAT_VERSION = 1
REBALANCE_TIMEOUT_MS = 30_000
SESSION_TIMEOUT_MS = 45_000


class HeartbeatFields(TypedDict, total=False):
    """The optional fields of a heartbeat."""

    instance_id: str | None
    rebalance_timeout_ms: int
    subscribed_topic_names: list[str] | None
    subscribed_topic_regex: str | None
    server_assignor: str | None


class ConsumerGroupHarness:
    """One group. Partitions are {topic name: set of partition indexes}."""

    def __init__(self, *, assignment_interval_ms: int = 0, **topics: int) -> None:
        self.clock = manual_clock()
        config = {"group.consumer.assignment.interval.ms": str(assignment_interval_ms)}
        self.cluster = Cluster(BrokerConfig.from_entries(config), clock=self.clock)
        self.log = BreakableLog.of_cluster(self.cluster)
        for name, count in topics.items():
            self.cluster.controller.create_topic(name, count)
        self.coordinator = self._new_coordinator()

    def _new_coordinator(self) -> GroupCoordinator:
        settings = GroupSettings(initial_rebalance_delay_ms=0)
        return GroupCoordinator(settings, self.clock, self.log, self.cluster.node.coordinators)

    def crash(self) -> None:
        """Replace the coordinator by a new one that loads the log."""
        self.clock.cancel_all()
        self.log = BreakableLog.of_cluster(self.cluster)
        self.coordinator = self._new_coordinator()
        self.coordinator.load()

    def heartbeat(
        self, member_id: str, epoch: int, owned: dict[str, set[int]] | None = None, **fields: Unpack[HeartbeatFields]
    ) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat. Raises the KafkaError of the response."""
        partitions = None if owned is None else [self._entry(name, of_topic) for name, of_topic in owned.items()]
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=member_id, member_epoch=epoch, topic_partitions=partitions, **fields
        )
        return self.coordinator.consumer_groups.heartbeat(request, Client("client", "/127.0.0.1"), HEARTBEAT_VERSION)

    def join(self, member_id: str, *topics: str, instance_id: str | None = None) -> ConsumerGroupHeartbeatResponse:
        """Join with a heartbeat that subscribes to topics."""
        return self.heartbeat(
            member_id,
            0,
            {},
            subscribed_topic_names=list(topics),
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            instance_id=instance_id,
        )

    def describe(self) -> DescribedGroup:
        """Return the description of the group."""
        return self.coordinator.consumer_groups.describe(GROUP)

    def assigned(self, response: ConsumerGroupHeartbeatResponse) -> dict[str, set[int]]:
        """Return the assignment of a response, which must have one."""
        assert response.assignment is not None, response
        return {self.name_of(entry.topic_id): set(entry.partitions) for entry in response.assignment.topic_partitions}

    def name_of(self, topic_id: bytes) -> str:
        """Return the name of a topic, or the hex digits of its id if it is deleted."""
        return self.cluster.image.topic_name_of(topic_id) or topic_id.hex()

    def _entry(self, name: str, partitions: set[int]) -> TopicPartitions:
        topic = self.cluster.image.find_topic(name)
        topic_id = bytes.fromhex(name) if topic is None else topic.topic_id
        return TopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
