"""A cluster from what is on disk: the folder is opened, its topics are found, and every log is loaded.

Nothing of this is loaded for a broker that starts empty in memory.
Source: LogManager.loadLogs and the stray partitions of BrokerMetadataPublisher, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from ...protocol.kafka_uuid import new_uuid
from ...storage.checkpoints.checkpoint_files import PARTITION_METADATA, encode_partition_metadata
from ...storage.corrupt_file import CorruptFileError
from ...storage.file_systems.file_system import FileSystem
from ...storage.file_systems.memory_file_system import MemoryFileSystem
from ...storage.file_systems.overlay_file_system import OverlayFileSystem
from ...storage.log_config import LogConfig
from ...storage.log_files import partition_folder
from ...storage.log_manager import StoredPartition
from ...storage.partition_log import PartitionLog
from ...storage.producers.emulated_version import EmulatedVersion
from ..cluster import Cluster
from ..config.broker_config import BrokerConfig, ConfigError
from ..metadata.cluster_metadata import ClusterMetadata, ConfigsMetadata, TopicMetadata
from ..metadata.metadata_image import TopicImage
from ..metadata.producer_id_manager import ProducerIdManager
from ..metadata.topic_config import log_config_of, validate_topic_configs
from ..replica.disk_fault_injector import MakeFileFaults
from ..runtime.clock import AdjustableClock
from .data_directory import DataDirectory, DataDirectoryError, NodeIdentity
from .log_import import ImportedLogs, compacted_topics, delete_unfinished_imports
from .metadata_store import MetadataFileStore, metadata_of
from .stored_topics import belongs_to, describe, topics_in_folders

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageOptions:
    """Where a broker keeps its logs, and what it starts with.

    data_dir: the data folder; None keeps everything in memory.
    import_logs: a folder of partition folders to serve; it is never written to.
    cluster_id: of a folder that is new, and checked against that of one that is not.
    """

    data_dir: str | None = None
    import_logs: str | None = None
    cluster_id: str | None = None


def load_cluster(
    config: BrokerConfig,
    options: StorageOptions,
    *,
    clock: AdjustableClock | None = None,
    emulated_version: EmulatedVersion | None = None,
    file_faults: MakeFileFaults | None = None,
) -> Cluster:
    """Return the cluster that is in the folders of options, with every log loaded and recovered.

    file_faults: see Cluster. Raises DataDirectoryError, in one line, where that cannot be; no folder is left open then.
    """

    def new_cluster(file_system: FileSystem) -> Cluster:
        return Cluster(
            config, clock=clock, file_system=file_system, emulated_version=emulated_version, file_faults=file_faults
        )

    with ExitStack() as opened:
        try:
            imported = None
            if options.import_logs is not None:
                imported = ImportedLogs(options.import_logs)
                opened.callback(imported.close)
            if options.data_dir is not None:
                directory = DataDirectory(options.data_dir, NodeIdentity(config.node_id, options.cluster_id))
                opened.callback(directory.close)
                cluster = new_cluster(directory.file_system)
                directory.file_system = cluster.node.replicas.file_system
                _load_directory(cluster, directory, imported)
            else:
                assert imported is not None, "there is nothing to load"
                cluster = new_cluster(OverlayFileSystem(imported.file_system, MemoryFileSystem()))
                _load_over(cluster, imported, options.cluster_id)
                cluster.load_imported = partial(_load_imported, cluster, imported)
        except (OSError, CorruptFileError, ConfigError) as error:
            raise DataDirectoryError(f"cannot load the logs: {error}") from error
        cluster.folders = opened.pop_all()
    return cluster


def _load_imported(cluster: Cluster, imported: ImportedLogs) -> None:
    """Load what is imported once more, with nothing that was written since. Raises OSError, ConfigError."""
    cluster.node.replace_files(OverlayFileSystem(imported.file_system, MemoryFileSystem()))
    _load_over(cluster, imported, None)


def _load_over(cluster: Cluster, imported: ImportedLogs, cluster_id: str | None) -> None:
    """Load what is imported, to be served with everything new in memory."""
    if cluster_id is not None:
        cluster.image.cluster_id = cluster_id
    topics = topics_in_folders(
        cluster.node.replicas.logs.partitions_on_disk(), compacted_topics(cluster.node.replicas.file_system)
    )
    logger.info("serving the logs in %s, where nothing is written: %s", imported.folder, describe(topics))
    TopicLoader(cluster).load(topics)
    cluster.controller.producer_ids = ProducerIdManager(_highest_producer_id(cluster, topics) + 1)


def _load_directory(cluster: Cluster, directory: DataDirectory, imported: ImportedLogs | None) -> None:
    """Load what the data folder has, and what is imported into it; from then on the folder follows the cluster."""
    cluster.image.cluster_id = directory.cluster_id
    cluster.node.replicas.log_directory = directory.folder
    delete_unfinished_imports(directory.file_system)
    metadata = directory.metadata
    found = (
        []
        if metadata is not None
        else topics_in_folders(cluster.node.replicas.logs.partitions_on_disk(), compacted_topics(directory.file_system))
    )
    if metadata is None:
        metadata = ClusterMetadata(directory.cluster_id, topics=tuple(found))
        if found:
            logger.warning(
                "%s has no metadata file; its topics are taken from their folders: %s",
                directory.folder,
                describe(found),
            )
    if imported is not None:
        brought = imported.copy_into(directory, metadata)
        logger.info("copied from %s: %s", imported.folder, describe(brought))
        found += brought
    restore_configs(cluster, metadata.configs)
    TopicLoader(cluster).load([*metadata.topics, *found])
    first_producer_id = max(metadata.next_producer_id, _highest_producer_id(cluster, found) + 1)
    cluster.controller.producer_ids = ProducerIdManager(first_producer_id, is_kept=True)
    cluster.controller.store = store = MetadataFileStore(cluster, directory)
    if metadata_of(cluster.controller) != directory.metadata:
        store.write_now()


def recover_cluster(cluster: Cluster, metadata: ClusterMetadata, directory: DataDirectory | None) -> None:
    """Load again what a node left that died: its logs, recovered, and what goes with them.

    metadata: of a node in memory, whose configs are still in force. directory: of one on disk, which is read again.
    Raises OSError, CorruptFileError, ConfigError, DataDirectoryError.
    """
    if directory is None:
        restore_logs(cluster, metadata.topics)
        cluster.controller.producer_ids = ProducerIdManager(cluster.controller.producer_ids.next_kept)
    else:
        directory.reload()
        cluster.image.configs.reset()
        _load_directory(cluster, directory, None)
    cluster.node.load_coordinators()


def restore_logs(cluster: Cluster, topics: Iterable[TopicMetadata]) -> None:
    """Load the logs that are in the cluster's files, recovered, for a cluster without topics. Raises as TopicLoader."""
    TopicLoader(cluster).load(topics)


class TopicLoader:
    """Loads topics with all their logs, and makes the folders agree with them."""

    def __init__(self, cluster: Cluster) -> None:
        """Load nothing yet, and read the checkpoints; see LogManager.prepare_loading."""
        self._replicas = cluster.node.replicas
        self._controller = cluster.controller
        self._now_ms = cluster.clock.now_ms()
        self._is_clean = cluster.node.replicas.logs.prepare_loading()
        self._log_configs: dict[tuple[tuple[str, str], ...], LogConfig] = {}

    def load(self, topics: Iterable[TopicMetadata]) -> None:
        """Put the folders of other partitions aside, and load or create those of the topics.

        Raises OSError, CorruptFileError; ConfigError where a topic has a config that Kafka would refuse.
        """
        known = {topic.name: topic for topic in topics}
        stored: dict[tuple[str, int], StoredPartition] = {}
        for each in self._replicas.logs.partitions_on_disk():
            topic = known.get(each.topic_name)
            if topic is None or each.partition >= topic.partition_count or not belongs_to(each, topic.topic_id):
                self._set_aside(each)
            else:
                stored[each.topic_name, each.partition] = each
        for topic in known.values():
            log_config = self._log_config_of(topic)
            logs = [
                self._log_of(topic, index, log_config, stored.get((topic.name, index)))
                for index in range(topic.partition_count)
            ]
            self._restore(topic, logs)
        if known:
            how = "after a clean stop" if self._is_clean else "recovered, as there was no clean stop"
            logger.info(
                "%d topics with %d partitions, %s",
                len(known),
                sum(topic.partition_count for topic in known.values()),
                how,
            )

    def _restore(self, topic: TopicMetadata, logs: list[PartitionLog | None]) -> None:
        """Add a stored topic to the image, and its logs to the replica manager.

        A new leader epoch begins where records may be missing, so that consumers detect the truncation. Kafka begins
        one with every start-up. The epoch never decreases: clients and logs would take its batches for older ones.
        """
        restored = TopicImage(topic.name, topic.topic_id, topic.configs)
        for index, log in enumerate(logs):
            latest_epoch = 0 if log is None else log.leader_epochs.latest_epoch
            epoch = max(0, latest_epoch if self._is_clean else latest_epoch + 1)
            restored.partitions.append(self._controller.new_partition(index, epoch))
        self._replicas.load_partitions(restored, logs)
        self._controller.image.add_topic(restored)

    def _set_aside(self, stored: StoredPartition) -> None:
        folder = self._replicas.logs.rename_to_stray(stored.topic_name, stored.partition, new_uuid())
        logger.warning(
            "%s belongs to no topic that is known here, and is now %s",
            *(partition_folder(stored.topic_name, stored.partition), folder),
        )

    def _log_config_of(self, topic: TopicMetadata) -> LogConfig:
        """Return what the logs of the topic keep to; most topics have the same."""
        key = tuple(sorted(topic.configs.items()))
        if key not in self._log_configs:
            try:
                validate_topic_configs(self._replicas.config, topic.configs)
            except ConfigError as error:
                raise ConfigError(f"topic {topic.name}: {error}") from error
            self._log_configs[key] = log_config_of(self._replicas.config, topic.configs)
        return self._log_configs[key]

    def _log_of(
        self, topic: TopicMetadata, index: int, log_config: LogConfig, stored: StoredPartition | None
    ) -> PartitionLog | None:
        logs, now_ms = self._replicas.logs, self._now_ms
        folder = partition_folder(topic.name, index)
        if stored is None:
            if not self._replicas.is_on_disk:
                # In memory a folder is made with its log, which nobody has asked for.
                return None
            logger.warning("%s has no folder, and begins anew, empty", folder)
            return logs.create(topic.name, index, log_config, now_ms=now_ms, topic_id=topic.topic_id)
        if stored.topic_id is None and self._replicas.is_on_disk:
            logger.warning("%s has no %s that can be read; it is written anew", folder, PARTITION_METADATA)
            self._replicas.file_system.replace(
                f"{folder}/{PARTITION_METADATA}", encode_partition_metadata(topic.topic_id)
            )
        return logs.load(topic.name, index, log_config, now_ms=now_ms)


def restore_configs(cluster: Cluster, configs: ConfigsMetadata | None) -> None:
    """Put into force what was set while the broker ran before. Raises ConfigError."""
    if configs is None:
        return
    dynamic = cluster.image.configs
    dynamic.broker_configs = configs.broker_configs
    dynamic.default_broker_configs = configs.default_broker_configs
    dynamic.group_configs = configs.group_configs
    dynamic.client_metrics_configs = configs.client_metrics_configs
    dynamic.apply()


def _highest_producer_id(cluster: Cluster, topics: Iterable[TopicMetadata]) -> int:
    """Return the greatest producer id that any log knows, or that is in any batch of the topics; or -1.

    topics: those of which no file tells what was given.
    """
    replicas, image = cluster.node.replicas, cluster.image
    logs = [partition.log for topic in topics for partition in replicas.partitions_of(image.topics[topic.name])]
    return max(
        [cluster.node.replicas.logs.highest_producer_id(), *(log.segments.highest_producer_id() for log in logs)]
    )
