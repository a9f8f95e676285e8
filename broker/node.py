"""One broker of a cluster: its replica manager, its coordinators and its fetch sessions.

A node follows the metadata image as a publisher of the controller. It is the only place that composes these parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..protocol.error_codes import ErrorCode
from ..storage.file_systems.file_system import FileSystem
from ..storage.producers.emulated_version import EmulatedVersion
from . import coordinators, replica, requests
from .config.broker_config import BrokerConfig
from .metadata.controller import Controller
from .metadata.metadata_image import MetadataImage, TopicImage
from .replica.disk_fault_injector import FileFaults, MakeFileFaults
from .replica.partition import Partition
from .replica.replica_manager import ReplicaManager
from .requests.fault_ports import PENDING, RequestObserver
from .requests.produce_routes import ProduceRoutes
from .runtime.clock import AdjustableClock
from .runtime.event_loop_bridge import EventLoopBridge
from .runtime.long_work import LongWork
from .security import acl

if TYPE_CHECKING:
    from ..faults.consumption.events import Event
    from .coordinators.coordinator_log import Appended
    from .coordinators.coordinators import Coordinators
    from .replica.fetch_sessions import FetchSessions
    from .requests.client_quotas import ClientQuotas
    from .requests.connection_info import Listener
    from .requests.consumption_observer import ConsumptionObserver
    from .requests.request_context import RequestContext
    from .security.acl.standard_authorizer import StandardAuthorizer


class Node:
    """One broker. It implements NodeServices for handlers and MetadataPublisher for the controller."""

    def __init__(
        self,
        node_id: int,
        controller: Controller,
        clock: AdjustableClock,
        file_system: FileSystem,
        make_file_faults: MakeFileFaults | None = None,
    ) -> None:
        """file_system: where the logs are. make_file_faults: creates the fault injector of its files, if any."""
        self.controller = controller
        self.image = controller.image
        self.clock = clock
        self.node_id = node_id
        self.configs = self.image.configs.nodes[node_id]
        # The journal, if there is one.
        self.observer: RequestObserver | None = None
        # Called when the broker's configs have changed, for the listeners.
        self.on_configs_changed: Callable[[], None] | None = None
        # Raises ConfigError for dynamic configs that a listener with TLS cannot have; None without such listeners.
        self.check_listener_configs: Callable[[Mapping[str, str]], None] | None = None
        self.inner_files = file_system
        self.event_loop_bridge: EventLoopBridge | None = None
        self.file_faults: FileFaults | None = None
        if make_file_faults is not None:
            self.event_loop_bridge = EventLoopBridge(clock)
            self.file_faults = make_file_faults(clock.steady_ms, self.event_loop_bridge)
            self.file_faults.node_id = node_id
        self.replicas = ReplicaManager(node_id, self.image, clock, self._with_faults(file_system), self.file_faults)
        self.produce_routes = ProduceRoutes()
        self.long_work = LongWork()
        # The bound listeners; none before the start.
        self.listeners: Sequence[Listener] = ()
        # Finds the other nodes of the cluster; see find_peer.
        self.find_node: Callable[[int], Node | None] = lambda _: None
        # What to call when the node reaches the controller again, by the request that waits for it.
        self.waiting_for_controller: dict[object, Callable[[], None]] = {}
        # Created with the first quota. A node that has had one measures until it is restarted or reset.
        self.client_quotas: ClientQuotas | None = None
        # Called when the first quota is set, for the dispatcher.
        self.on_client_quotas: Callable[[], None] | None = None
        # Called when the node follows another release, for the dispatcher.
        self.on_release_changed: Callable[[], None] | None = None
        # Called while a coordinator changes its state (CoordinatorLog), so that calls can wait for a state.
        self.on_coordinators_changed: Callable[[], None] | None = None
        self.authorizer = _authorizer_of(self.configs.static)
        self._coordinators: Coordinators | None = None
        self._fetch_sessions: FetchSessions | None = None

    def _with_faults(self, file_system: FileSystem) -> FileSystem:
        return file_system if self.file_faults is None else self.file_faults.wrap(file_system)

    @property
    def consumption(self) -> ConsumptionObserver | None:
        """What records deliveries and commits; None without a journal."""
        return None if self.observer is None else self.observer.consumption

    @property
    def emulated_version(self) -> EmulatedVersion:
        """The release that the node follows."""
        return self.replicas.emulated_version

    @property
    def config(self) -> BrokerConfig:
        """The configs that are in force now."""
        return self.configs.current

    def find_peer(self, node_id: int) -> Node | None:
        """Return the node of that id if this one can reach it now, or None. A node always reaches itself."""
        return self if node_id == self.node_id else self.find_node(node_id)

    @property
    def reaches_controller(self) -> bool:
        """Whether the node is not cut off from the controller."""
        return self.image is self.controller.image

    @property
    def coordinators(self) -> Coordinators:
        """The coordinators."""
        if self._coordinators is None:
            make = coordinators.coordinators.Coordinators
            self._coordinators = make(
                self.controller,
                self.replicas,
                self._find_peer_coordinators,
                self._coordinators_changed,
                self._report_consumption,
            )
        return self._coordinators

    def _coordinators_changed(self, appended: Appended) -> None:
        if appended is not None:
            self._report_consumption(appended)
        if self.on_coordinators_changed is not None:
            self.on_coordinators_changed()

    def _report_consumption(self, event: Event) -> None:
        if self.consumption is not None:
            self.consumption.add(event)

    def _find_peer_coordinators(self, node_id: int) -> Coordinators | None:
        peer = self.find_peer(node_id)
        return None if peer is None else peer.coordinators

    @property
    def fetch_sessions(self) -> FetchSessions:
        """The incremental fetch sessions of consumers (KIP-227)."""
        if self._fetch_sessions is None:
            slots = self.config.max_incremental_fetch_session_cache_slots
            self._fetch_sessions = replica.fetch_sessions.FetchSessions(slots)
        return self._fetch_sessions

    # -- MetadataPublisher

    def topic_created(self, topic: TopicImage) -> None:
        """Report the topic to the journal."""
        if self.observer is not None:
            self.observer.topic_created(topic.name)

    def partitions_created(self, topic: TopicImage, first_index: int) -> None:
        """Create the partitions from first_index on. Raises KafkaError KAFKA_STORAGE_ERROR."""
        self.replicas.create_partitions(topic, first_index)

    def partitions_taken_back(self, topic: TopicImage, first_index: int) -> None:
        """Delete the partitions from first_index on."""
        self.produce_routes.clear()
        self.replicas.take_back_partitions(topic, first_index)

    def apply_partitions(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        """Lead and follow the topic's partitions of these indexes as the image says."""
        self.produce_routes.clear()
        self.replicas.apply_registrations(topic, indexes)

    def leaders_changed(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        """Load and unload coordinators, after all nodes have applied the partitions."""
        if self._coordinators is not None or (topic.is_internal and self._leads_records(topic, indexes)):
            self.coordinators.leaders_changed(topic, indexes)

    def _leads_records(self, topic: TopicImage, indexes: Sequence[int]) -> bool:
        """Whether this node leads a partition of these that has records, which a coordinator must read."""
        partitions = self.replicas.partitions_of(topic)
        logs = [partitions[index].find_log() for index in indexes if partitions[index].is_leader]
        return any(log is not None and log.log_end_offset > log.log_start_offset for log in logs)

    def keep_image(self) -> None:
        """Keep the metadata as it is now, because the controller cannot be reached."""
        self._follow(self.image.copy())

    def _follow(self, image: MetadataImage) -> None:
        self.image, self.configs = image, image.configs.nodes[self.node_id]
        self.replicas.follow(image)

    def take_over_image(self) -> None:
        """Follow the image of the controller again, and apply what has changed since keep_image."""
        kept = self.image
        self._follow(self.controller.image)
        self.broker_configs_changed()
        self.client_quotas_changed()
        removed = [topic for topic in kept.topics.values() if self.image.find_topic_by_id(topic.topic_id) is None]
        self.topics_removed(removed)
        self.complete_waiting()
        for topic in self.image.topics.values():
            self.replicas.create_missing_partitions(topic)
            self.replicas.apply_topic_configs(topic)
            self.apply_partitions(topic, range(len(topic.partitions)))
            self.leaders_changed(topic, range(len(topic.partitions)))

    def controller_reached(self) -> None:
        """Handle the requests that have waited for the controller, after the node follows it again."""
        for reached in list(self.waiting_for_controller.values()):
            reached()

    def topics_removed(self, topics: Sequence[TopicImage]) -> None:
        """Delete the partitions of the topics, and what the coordinators store about them."""
        if self.observer is not None:
            # A node that could not reach the controller may delete a topic after a new one of its name was created.
            gone = {each.topic_id: each.name for each in topics if self.image.find_topic(each.name) is None}
            self.observer.topics_removed(gone)
        self.produce_routes.clear()
        self.replicas.remove_partitions(topics)
        if self._coordinators is not None:
            self._coordinators.topics_removed(topics)

    def complete_waiting(self) -> None:
        """Complete the requests that wait for removed partitions."""
        self.replicas.complete_waiting()

    def topic_configs_changed(self, topic: TopicImage) -> None:
        """Apply the topic's configs to its logs."""
        self.produce_routes.clear()
        self.replicas.apply_topic_configs(topic)

    def broker_configs_changed(self) -> None:
        """Apply the broker's configs to the listeners, and to the logs for what the topics do not set themselves."""
        if self.on_configs_changed is not None:
            self.on_configs_changed()
        for topic in self.image.topics.values():
            self.topic_configs_changed(topic)

    def client_quotas_changed(self) -> None:
        """Apply the client quotas of the image."""
        if self.client_quotas is not None:
            self.client_quotas.quotas_changed()
        elif self.image.has_client_quotas:
            self.client_quotas = requests.client_quotas.ClientQuotas(
                lambda: self.image.client_quotas, self.clock, self.config, self.controller.mutation_buckets
            )
            if self.on_client_quotas is not None:
                self.on_client_quotas()

    def drop_client_quotas(self) -> None:
        """Drop what clients have used of their quotas, because the node died or is reset."""
        self.client_quotas = None
        self.client_quotas_changed()

    # -- life

    def load_coordinators(self) -> None:
        """Read the coordinators' state from their topics, after the logs are loaded."""
        if any(topic.is_internal for topic in self.image.topics.values()):
            self.coordinators.load()

    def take_coordinators(self) -> Coordinators | None:
        """Detach the coordinators and the fetch sessions, and drop long work; the next use creates empty ones.

        Returns the detached coordinators for the caller to unload, or None if they were never used.
        """
        self.long_work.drop()
        taken = self._coordinators
        if taken is not None:
            taken.abandon()
        self._coordinators = self._fetch_sessions = None
        return taken

    def enforce_retention(self) -> None:
        """Delete the segments that are past retention.ms or retention.bytes, and report them to the journal."""
        self.replicas.enforce_retention()
        for partition in self.replicas.partitions():
            self.report_deleted(partition)

    def drop_memory(self) -> None:
        """Drop everything that is in memory, because the node died. The files are left as they are."""
        # It may have kept an older one.
        self.image = self.replicas.image = self.controller.image
        self.take_coordinators()
        self.produce_routes.clear()
        self.replicas.drop_memory()
        self.drop_client_quotas()
        # A node that was cut off from the controller reads its image when it starts again.
        self._follow(self.controller.image)

    def follow_release(self, version: EmulatedVersion) -> None:
        """Follow another release from the next start on, or from the next log on."""
        self.replicas.begin_logs(self.replicas.file_system, version)
        if self.on_release_changed is not None:
            self.on_release_changed()

    def replace_files(self, file_system: FileSystem) -> None:
        """Keep the logs in another file system. There must be no topic."""
        assert not self.image.topics, "topics whose files would be lost"
        self.inner_files = file_system
        self.replicas.begin_logs(self._with_faults(file_system), self.emulated_version)

    async def stop_disk_executor(self) -> None:
        """Return when no disk step runs or is queued any more."""
        if self.event_loop_bridge is not None:
            self.event_loop_bridge.release()
        steps = self.replicas.started_disk_executor
        if steps is not None:
            await steps.stop()

    # -- journal

    def report_deleted(self, partition: Partition) -> None:
        """Report to the journal what was deleted from the partition's log since the last call."""
        log = partition.find_log()
        for deleted in [] if log is None else log.deletions.take():
            # Each follower deletes the same records.
            if self.observer is not None and partition.is_leader:
                self.observer.records_deleted(partition.topic_name, partition.index, deleted)

    def report_applied_later(self, context: RequestContext, size: int) -> None:
        """Report the decisions on the batches of a long Produce to the journal. size: bytes of the frame."""
        if self.observer is not None:
            self.observer.applied_later(context.request_id, context, size, PENDING)
            if context.connection.is_closed:
                self.observer.unanswered(context.request_id)

    def report_unsafe(self, request_id: int, partition: Partition, error_code: ErrorCode) -> None:
        """Report to the journal that a batch is in the log, although its request failed with error_code."""
        # A partition of an earlier state is none of the topic that now has its name.
        if self.observer is not None and not partition.is_deleted:
            named = frozenset([(partition.topic_name, partition.index)])
            self.observer.response_replaced(request_id, named, error_code)


def _authorizer_of(config: BrokerConfig) -> StandardAuthorizer | None:
    if not config.authorizer_class_name:
        return None
    return acl.standard_authorizer.authorizer_of(config)
