"""The partitions and logs of one node: create, find, delete (Kafka: ReplicaManager and LogManager).

Every node has every partition of the cluster; it leads some, and has a log of those with a replica on it.
Partitions are found by topic id and index. A partition on disk has its log from the start. A partition in memory
creates its log on first use, because most partitions of a test are never used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ... import storage
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.kafka_uuid import new_uuid
from ...storage.file_systems.file_system import FileSystem
from ...storage.file_systems.memory_file_system import MemoryFileSystem
from ...storage.log_config import LogConfig, Records
from ...storage.producers.emulated_version import EmulatedVersion
from .. import replica
from ..config.broker_config import BrokerConfig
from ..metadata.metadata_image import MetadataImage, PartitionRegistration, TopicImage
from ..metadata.topic_config import LogConfigCache
from ..runtime.clock import AdjustableClock
from ..runtime.disk_executor import DiskExecutor
from .disk_fault_injector import FileFaults
from .partition import Partition
from .partition_flusher import PartitionFlusher

if TYPE_CHECKING:
    from ...storage.append_refused import AppendRefused
    from ...storage.append_result import AppendResult
    from ...storage.log_manager import LogManager
    from ...storage.partition_log import PartitionLog
    from ..runtime.expirations import Kind
    from .replication import AlterIsr, FetchLater

logger = logging.getLogger(__name__)

_NO_PARTITIONS: list[Partition] = []


class ReplicaManager:
    """The partitions of the cluster as one node sees them, and the logs of its replicas."""

    def __init__(
        self,
        node_id: int,
        image: MetadataImage,
        clock: AdjustableClock,
        file_system: FileSystem,
        file_faults: FileFaults | None = None,
    ) -> None:
        """file_system: where the logs are. file_faults: the fault injector of file_system, if it has one."""
        self.node_id = node_id
        # The release that the node follows.
        self.emulated_version = image.emulated_version
        self.image = image
        self.configs = image.configs.nodes[node_id]
        self.clock = clock
        self.file_system = file_system
        # What DescribeLogDirs returns: the data folder, or the configured folder if nothing is written.
        self.log_directory = self.config.log_directory
        # 16 bytes, as in meta.properties.
        self.log_directory_id = new_uuid()
        # Ports of the replication. A cluster of one node has no followers.
        self.alter_isr: AlterIsr = lambda partition, isr: False
        self.fetch_later: FetchLater = lambda leader: None
        # Called with topic name, partition and offset before the records of a replica from there on are removed.
        self.before_removal: Callable[[str, int, int], None] = lambda topic, index, offset: None
        self._file_faults = file_faults
        self._log_configs = LogConfigCache(self.config)
        self._partitions: dict[bytes, list[Partition]] = {}
        # Removed partitions whose waiting requests are not completed yet.
        self._removed: list[Partition] = []

    @property
    def config(self) -> BrokerConfig:
        """The configs of the broker that are in force now."""
        return self.configs.current

    @cached_property
    def logs(self) -> LogManager:
        """All logs of the node. The modules of logs are loaded with the first one."""
        return self._new_log_manager(self.file_system)

    def _new_log_manager(self, file_system: FileSystem) -> LogManager:
        return storage.log_manager.LogManager(file_system, self.emulated_version)

    @cached_property
    def disk_executor(self) -> DiskExecutor:
        """The threads that wait for the disk; started with the first step."""
        return DiskExecutor("fauxka-disk")

    @property
    def started_disk_executor(self) -> DiskExecutor | None:
        """The disk threads, or None if no step was ever run."""
        return self.disk_executor if "disk_executor" in vars(self) else None

    @property
    def is_on_disk(self) -> bool:
        """Whether the logs outlive the process."""
        return self.file_system.is_persistent

    # -- lookup

    def find_partition(self, topic_id: bytes, index: int) -> Partition | None:
        """Return the partition of the topic id (16 bytes) and index, or None."""
        partitions = self._partitions.get(topic_id, _NO_PARTITIONS)
        return partitions[index] if 0 <= index < len(partitions) else None

    def find_partition_by_name(self, topic_name: str, index: int) -> Partition | None:
        """Return the partition of the topic name and index, or None."""
        topic = self.image.find_topic(topic_name)
        return None if topic is None else self.find_partition(topic.topic_id, index)

    def partition_of(self, topic_name: str, index: int) -> Partition:
        """Return the partition of the topic name and index. Raises KafkaError UNKNOWN_TOPIC_OR_PARTITION."""
        partition = self.find_partition_by_name(topic_name, index)
        if partition is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {topic_name}-{index}")
        return partition

    def partitions_of(self, topic: TopicImage) -> Sequence[Partition]:
        """Return the topic's partitions in the order of their indexes."""
        return self._partitions.get(topic.topic_id, _NO_PARTITIONS)

    def partitions(self) -> Iterator[Partition]:
        """Yield all partitions, in the order of the image."""
        for topic in self.image.topics.values():
            yield from self.partitions_of(topic)

    # -- changes of the image

    def follow(self, image: MetadataImage) -> None:
        """Read another image from now on: the controller's, or a copy while the controller cannot be reached."""
        self.image, self.configs = image, image.configs.nodes[self.node_id]

    def create_partitions(self, topic: TopicImage, first_index: int) -> None:
        """Create the topic's partitions from first_index on.

        Raises KafkaError KAFKA_STORAGE_ERROR where their files cannot be created; none of them exists then.
        """
        created: list[Partition] = []
        has_file_rules = self._file_faults is not None and self._file_faults.is_armed
        try:
            for registration in topic.partitions[first_index:]:
                is_created_now = (self.is_on_disk or has_file_rules) and self.node_id in registration.replicas
                log = self._create_log(topic, registration.index) if is_created_now else self._create_log_on_use
                created.append(self._new_partition(topic, registration, log))
        except OSError as error:
            for partition in created:
                self._delete_log(partition)
            message = f"cannot create the files of a partition of {topic.name}: {error.strerror or error}"
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, message) from error
        self._partitions.setdefault(topic.topic_id, []).extend(created)

    def create_missing_partitions(self, topic: TopicImage) -> None:
        """Create the topic's partitions that this node does not have yet, because it did not reach the controller.

        A replica whose files cannot be created has no log. It tries again with each fetch.
        """
        partitions = self._partitions.setdefault(topic.topic_id, [])
        for registration in topic.partitions[len(partitions) :]:
            partition = self._new_partition(topic, registration, self._create_log_on_use)
            if self.is_on_disk and partition.has_replica:
                self._add_replica(topic, partition)
            partitions.append(partition)

    def take_back_partitions(self, topic: TopicImage, first_index: int) -> None:
        """Delete the topic's partitions from first_index on. Requests that wait for them wait for complete_waiting."""
        partitions = self._partitions.get(topic.topic_id, _NO_PARTITIONS)
        self._remove(partitions[first_index:])
        del partitions[first_index:]

    def load_partitions(self, topic: TopicImage, logs: Iterable[PartitionLog | None]) -> None:
        """Add the partitions of a topic whose logs were loaded; None for a log in memory that was never used."""
        partitions = self._partitions[topic.topic_id] = list[Partition]()
        for registration, log in zip(topic.partitions, logs, strict=True):
            if log is not None and len(registration.replicas) > 1:
                checkpointed = self.logs.checkpointed_high_watermark(topic.name, registration.index)
                log.replicated_offset = min(checkpointed, log.log_end_offset)
            partitions.append(self._new_partition(topic, registration, log or self._create_log_on_use))

    def remove_partitions(self, topics: Iterable[TopicImage]) -> None:
        """Delete the topics' partitions with their logs. Requests that wait for them wait until complete_waiting."""
        for topic in topics:
            self._remove(self._partitions.pop(topic.topic_id, _NO_PARTITIONS))

    def _remove(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            partition.is_deleted = True
            self._delete_log(partition)
            self._removed.append(partition)

    def complete_waiting(self) -> None:
        """Complete the requests that wait for removed partitions."""
        removed, self._removed = self._removed, []
        for partition in removed:
            if partition.replication is not None:
                partition.replication.end_writes(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                partition.replication = None
            partition.wake()

    def apply_topic_configs(self, topic: TopicImage) -> None:
        """Apply the topic's configs to its logs, from the next append on."""
        log_config = self._log_config_of(topic)
        for partition in self.partitions_of(topic):
            log = partition.find_log()
            if log is not None:
                log.config = log_config
                if partition.replication is not None:
                    # min.insync.replicas may be lower.
                    partition.replication.advance()

    def apply_registrations(self, topic: TopicImage, indexes: Iterable[int] | None = None) -> None:
        """Lead and follow the topic's partitions as the image says. indexes: all by default."""
        partitions = self.partitions_of(topic)
        for index in range(len(partitions)) if indexes is None else indexes:
            self._apply_registration(topic, partitions[index], topic.partitions[index])

    def truncate_log(self, partition: Partition, end_offset: int) -> None:
        """Remove the records from end_offset on. Raises OSError."""
        now_ms, ahead_ms = self.clock.now_ms(), self.clock.most_ahead_ms
        name = partition.topic_name, partition.index
        self.before_removal(*name, end_offset)
        partition.replace_log(self.logs.truncate(*name, end_offset, now_ms=now_ms, ahead_ms=ahead_ms))

    def restart_log(self, partition: Partition, offset: int) -> None:
        """Remove all records, and start the log at offset. Raises OSError."""
        name = partition.topic_name, partition.index
        partition.replace_log(self.logs.restart_at(*name, offset, now_ms=self.clock.now_ms()))

    def shrink_isrs(self) -> None:
        """Propose ISRs without the replicas that have been behind for replica.lag.time.max.ms."""
        lag_max_ms = self.config.replica_lag_time_max_ms
        for partition in self.partitions():
            if partition.replication is not None:
                partition.replication.shrink_isr(lag_max_ms)

    # -- life of the node

    def drop_memory(self) -> None:
        """Drop everything that is in memory, because the node died. The files are left as they are."""
        self._partitions.clear()
        self._removed.clear()
        for made_on_use in ("logs", "disk_executor"):
            vars(self).pop(made_on_use, None)

    def begin_logs(self, file_system: FileSystem, version: EmulatedVersion) -> None:
        """Keep the logs in a file system, by the rules of a release. There must be no log."""
        self.file_system, self.emulated_version = file_system, version
        vars(self).pop("logs", None)

    # -- recurring work

    def enforce_retention(self) -> None:
        """Delete the segments that are past retention.ms or retention.bytes."""
        self._note_expired("segments", self.logs.enforce_retention(self.clock.now_ms()))

    def expire_producers(self) -> None:
        """Remove the producers that were idle for producer.id.expiration.ms."""
        self._note_expired("producers", self.logs.remove_expired_producers(self.clock.now_ms()))

    def _note_expired(self, kind: Kind, counts: Mapping[str, int]) -> None:
        for name, count in counts.items():
            self.clock.note_expired(kind, name, count)

    def log_decision(self, partition: Partition, decision: AppendResult | AppendRefused) -> None:
        """Log why a batch was refused, or recognised as a duplicate."""
        text = storage.append_decision.describe_decision(decision)
        logger.info("%s-%d: %s", partition.topic_name, partition.index, text)

    # -- logs

    def _new_partition(
        self,
        topic: TopicImage,
        registration: PartitionRegistration,
        log: PartitionLog | Callable[[Partition], PartitionLog],
    ) -> Partition:
        make = self._partition_type_of(topic)
        if self._has_generated_records(topic) and self.node_id in registration.replicas:
            # A log that was loaded is empty.
            log = self._create_log(topic, registration.index)
        partition = make(topic.name, topic.topic_id, registration.index, log, registration.leader_epoch)
        self._apply_registration(topic, partition, registration)
        self._add_flusher(partition, partition.find_log())
        return partition

    def _partition_type_of(self, topic: TopicImage) -> type[Partition]:
        if topic.configs and self._log_config_of(topic).records is Records.DISCARDED:
            return replica.discarding_partition.DiscardingPartition
        return Partition

    def _has_generated_records(self, topic: TopicImage) -> bool:
        return bool(topic.configs) and self._log_config_of(topic).records is Records.GENERATED

    def _log_config_of(self, topic: TopicImage) -> LogConfig:
        return self._log_configs.get(self.config, topic.configs)

    def _add_flusher(self, partition: Partition, log: PartitionLog | None) -> None:
        if self.is_on_disk and log is not None:
            partition.flusher = PartitionFlusher(log, partition, self.disk_executor, self.clock)

    def _apply_registration(self, topic: TopicImage, partition: Partition, registration: PartitionRegistration) -> None:
        """Lead or follow a partition. Source: ReplicaManager.applyDelta, Kafka 4.3.0."""
        is_new_epoch = partition.leader_epoch != registration.leader_epoch
        partition.leader_id, partition.leader_epoch = registration.leader_id, registration.leader_epoch
        partition.is_leader = registration.leader_id == self.node_id
        had_replica, partition.has_replica = partition.has_replica, self.node_id in registration.replicas
        self._set_replicated(partition, is_replicated=len(registration.replicas) > 1)
        if had_replica and not partition.has_replica:
            self._remove_replica(partition)
        elif partition.has_replica and not had_replica and self.is_on_disk:
            self._add_replica(topic, partition)
        if is_new_epoch and partition.is_leader:
            self._begin_epoch(partition)
        self._replicate(partition, registration, is_new_epoch=is_new_epoch)
        if is_new_epoch and not partition.is_leader:
            # A Fetch that waits at a follower which becomes the leader goes on, and ends with its time.
            partition.wake()

    def _replicate(self, partition: Partition, registration: PartitionRegistration, *, is_new_epoch: bool) -> None:
        """Begin, continue or end the replication of a partition as its leader."""
        before = partition.replication
        if not partition.is_leader or not partition.is_replicated:
            partition.replication = None
            if before is not None and partition.is_leader:
                before.end_writes(ErrorCode.NONE)
            elif before is not None:
                before.end_writes(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return
        if before is None or is_new_epoch:
            replicate = replica.replication.Replication
            partition.replication = replicate(partition, self.node_id, self.clock, self.alter_isr, self.fetch_later)
            if before is not None:
                partition.replication.continue_writes_of(before)
        assert partition.replication is not None, "the leader of replicas"
        partition.replication.apply(registration)

    def _set_replicated(self, partition: Partition, *, is_replicated: bool) -> None:
        """Note whether others have a replica. Before the first of them, consumers could read the whole log."""
        log, partition.is_replicated = partition.find_log(), is_replicated
        if log is not None and is_replicated is (log.replicated_offset is None):
            log.replicated_offset = log.log_end_offset if is_replicated else None

    def _begin_epoch(self, partition: Partition) -> None:
        """Note where the epoch of this leader begins."""
        log = partition.find_log()
        if log is not None:
            try:
                log.assign_leader_epoch(partition.leader_epoch)
            except OSError as error:
                partition.storage_failed("append", error)

    def _remove_replica(self, partition: Partition) -> None:
        """Delete the log of a replica that was moved to another node."""
        self._delete_log(partition)
        partition.forget_log(self._create_log_on_use)

    def _add_replica(self, topic: TopicImage, partition: Partition) -> None:
        """Create the log of a replica that was moved to this node."""
        try:
            partition.set_log(self._create_log(topic, partition.index))
        except OSError as error:
            partition.storage_failed("append", error)
            return
        self._add_flusher(partition, partition.log)

    def _create_log(self, topic: TopicImage, index: int) -> PartitionLog:
        # The folder of a single node in memory needs no topic id: it has no folder of a topic that was deleted.
        topic_id = topic.topic_id if self.is_on_disk or len(self.image.brokers) > 1 else None
        log_config = self._log_config_of(topic)
        if self._has_generated_records(topic):
            return storage.generated_log.GeneratedLog(topic.name, index, log_config)
        return self.logs.create(topic.name, index, log_config, now_ms=self.clock.now_ms(), topic_id=topic_id)

    def _create_log_on_use(self, partition: Partition) -> PartitionLog:
        topic = self.image.find_topic_by_id(partition.topic_id)
        if topic is not None:
            log = self._create_log(topic, partition.index)
            self._add_flusher(partition, log)
            return log
        # The topic was deleted while a request is using the partition: the request gets a log that is thrown away.
        logs = self._new_log_manager(MemoryFileSystem())
        log_config = self._log_configs.get(self.config, {})
        return logs.create(partition.topic_name, partition.index, log_config, now_ms=self.clock.now_ms())

    def _delete_log(self, partition: Partition) -> None:
        if partition.find_log() is None:
            return
        try:
            self.logs.delete(partition.topic_name, partition.index, now_ms=self.clock.now_ms(), unique_id=new_uuid())
        except OSError as error:
            # The next start-up moves its folder aside, because no topic has it.
            logger.error("cannot delete the files of %s-%d: %s", partition.topic_name, partition.index, error)
