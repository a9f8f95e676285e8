"""The cluster as its clients see it: its node, its topics and their partitions, its coordinators."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ..protocol.error_codes import ErrorCode, KafkaError
from ..protocol.kafka_uuid import new_uuid, uuid_text
from ..storage.file_systems.memory_file_system import MemoryFileSystem
from ..storage.producers.emulated_version import EmulatedVersion
from .cluster_coordinators import ClusterCoordinators
from .config.broker_config import BrokerConfig
from .config.dynamic_configs import DynamicConfigs
from .metadata.topic import BrokerNode as BrokerNode
from .metadata.topic import Topic as Topic
from .metadata.topic import is_internal_name as is_internal_name
from .replica.partition import Partition
from .replica.producer_id_manager import ProducerIdManager
from .runtime.clock import AdjustableClock

if TYPE_CHECKING:
    from contextlib import ExitStack

    from ..storage.append_refused import AppendRefused
    from ..storage.append_result import AppendResult
    from ..storage.cleaning.log_cleaner import LogCleaner
    from ..storage.file_systems.file_system import FileSystem
    from ..storage.log_manager import LogManager
    from ..storage.partition_log import PartitionLog
    from .config.log_configs import LogConfigs
    from .coordinators.group.group_coordinator import GroupCoordinator
    from .coordinators.transaction.transaction_coordinator import TransactionCoordinator
    from .lifecycle.metadata_store import ClusterStorage
    from .replica.disk_fault_injector import FileFaults, MakeFileFaults
    from .replica.fetch_sessions import FetchSessions
    from .replica.produce_route import ProduceRoute
    from .requests.fault_ports import RequestObserver
    from .runtime.deferred import Deferred
    from .runtime.disk_executor import BlockingSteps
    from .runtime.event_loop_bridge import LoopThread

logger = logging.getLogger(__name__)

Response = TypeVar("Response")


class Cluster:
    """One node, and all it leads."""

    def __init__(
        self,
        config: BrokerConfig,
        *,
        clock: AdjustableClock | None = None,
        file_system: FileSystem | None = None,
        emulated_version: EmulatedVersion | None = None,
        file_faults: MakeFileFaults | None = None,
    ) -> None:
        """Start empty.

        clock: what every timeout and expiry reads; the machine's by default.
        file_system: where the logs are kept; in memory by default.
        emulated_version: whose producer rules hold; those of Kafka 4.3 by default.
        file_faults: makes what goes wrong with the files on purpose; nothing by default.
        """
        self.config = config
        self.dynamic_configs = DynamicConfigs(config)
        self.clock = clock or AdjustableClock()
        self.node_id = config.node_id
        self.cluster_id = uuid_text(new_uuid())
        self.topics: dict[str, Topic] = {}
        self.producer_ids = ProducerIdManager()
        self.coordinators = ClusterCoordinators(self)
        # What keeps all of this on disk; None in memory.
        self.storage: ClusterStorage | None = None
        # What is to be closed after the logs.
        self.folders: ExitStack | None = None
        # What loads the topics that a start in memory finds; None where it finds none.
        self.load_imported: Callable[[], None] | None = None
        # Who is told what happened to requests; None where nobody is.
        self.observer: RequestObserver | None = None
        self.produce_routes: dict[tuple[int, bytes], ProduceRoute] = {}
        self._topics_by_id: dict[bytes, Topic] = {}
        # Where the logs are kept, and the same with what goes wrong there on purpose.
        self.inner_files: FileSystem = file_system or MemoryFileSystem()
        self.file_system = self.inner_files
        # What goes wrong with the files on purpose, and how others wait for it; None where nothing does.
        self.file_faults: FileFaults | None = None
        self.loop_thread: LoopThread | None = None
        if file_faults is not None:
            self._instrument_files(file_faults)
        self._emulated_version = emulated_version or EmulatedVersion.latest()

    def _instrument_files(self, make_faults: MakeFileFaults) -> None:
        from .runtime.event_loop_bridge import LoopThread

        self.loop_thread = LoopThread(self.clock)
        self.file_faults = make_faults(self.clock.now_ms, self.loop_thread)
        self.file_system = self.file_faults.wrap(self.file_system)

    # What is loaded on its first use: a broker that starts has no clients and no topics yet, and is to start soon.

    @cached_property
    def fetch_sessions(self) -> FetchSessions:
        """The sessions of the clients that fetch."""
        from .replica.fetch_sessions import FetchSessions

        return FetchSessions(self.config.max_incremental_fetch_session_cache_slots)

    @cached_property
    def logs(self) -> LogManager:
        """All logs of the topics."""
        from ..storage.log_manager import LogManager

        return LogManager(self.file_system, self._emulated_version)

    @cached_property
    def _log_configs(self) -> LogConfigs:
        """What the logs of topics keep to."""
        from .config.log_configs import LogConfigs

        return LogConfigs(self.config)

    @cached_property
    def steps(self) -> BlockingSteps:
        """What runs steps that wait for a disk; there from the first one on."""
        from .runtime.disk_executor import BlockingSteps

        return BlockingSteps("fauxka-disk")

    @property
    def begun_steps(self) -> BlockingSteps | None:
        """What runs steps, if there was any step yet."""
        return self.steps if "steps" in vars(self) else None

    async def stop_steps(self) -> None:
        """Return when nothing is on its way to the disk any more, and nothing that is behind would go there."""
        if self.loop_thread is not None:
            self.loop_thread.release()
        if self.begun_steps is not None:
            await self.begun_steps.stop()

    def let_go(self) -> None:
        """Know nothing of what a node has in memory: its node died, and left its files as they are."""
        self.topics.clear()
        self._topics_by_id.clear()
        self.produce_routes.clear()
        self.storage = None
        self.coordinators = ClusterCoordinators(self)
        for made_on_use in ("fetch_sessions", "logs", "steps"):
            vars(self).pop(made_on_use, None)

    def make_cleaner(self) -> LogCleaner:
        """Return a new cleaner of the logs, which reads how far they were cleaned before. Raises OSError."""
        from ..storage.cleaning.log_cleaner import LogCleaner

        return LogCleaner(self.file_system, self.logs)

    @property
    def is_on_disk(self) -> bool:
        """Whether the logs outlive the process."""
        return self.file_system.is_persistent

    @property
    def groups(self) -> GroupCoordinator:
        """The group coordinator."""
        return self.coordinators.groups

    @property
    def transactions(self) -> TransactionCoordinator:
        """The transaction coordinator."""
        return self.coordinators.transactions

    def brokers(self) -> list[BrokerNode]:
        """Return the brokers of the cluster."""
        return [BrokerNode(self.node_id, self.config.broker_rack)]

    def find_topic(self, name: str) -> Topic | None:
        """Return the topic of that name, or None."""
        return self.topics.get(name)

    def find_topic_by_id(self, topic_id: bytes) -> Topic | None:
        """Return the topic of that id (16 bytes), or None."""
        return self._topics_by_id.get(topic_id)

    def topic_name_of(self, topic_id: bytes) -> str | None:
        """Return the name of the topic of that id (16 bytes), or None."""
        topic = self._topics_by_id.get(topic_id)
        return None if topic is None else topic.name

    @property
    def log_directory(self) -> str:
        """The folder that DescribeLogDirs tells: the data folder, or what was configured, where nothing is written."""
        return self.config.log_directory if self.storage is None else self.storage.folder

    def create_topic(self, name: str, partition_count: int, *, configs: Mapping[str, str] | None = None) -> Topic:
        """Create a topic whose name and configs were validated.

        Raises KafkaError: TOPIC_ALREADY_EXISTS; KAFKA_STORAGE_ERROR where its files cannot be made. There is none then.
        """
        if name in self.topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        topic = Topic(name, new_uuid(), dict(configs or {}))
        self.add_partitions(topic, partition_count)
        self.topics[name] = topic
        self._topics_by_id[topic.topic_id] = topic
        if self.observer is not None:
            self.observer.topic_created(name)
        return topic

    def restore_topic(self, topic: Topic, logs: Iterable[PartitionLog | None], *, is_clean: bool) -> None:
        """Take a topic without partitions that was there before the broker started, with the logs of its partitions.

        logs: None for one in memory that nobody has asked for.
        is_clean: whether nothing can be missing that was in them. If not, a new leader epoch begins, so that consumers
        find out that what they have read is not there any more; Kafka begins one with every start.
        """
        for index, log in enumerate(logs):
            partition = self._led(topic, index, log or self._new_log)
            # It never goes back: clients and the log itself would take the batches for older ones.
            latest_epoch = 0 if log is None else log.leader_epochs.latest_epoch
            partition.leader_epoch = max(0, latest_epoch if is_clean else latest_epoch + 1)
            topic.partitions.append(partition)
        self.topics[topic.name] = topic
        self._topics_by_id[topic.topic_id] = topic

    def add_partitions(self, topic: Topic, total: int) -> None:
        """Give the topic partitions until it has total of them.

        Raises KafkaError: KAFKA_STORAGE_ERROR where their files cannot be made; it has as many as before then.
        """
        before = len(topic.partitions)
        are_files_ruled = self.file_faults is not None and self.file_faults.is_armed
        if not self.is_on_disk and not are_files_ruled:
            topic.partitions += [self._led(topic, index, self._new_log) for index in range(before, total)]
            return
        log_config = self._log_configs.of(self.config, topic.configs)
        now_ms = self.clock.now_ms()
        # In memory nothing asks a folder whose it is.
        topic_id = topic.topic_id if self.is_on_disk else None
        try:
            for index in range(before, total):
                log = self.logs.create(topic.name, index, log_config, now_ms=now_ms, topic_id=topic_id)
                topic.partitions.append(self._led(topic, index, log))
        except OSError as error:
            for partition in topic.partitions[before:]:
                self._delete_log(partition)
            del topic.partitions[before:]
            message = f"cannot create the files of a partition of {topic.name}: {error.strerror or error}"
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, message) from error
        self.metadata_changed()

    def _new_log(self, partition: Partition) -> PartitionLog:
        """Return a new log in memory for the partition; for one that is deleted meanwhile, one that nobody else knows.

        In memory nothing asks a folder whose it is.
        """
        logs = self.logs
        topic = self.find_topic_by_id(partition.topic_id)
        if topic is None:
            logs = type(logs)(MemoryFileSystem(), self._emulated_version)
        log_config = self._log_configs.of(self.config, {} if topic is None else topic.configs)
        return logs.create(partition.topic_name, partition.index, log_config, now_ms=self.clock.now_ms())

    def _led(self, topic: Topic, index: int, log: PartitionLog | Callable[[Partition], PartitionLog]) -> Partition:
        partition = Partition(topic.name, topic.topic_id, index, log, self.node_id)
        if self.is_on_disk:
            log = partition.log
            # Loaded with the first log that can be made safe.
            from .replica.partition_flusher import PartitionFlusher

            partition.flusher = PartitionFlusher(log, partition, self.steps, self.clock)
        return partition

    def delete_topic(self, topic: Topic) -> None:
        """Delete the topic with its logs, and wake who waits for it."""
        self.delete_topics([topic])

    def delete_topics(self, topics: Sequence[Topic]) -> None:
        """Delete the topics with their logs, and wake who waits for them."""
        for partition in self.remove_topics(topics):
            partition.wake()

    def remove_topics(self, topics: Sequence[Topic]) -> list[Partition]:
        """Delete the topics with their logs, and return the partitions, which are to be woken."""
        self.produce_routes.clear()
        for topic in topics:
            del self.topics[topic.name]
            del self._topics_by_id[topic.topic_id]
        # The file goes first: a topic that it still has, without folders, would come back empty.
        self.metadata_changed()
        if self.storage is not None:
            self.storage.write()
        partitions = [partition for topic in topics for partition in topic.partitions]
        for partition in partitions:
            partition.is_deleted = True
            if partition.find_log() is not None:
                self._delete_log(partition)
        self.coordinators.topics_deleted(topics)
        return partitions

    def take_coordinators(self) -> ClusterCoordinators:
        """Let go of all groups, transactions and sessions; return the coordinators, which are to be unloaded."""
        vars(self).pop("fetch_sessions", None)
        taken, self.coordinators = self.coordinators, ClusterCoordinators(self)
        return taken

    def replace_files(self, file_system: FileSystem) -> None:
        """Keep logs there from now on; there is no topic any more."""
        assert not self.topics, "topics whose files would be lost"
        self.inner_files = file_system
        self.file_system = file_system if self.file_faults is None else self.file_faults.wrap(file_system)
        vars(self).pop("logs", None)

    def alter_topic_configs(self, topic: Topic, configs: Mapping[str, str]) -> None:
        """Replace what is set for the topic by configs, which were validated; they hold from the next append on."""
        topic.configs = dict(configs)
        log_config = self._log_configs.of(self.config, topic.configs)
        for partition in topic.partitions:
            log = partition.find_log()
            if log is not None:
                log.config = log_config
        self.metadata_changed()

    def apply_dynamic_configs(self) -> None:
        """Work by what dynamic_configs come to, as from the next request on; topics follow in what is not theirs."""
        self.config = self.dynamic_configs.effective()
        for topic in self.topics.values():
            self.alter_topic_configs(topic, topic.configs)
        self.metadata_changed()

    def reset_configs(self) -> None:
        """Work by what the broker was started with, as if nothing had been set since."""
        self.dynamic_configs = DynamicConfigs(self.dynamic_configs.started_with)
        self.config = self.dynamic_configs.started_with

    def claim_producer_ids(self) -> None:
        """Take the next block of producer ids, to be given from once it is saved; see when_saved."""
        if self.producer_ids.claim_block():
            self.metadata_changed()

    def keep_producer_ids_above(self, producer_id: int) -> None:
        """Give no producer id up to this one, which a log has."""
        if self.producer_ids.keep_above(producer_id):
            self.metadata_changed()

    def metadata_changed(self) -> None:
        """Have the metadata file follow what was changed beside its methods; without effect in memory."""
        if self.storage is not None:
            self.storage.changed()

    @property
    def is_saved(self) -> bool:
        """Whether what was changed is on disk, as far as it is to be; see when_saved."""
        return self.storage is None or self.storage.is_saved

    def when_saved(self, answer: Callable[[KafkaError | None], Response]) -> Response | Deferred[Response]:
        """Return the answer to a change, now or when what was changed is on disk; at once in memory.

        answer: makes it, given KAFKA_STORAGE_ERROR where the change is in force, but could not be written down yet.
        """
        if self.storage is None:
            return answer(None)
        return self.storage.when_saved(answer)

    def close(self) -> None:
        """Leave the data folder as a clean stop does, with nothing that a start would have to recover.

        It may wait for the disk. Nothing of the cluster is used after it.
        """
        if self.storage is not None:
            self.storage.close()
        if self.file_faults is not None:
            self.file_faults.machine_stopped()
        if self.folders is not None:
            self.folders.close()

    def _delete_log(self, partition: Partition) -> None:
        try:
            self.logs.delete(partition.topic_name, partition.index, now_ms=self.clock.now_ms(), unique_id=new_uuid())
        except OSError as error:
            # The next start puts its folder aside, as that of a partition that nobody knows.
            logger.error("cannot delete the files of %s-%d: %s", partition.topic_name, partition.index, error)

    def enforce_retention(self) -> None:
        """Drop the segments that are past retention.ms or retention.bytes."""
        self.logs.enforce_retention(self.clock.now_ms())

    def expire_producers(self) -> None:
        """Forget the producers that were idle for producer.id.expiration.ms."""
        self.logs.remove_expired_producers(self.clock.now_ms())

    def report_unflushed(self, request_id: int, partition: Partition) -> None:
        """Tell who observes the request that its batch for the partition is in the log, and answered as an error."""
        if self.observer is not None:
            self.observer.lied(
                request_id, frozenset([(partition.topic_name, partition.index)]), ErrorCode.KAFKA_STORAGE_ERROR
            )

    def report(self, partition: Partition, decision: AppendResult | AppendRefused) -> None:
        """Log why a batch was refused or not appended again, in one sentence with the numbers."""
        # Loaded with the first such batch, as the logs are with the first topic.
        from ..storage import append_decision

        words = append_decision.decision_in_words(decision)
        logger.info("%s-%d: %s", partition.topic_name, partition.index, words)
