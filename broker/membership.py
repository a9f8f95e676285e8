"""The nodes of a cluster of several: which run, which are cut off, and which the controller has fenced.

- The controller is no broker, and never dies alone. It fences a node that has died at once or, as in Kafka, when
  broker.session.timeout.ms of the broker's clock have passed.
- A node that is cut off from the controller keeps its metadata, and continues to lead for clients that connect to it.
  Its ISRs do not change, and followers with a newer leader epoch do not fetch from it.
- Nodes that are cut off from each other do not fetch, and write no transaction markers to each other.
Source: BrokerLifecycleManager and BrokerHeartbeatManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..storage.leader_change import LeaderChange
from ..storage.leader_epoch_cache import LeaderEpochCache
from .isolation import Isolation
from .metadata.metadata_image import NO_LEADER
from .replica.replica_fetchers import ReplicaFetchers, ReplicaKey

if TYPE_CHECKING:
    from .metadata.controller import Controller
    from .metadata.metadata_image import TopicImage
    from .node import Node
    from .replica.partition import Partition
    from .replica.replica_manager import ReplicaManager
    from .replica.replication import Replica
    from .runtime.clock import AdjustableClock, Timer

logger = logging.getLogger(__name__)


class _LastLeader(NamedTuple):
    """The last leader of a partition.

    own_epoch: in the metadata of the node, which may be cut off. eligible: the replicas in the ISR and the ELR.
    """

    node_id: int
    epoch: int
    own_epoch: int
    eligible: frozenset[int]


_NO_LAST_LEADER = _LastLeader(NO_LEADER, -1, -1, frozenset())


def _leader_change(partition: Partition, before: _LastLeader, now: _LastLeader) -> LeaderChange:
    """Return a change of leaders. partition: on the node of the new one."""
    log = partition.find_log()
    epochs = LeaderEpochCache(() if log is None else log.leader_epochs.entries())
    end_offset = 0 if log is None else log.log_end_offset
    # A node that is cut off continues to append in the epoch of its own metadata, if it leads in that one.
    epochs.assign(now.own_epoch if partition.is_leader else now.epoch, end_offset)
    is_clean = before is _NO_LAST_LEADER or now.node_id in before.eligible
    place = (partition.topic_name, partition.index)
    return LeaderChange(*place, *before[:2], *now[:2], end_offset, tuple(epochs.entries()), is_clean)


class Membership:
    """The nodes of a cluster of several."""

    def __init__(self, controller: Controller, clock: AdjustableClock) -> None:
        """Create a membership without nodes; see add."""
        self._controller = controller
        self._clock = clock
        self._nodes: dict[int, Node] = {}
        self._managers: dict[int, ReplicaManager] = {}
        self._isolated: dict[int, frozenset[Isolation]] = {}
        self._sessions: dict[int, Timer] = {}
        self._balance: Timer | None = None
        # Called when a partition gets a leader, before it handles a request. The last leaders are those of its calls.
        self.on_leader_changed: Callable[[LeaderChange], None] | None = None
        self._led: dict[tuple[bytes, int], _LastLeader] = {}
        # The replicas that a test has paused. They stay paused while their node is down, and after it.
        self._paused: set[ReplicaKey] = set()
        self.fetchers = ReplicaFetchers(self._managers, self._can_reach, self._paused, clock)
        controller.publish_partitions = self._publish
        controller.forget_topics = self._forget_topics

    def add(self, node: Node) -> None:
        """Add a node that runs."""
        self._nodes[node.node_id] = node
        self._managers[node.node_id] = node.replicas
        node.replicas.alter_isr = partial(self._alter_isr, node.node_id)
        node.replicas.fetch_later = self.fetchers.retry_later
        node.find_node = partial(self._find_peer, node.node_id)

    # -- questions

    def is_running(self, node_id: int) -> bool:
        """Whether the node runs."""
        return node_id in self._managers

    def isolated_from(self, node_id: int) -> frozenset[Isolation]:
        """Return what the node is cut off from."""
        return self._isolated.get(node_id, frozenset())

    def _reaches_controller(self, node_id: int) -> bool:
        return self.is_running(node_id) and Isolation.CONTROLLER not in self.isolated_from(node_id)

    def _can_reach(self, node_id: int, other_id: int) -> bool:
        return all(
            self.is_running(each) and Isolation.NODES not in self.isolated_from(each) for each in (node_id, other_id)
        )

    def _find_peer(self, node_id: int, other_id: int) -> Node | None:
        return self._nodes[other_id] if self._can_reach(node_id, other_id) else None

    # -- changes of the image

    def _publish(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        """Apply the changed partitions of a topic on the nodes that reach the controller."""
        nodes = [node for node in self._nodes.values() if self._reaches_controller(node.node_id)]
        for node in nodes:
            node.apply_partitions(topic, indexes)
        self._report_leaders(topic, indexes)
        for index in indexes:
            self.fetchers.update(topic.topic_id, index)
        for node in nodes:
            node.leaders_changed(topic, indexes)

    def _report_leaders(self, topic: TopicImage, indexes: Iterable[int]) -> None:
        if self.on_leader_changed is None:
            return
        for index in indexes:
            registration, key = topic.partitions[index], (topic.topic_id, index)
            before = self._led.get(key, _NO_LAST_LEADER)
            eligible = frozenset([*registration.isr, *registration.elr]) or before.eligible
            manager = self._managers.get(registration.leader_id)
            partition = None if manager is None else manager.find_partition(topic.topic_id, index)
            if partition is None:
                self._led[key] = before._replace(eligible=eligible)
                continue
            now = _LastLeader(registration.leader_id, registration.leader_epoch, partition.leader_epoch, eligible)
            self._led[key] = now
            if now[:3] != before[:3]:
                self.on_leader_changed(_leader_change(partition, before, now))

    def _forget_topics(self, topics: Iterable[TopicImage]) -> None:
        topic_ids = {topic.topic_id for topic in topics}
        self._paused -= {each for each in self._paused if each[1] in topic_ids}
        for key in [key for key in self._led if key[0] in topic_ids]:
            del self._led[key]

    def _report_all_leaders(self) -> None:
        for topic in self._controller.image.topics.values():
            self._report_leaders(topic, range(len(topic.partitions)))

    @property
    def has_cut_off(self) -> bool:
        """Whether the controller cannot reach a node that runs."""
        return any(Isolation.CONTROLLER in isolated for isolated in self._isolated.values())

    def _update_publishers(self) -> None:
        """Set the publishers of the controller: the nodes that reach it."""
        self._controller.publishers[:] = [
            node for node in self._nodes.values() if self._reaches_controller(node.node_id)
        ]

    def _alter_isr(self, node_id: int, partition: Replica, isr: Sequence[int]) -> bool:
        if not self._reaches_controller(node_id):
            return False
        control = self._controller.replication
        return control.alter_isr(partition.topic_id, partition.index, partition.leader_epoch, isr)

    # -- death and return

    def node_stopped(self, node_id: int, *, is_noticed: bool) -> None:
        """Remove a node that has stopped. is_noticed: whether the controller fences it now, or after its session."""
        self._lose_observer(node_id)
        self._managers.pop(node_id, None)
        self._isolated.pop(node_id, None)
        self._controller.producer_ids.forget_block(node_id)
        self._update_publishers()
        self.fetchers.update_all()
        self._end_session(node_id, is_noticed=is_noticed)

    def _lose_observer(self, node_id: int) -> None:
        """End the fetches of the metadata by a node."""
        image = self._controller.image
        broker = image.find_broker(node_id)
        if broker is not None:
            self._controller.lost_observers.lose(broker, image.offset, self._clock.now_ms())

    def _end_session(self, node_id: int, *, is_noticed: bool) -> None:
        if is_noticed:
            self._session_over(node_id)
        elif node_id not in self._sessions:
            timeout_ms = self._controller.image.configs.current.broker_session_timeout_ms
            self._sessions[node_id] = self._clock.call_later(timeout_ms, partial(self._session_over, node_id))

    def _session_over(self, node_id: int) -> None:
        self._keep_session(node_id)
        logger.info("the controller fences node %d", node_id)
        self._controller.replication.fence(node_id)

    def _keep_session(self, node_id: int) -> None:
        session = self._sessions.pop(node_id, None)
        if session is not None:
            session.cancel()

    def node_registers(self, node_id: int, *, was_killed: bool) -> None:
        """Register a node that starts again, before its logs are loaded. was_killed: it did not stop cleanly.

        The controller fences it first, if its session has not expired. In Kafka the registration waits for that.
        """
        self._keep_session(node_id)
        self._controller.lost_observers.find_again(node_id)
        self._controller.replication.register(node_id, was_killed=was_killed)

    def node_started(self, node_id: int) -> None:
        """Add a node that runs again and has loaded its logs: it follows the image, fetches, and may lead."""
        self._managers[node_id] = self._nodes[node_id].replicas
        self._update_publishers()
        self.fetchers.update_all()
        self._controller.replication.unfence(node_id)
        self.fetchers.update_all()

    def begin_balancing(self) -> None:
        """Elect preferred leaders every leader.imbalance.check.interval.seconds; no effect if that has begun."""
        config = self._controller.image.configs.current
        if config.auto_leader_rebalance_enable and self._balance is None:
            interval_ms = config.leader_imbalance_check_interval_seconds * 1000
            self._balance = self._clock.call_every(interval_ms, self._controller.replication.balance)

    def all_started(self) -> None:
        """Begin to fetch, and elect leaders of the partitions without one. All nodes have loaded their logs."""
        self._report_all_leaders()
        self.fetchers.update_all()
        self._controller.replication.elect_missing()

    # -- cut networks

    def isolate(self, node_id: int, isolated_from: Collection[Isolation]) -> None:
        """Cut a running node off. The controller fences it when its session expires."""
        before, after = self.isolated_from(node_id), self.isolated_from(node_id).union(isolated_from)
        self._isolated[node_id] = after
        node = self._nodes[node_id]
        if Isolation.CONTROLLER in after and Isolation.CONTROLLER not in before:
            self._lose_observer(node_id)
            self._update_publishers()
            node.keep_image()
            self._end_session(node_id, is_noticed=False)
        self.fetchers.update_all()

    def rejoin(self, node_id: int) -> None:
        """Connect a node again with everything. It takes over the metadata, truncates and catches up."""
        before = self._isolated.pop(node_id, frozenset[Isolation]())
        node = self._nodes[node_id]
        self._keep_session(node_id)
        if Isolation.CONTROLLER in before:
            self._controller.lost_observers.find_again(node_id)
            node.take_over_image()
            self._report_all_leaders()
            self.node_started(node_id)
        self.fetchers.update_all()
        node.controller_reached()

    # -- paused replicas

    def has_paused(self, node_id: int) -> bool:
        """Whether the replication of a replica of the node is paused."""
        return any(paused[0] == node_id for paused in self._paused)

    def is_paused(self, node_id: int, topic_id: bytes, index: int) -> bool:
        """Whether the replication of a replica is paused."""
        return (node_id, topic_id, index) in self._paused

    def set_paused(
        self, node_id: int, *, is_paused: bool, topic_name: str | None = None, index: int | None = None
    ) -> None:
        """Pause or resume the replication of replicas of a node, which may be down.

        topic_name, index: of all topics and partitions by default.
        """
        topics = [topic for topic in self._controller.image.topics.values() if topic_name in (None, topic.name)]
        replicas = {
            (node_id, topic.topic_id, registration.index)
            for topic in topics
            for registration in topic.partitions
            if index in (None, registration.index) and (not is_paused or node_id in registration.replicas)
        }
        if is_paused:
            self._paused |= replicas
        else:
            self._paused -= replicas
        self.fetchers.update_all()
