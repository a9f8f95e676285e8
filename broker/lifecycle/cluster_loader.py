"""Loads a cluster from a data folder or from imported logs: finds the topics, then loads and recovers every log.

Start-up with a data folder: lock the folder, read the metadata file or its copy, delete unfinished imports, copy the
imported logs, restore the configs, load the topics, start the producer ids above every id in use, and write the
metadata file.
Source: LogManager.loadLogs and the stray partitions of BrokerMetadataPublisher, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

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
from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError
from ..metadata.cluster_metadata import INT64_MAX, ClusterMetadata, TopicMetadata
from ..metadata.controller import new_partition
from ..metadata.metadata_image import PartitionRegistration, TopicImage, is_internal_topic
from ..metadata.topic_config import log_config_of, validate_topic_configs
from ..node import Node
from ..replica.disk_fault_injector import MakeFileFaults
from ..runtime.clock import AdjustableClock
from .data_directory import DataDirectory, DataDirectoryError, NodeIdentity
from .log_import import ImportedLogs, compacted_topics, delete_unfinished_imports
from .metadata_store import MetadataFileStore, metadata_of, topics_of
from .node_directories import NodeDirectories
from .storage_options import StorageOptions
from .stored_topics import belongs_to, complete_topics, describe_topics, is_damaged, topics_in_folders

if TYPE_CHECKING:
    from .node_import import ImportedNodes

logger = logging.getLogger(__name__)

# Added to the next producer id and the metadata offset after a start from the copy of the metadata, which may lack the
# last changes. More than a broker uses until the copy is written: both must never decrease.
NUMBERS_SKIPPED = 1_000_000


def load_cluster(
    config: BrokerConfig,
    options: StorageOptions,
    *,
    clock: AdjustableClock | None = None,
    emulated_version: EmulatedVersion | None = None,
    file_faults: MakeFileFaults | None = None,
) -> Cluster:
    """Load the cluster from the folders of options, and recover every log. file_faults: see Cluster.

    Raises DataDirectoryError with a message of one line; no folder stays locked then.
    """

    def new_cluster(file_system: FileSystem) -> Cluster:
        return Cluster(
            config, clock=clock, file_system=file_system, emulated_version=emulated_version, file_faults=file_faults
        )

    with ExitStack() as opened:
        try:
            imported = None
            if len(options.import_logs) == 1:
                imported = ImportedLogs(options.import_logs[0])
                opened.callback(imported.close)
            if len(options.import_logs) > 1:
                cluster = _import_nodes(new_cluster, options, config.node_id, opened)
            elif len(options.racks) > 1:
                assert options.data_dir is not None, "several nodes in memory have nothing to load"
                directories = NodeDirectories(options.data_dir, config.node_id, len(options.racks), options.cluster_id)
                opened.callback(directories.close)
                cluster = new_cluster(directories.nodes[0].file_system)
                load_nodes(cluster, directories, options.racks)
            elif options.data_dir is not None:
                directory = DataDirectory(options.data_dir, NodeIdentity(config.node_id, options.cluster_id))
                opened.callback(directory.close)
                cluster = new_cluster(directory.file_system)
                directory.file_system = cluster.node.replicas.file_system
                _load_directory(cluster, directory, imported)
            else:
                assert imported is not None, "no folder to load"
                cluster = new_cluster(OverlayFileSystem(imported.file_system, MemoryFileSystem()))
                _load_imported(cluster, imported, options.cluster_id)
                cluster.load_imported = partial(_reload_imported, cluster, imported)
        except (OSError, CorruptFileError, ConfigError) as error:
            raise DataDirectoryError(f"cannot load the logs: {error}") from error
        cluster.folders = opened.pop_all()
    return cluster


def _import_nodes(
    new_cluster: Callable[[FileSystem], Cluster], options: StorageOptions, first_node_id: int, opened: ExitStack
) -> Cluster:
    """Create a cluster with the imported logs of each node. opened: unlocks their folders."""
    # The import of one broker's logs needs no election.
    from .node_import import ImportedNodes

    folders = ImportedNodes(options.import_logs, first_node_id)
    opened.callback(folders.close)
    cluster = new_cluster(folders.new_files(first_node_id))
    for node_id, rack in enumerate(options.racks[1:], start=first_node_id + 1):
        cluster.add_node(rack, folders.new_files(node_id))
    cluster.image.cluster_id = options.cluster_id or cluster.image.cluster_id
    _load_imported_nodes(cluster, folders)
    cluster.load_imported = partial(_reload_imported_nodes, cluster, folders)
    return cluster


def _reload_imported_nodes(cluster: Cluster, folders: ImportedNodes) -> None:
    """Load the imported logs of all nodes again, without later changes. Raises OSError, ConfigError."""
    for node in cluster.nodes:
        node.replace_files(folders.new_files(node.node_id))
    _load_imported_nodes(cluster, folders)
    publish = cluster.controller.publish_partitions
    assert publish is not None, "several nodes"
    for topic in cluster.image.topics.values():
        # The nodes are started already: followers fetch from here on.
        publish(topic, range(len(topic.partitions)))


def _load_imported_nodes(cluster: Cluster, folders: ImportedNodes) -> None:
    """Load the imported logs of all nodes, and elect leaders. New files are in memory."""
    from .node_import import elect_leaders

    folders.add_topics(cluster)
    loaders = {node.node_id: TopicLoader(node, cluster.clock) for node in cluster.nodes}
    logs = {node_id: loader.load_logs() for node_id, loader in loaders.items()}
    elect_leaders(cluster, logs)
    for node_id, loader in loaders.items():
        loader.add_replicas(logs[node_id])
    loaded = [log for of_node in logs.values() for of_topic in of_node.values() for log in of_topic if log is not None]
    highest = [log.segments.highest_producer_id() for log in loaded]
    highest += [node.replicas.logs.highest_producer_id() for node in cluster.nodes]
    cluster.controller.restart_producer_ids(max(highest) + 1)


def _reload_imported(cluster: Cluster, imported: ImportedLogs) -> None:
    """Load the imported logs again, without later changes. Raises OSError, ConfigError."""
    cluster.node.replace_files(OverlayFileSystem(imported.file_system, MemoryFileSystem()))
    _load_imported(cluster, imported, None)


def _load_imported(cluster: Cluster, imported: ImportedLogs, cluster_id: str | None) -> None:
    """Load the imported logs. New files are in memory."""
    if cluster_id is not None:
        cluster.image.cluster_id = cluster_id
    topics = topics_in_folders(
        cluster.node.replicas.logs.partitions_on_disk(), compacted_topics(cluster.node.replicas.file_system)
    )
    logger.info("serving the logs in %s, where nothing is written: %s", imported.folder, describe_topics(topics))
    TopicLoader(cluster.node, cluster.clock).load(topics)
    cluster.controller.restart_producer_ids(_highest_producer_id(cluster, topics) + 1)


def _load_directory(cluster: Cluster, directory: DataDirectory, imported: ImportedLogs | None) -> None:
    """Copy the imported logs into the data folder and load it. From then on the metadata is saved there."""
    cluster.image.cluster_id = directory.cluster_id
    cluster.node.replicas.log_directory_id = directory.directory_id
    cluster.node.replicas.log_directory = directory.folder
    delete_unfinished_imports(directory.file_system)
    metadata = directory.metadata
    found: list[TopicMetadata] = []
    if metadata is None:
        partitions = cluster.node.replicas.logs.partitions_on_disk()
        found = topics_in_folders(partitions, compacted_topics(directory.file_system))
        metadata = ClusterMetadata(directory.cluster_id, topics=tuple(found))
        if found:
            logger.warning(
                "%s has no metadata file; its topics are taken from their folders: %s",
                directory.folder,
                describe_topics(found),
            )
    elif directory.is_metadata_from_copy:
        metadata = _completed(cluster, directory, metadata)
    if imported is not None:
        copied = imported.copy_into(directory, metadata)
        logger.info("copied from %s: %s", imported.folder, describe_topics(copied))
        found += copied
    restore_settings(cluster, metadata)
    TopicLoader(cluster.node, cluster.clock).load([*metadata.topics, *found])
    first_producer_id = max(metadata.next_producer_id, _highest_producer_id(cluster, found) + 1)
    cluster.controller.restart_producer_ids(first_producer_id, is_persistent=True)
    cluster.controller.store = store = MetadataFileStore(cluster, directory)
    if directory.is_metadata_from_copy or metadata_of(cluster.controller) != directory.metadata:
        store.write_now()
    elif directory.is_metadata_copy_due:
        store.copy_now()


def _completed(cluster: Cluster, directory: DataDirectory, copied: ClusterMetadata) -> ClusterMetadata:
    """Return the metadata of the copy with what the folders show, and log the differences."""
    partitions = cluster.node.replicas.logs.partitions_on_disk()
    completed = complete_topics(copied.topics, partitions, compacted_topics(directory.file_system))
    if completed.added:
        logger.warning(
            "the copy of the metadata lacks these topics, which are taken from their folders: %s",
            describe_topics(completed.added),
        )
    if completed.removed:
        names = ", ".join(topic.name for topic in completed.removed)
        logger.warning("the copy of the metadata has topics without folders, which were deleted: %s", names)
    return replace(_skipped_ahead(copied), topics=tuple(completed.topics))


def _skipped_ahead(copied: ClusterMetadata) -> ClusterMetadata:
    """Return the metadata of a copy with numbers that no change since has used."""
    return replace(
        copied,
        next_producer_id=min(copied.next_producer_id + NUMBERS_SKIPPED, INT64_MAX),
        metadata_offset=min(copied.metadata_offset + NUMBERS_SKIPPED, INT64_MAX),
    )


def load_nodes(cluster: Cluster, directories: NodeDirectories, racks: Sequence[str | None]) -> None:
    """Load the nodes of a cluster from their folders. From then on the metadata is saved in that of the controller.

    All nodes start together, as they were killed or stopped. Where the logs of a leader may have lost records, it leads
    in the next epoch. Raises OSError, CorruptFileError, ConfigError.
    """
    for rack, directory in zip(racks[1:], directories.nodes[1:], strict=True):
        cluster.add_node(rack, directory.file_system)
    for node, directory in zip(cluster.nodes, directories.nodes, strict=True):
        node.replicas.log_directory_id, node.replicas.log_directory = directory.directory_id, directory.folder
        node.configs.change_static({"log.dirs": directory.folder})
    controller = directories.controller
    cluster.image.cluster_id = controller.cluster_id
    metadata = controller.metadata or ClusterMetadata(controller.cluster_id)
    if controller.is_metadata_from_copy:
        metadata = _skipped_ahead(metadata)
    restore_settings(cluster, metadata)
    loaders = {node.node_id: TopicLoader(node, cluster.clock) for node in cluster.nodes}
    for topic in metadata.topics:
        partitions = [_restarted(each, loaders) for each in topic.partitions]
        cluster.image.add_topic(TopicImage(topic.name, topic.topic_id, topic.configs, partitions))
    for loader in loaders.values():
        loader.load_replicas()
    cluster.controller.restart_producer_ids(metadata.next_producer_id, is_persistent=True)
    cluster.controller.store = store = MetadataFileStore(cluster, controller)
    if controller.is_metadata_from_copy or metadata_of(cluster.controller) != controller.metadata:
        store.write_now()
    elif controller.is_metadata_copy_due:
        store.copy_now()


def _restarted(partition: PartitionRegistration, loaders: Mapping[int, TopicLoader]) -> PartitionRegistration:
    """Return the partition after the start of all nodes."""
    loader = loaders.get(partition.leader_id)
    return partition if loader is None or loader.is_clean else partition.led_again()


def recover_cluster(cluster: Cluster, metadata: ClusterMetadata, directory: DataDirectory | None) -> None:
    """Load the cluster again after a crash of its node, and recover its logs.

    directory: the data folder, which is read again. metadata: for a node in memory; its configs are still in effect.
    Raises OSError, CorruptFileError, ConfigError, DataDirectoryError.
    """
    if directory is None:
        TopicLoader(cluster.node, cluster.clock).load(metadata.topics)
        cluster.controller.restart_producer_ids(cluster.controller.producer_ids.first_id_after_crash)
    else:
        directory.reload()
        cluster.image.configs.reset()
        _load_directory(cluster, directory, None)
    cluster.node.load_coordinators()


class TopicLoader:
    """Loads topics with all their logs on one node. Creates missing partition folders and renames unknown ones."""

    def __init__(self, node: Node, clock: AdjustableClock) -> None:
        """Read the checkpoints of the node's logs; see LogManager.prepare_loading."""
        self._replicas = node.replicas
        self._controller = node.controller
        self._now_ms = clock.now_ms()
        # The files do not tell how far the clock was ahead at each append. The most makes no record older than it is.
        self._ahead_ms = clock.most_ahead_ms
        self.is_clean = node.replicas.logs.prepare_loading()
        self._log_configs: dict[tuple[tuple[str, str], ...], LogConfig] = {}

    def load(self, topics: Iterable[TopicMetadata]) -> None:
        """Load or create the logs of the topics. Rename the folders of other partitions.

        Raises OSError, CorruptFileError, and ConfigError if a topic has a config that Kafka would refuse.
        """
        by_name = {topic.name: topic for topic in topics}
        own = {topic.name: range(topic.partition_count) for topic in by_name.values()}
        stored = self._stored_partitions(by_name, own)
        for topic in by_name.values():
            self._restore(topic, self._load_logs(topic, range(topic.partition_count), stored))
        self._log_loaded(by_name.values())

    def load_replicas(self) -> None:
        """Load or create the logs of the node's replicas of the topics in the image. Raises as load."""
        self.add_replicas(self.load_logs())

    def load_logs(self) -> dict[str, list[PartitionLog | None]]:
        """Load or create the logs of the node's replicas, by topic, without adding them. Raises as load."""
        image = self._controller.image
        by_name = {topic.name: topic for topic in topics_of(image)}
        own = {
            topic.name: [each.index for each in topic.partitions if self._replicas.node_id in each.replicas]
            for topic in image.topics.values()
        }
        stored = self._stored_partitions(by_name, own)
        logs: dict[str, list[PartitionLog | None]] = {}
        for topic in by_name.values():
            indexes = own[topic.name]
            loaded = dict(zip(indexes, self._load_logs(topic, indexes, stored), strict=True))
            logs[topic.name] = [loaded.get(index) for index in range(topic.partition_count)]
        self._log_loaded(by_name.values())
        return logs

    def add_replicas(self, logs: Mapping[str, Iterable[PartitionLog | None]]) -> None:
        """Add partitions with the logs that load_logs returned, as they are registered now."""
        for name, of_topic in logs.items():
            self._replicas.load_partitions(self._controller.image.topics[name], of_topic)

    def _stored_partitions(
        self, by_name: Mapping[str, TopicMetadata], own: Mapping[str, Container[int]]
    ) -> dict[tuple[str, int], StoredPartition]:
        """Return the folders of the topics' partitions, and rename the others.

        own: the indexes of the partitions that have a replica on this node, by topic name.
        """
        stored: dict[tuple[str, int], StoredPartition] = {}
        for partition in self._replicas.logs.partitions_on_disk():
            topic = by_name.get(partition.topic_name)
            if topic is None or partition.partition not in own[topic.name] or not belongs_to(partition, topic.topic_id):
                self._rename_to_stray(partition)
            else:
                stored[partition.topic_name, partition.partition] = partition
        return stored

    def _load_logs(
        self, topic: TopicMetadata, indexes: Iterable[int], stored: Mapping[tuple[str, int], StoredPartition]
    ) -> list[PartitionLog | None]:
        log_config = self._log_config_of(topic)
        return [self._load_log(topic, index, log_config, stored.get((topic.name, index))) for index in indexes]

    def _log_loaded(self, topics: Collection[TopicMetadata]) -> None:
        if topics:
            how = "after a clean shutdown" if self.is_clean else "recovered after an unclean shutdown"
            partition_count = sum(topic.partition_count for topic in topics)
            logger.info("%d topics with %d partitions, %s", len(topics), partition_count, how)

    def _restore(self, topic: TopicMetadata, logs: list[PartitionLog | None]) -> None:
        """Add a stored topic to the image, and its logs to the replica manager.

        A new leader epoch begins where records may be missing, so that consumers detect the truncation. Kafka begins
        one with every start-up. The epoch never decreases: clients and logs would take its batches for older ones.
        """
        known = self._controller.image.find_topic(topic.name)
        if known is not None:
            # Another node has loaded the topic.
            self._replicas.load_partitions(known, logs)
            return
        node_id = self._controller.image.brokers[0].node_id
        restored = TopicImage(topic.name, topic.topic_id, topic.configs)
        for index, log in enumerate(logs):
            latest_epoch = 0 if log is None else log.leader_epochs.latest_epoch
            epoch = max(0, latest_epoch if self.is_clean else latest_epoch + 1)
            restored.partitions.append(new_partition(index, [node_id], leader_epoch=epoch))
        self._replicas.load_partitions(restored, logs)
        self._controller.image.add_topic(restored)

    def _rename_to_stray(self, stored: StoredPartition) -> None:
        if not self._replicas.is_on_disk:
            # Kept on disk for a person to look at: in memory it would only take up space.
            self._replicas.file_system.delete_folder(partition_folder(stored.topic_name, stored.partition))
            return
        folder = self._replicas.logs.rename_to_stray(stored.topic_name, stored.partition, new_uuid())
        logger.warning(
            "%s belongs to no topic of the metadata file, and is renamed to %s",
            *(partition_folder(stored.topic_name, stored.partition), folder),
        )

    def _log_config_of(self, topic: TopicMetadata) -> LogConfig:
        """Return the LogConfig of the topic. Most topics have the same configs."""
        key = tuple(sorted(topic.configs.items()))
        if key not in self._log_configs:
            try:
                validate_topic_configs(self._replicas.config, topic.configs)
            except ConfigError as error:
                raise ConfigError(f"topic {topic.name}: {error}") from error
            self._log_configs[key] = log_config_of(self._replicas.config, topic.configs)
        return self._log_configs[key]

    def _load_log(
        self, topic: TopicMetadata, index: int, log_config: LogConfig, stored: StoredPartition | None
    ) -> PartitionLog | None:
        logs, now_ms = self._replicas.logs, self._now_ms
        folder = partition_folder(topic.name, index)
        if stored is None:
            if not self._replicas.is_on_disk:
                # In memory a log is created at its first use.
                return None
            logger.warning("%s has no folder; an empty log is created", folder)
            return logs.create(topic.name, index, log_config, now_ms=now_ms, topic_id=topic.topic_id)
        is_lost = stored.topic_id is None or is_damaged(stored, topic.topic_id)
        if is_lost and self._replicas.is_on_disk:
            logger.warning("%s has no readable %s; a new one is written", folder, PARTITION_METADATA)
            self._replicas.file_system.replace(
                f"{folder}/{PARTITION_METADATA}", encode_partition_metadata(topic.topic_id)
            )
        # Coordinators set the timestamps of their records by the broker's clock.
        ahead_ms = 0 if is_internal_topic(topic.name) else self._ahead_ms
        return logs.load(topic.name, index, log_config, now_ms=now_ms, ahead_ms=ahead_ms)


def restore_settings(cluster: Cluster, metadata: ClusterMetadata) -> None:
    """Apply the features and the dynamic configs of the metadata file. Raises ConfigError."""
    cluster.image.features.updated = dict(metadata.features)
    # Clients take over a feature level only in a later epoch, which is the offset.
    cluster.image.offset = max(cluster.image.offset, metadata.metadata_offset)
    configs = metadata.configs
    if configs is None:
        return
    dynamic = cluster.image.configs
    if len(dynamic.nodes) == 1:
        dynamic.controller.broker_configs = configs.broker_configs
    else:
        for node_id, node in dynamic.nodes.items():
            node.broker_configs = configs.node_configs.get(node_id, {})
    dynamic.replace_default_broker_configs(configs.default_broker_configs)
    dynamic.group_configs = configs.group_configs
    dynamic.client_metrics_configs = configs.client_metrics_configs
    dynamic.apply()


def _highest_producer_id(cluster: Cluster, topics: Iterable[TopicMetadata]) -> int:
    """Return the highest producer id in the producer state of any log, or in a batch of the topics; or -1.

    topics: topics whose producer ids are in no metadata file.
    """
    replicas, image = cluster.node.replicas, cluster.image
    logs = [partition.log for topic in topics for partition in replicas.partitions_of(image.topics[topic.name])]
    return max(
        [cluster.node.replicas.logs.highest_producer_id(), *(log.segments.highest_producer_id() for log in logs)]
    )
