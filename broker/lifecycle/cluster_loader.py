"""Loads a cluster from a data folder or from imported logs: finds the topics, then loads and recovers every log.

nodes_loader loads several nodes. Start-up of one node with a data folder: lock the folder, read the metadata file or
its copy, delete unfinished imports, copy the imported logs, restore the configs, load the topics, start the producer
ids above every id in use, and write the metadata file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from ...storage.corrupt_file import CorruptFileError
from ...storage.file_systems.file_system import FileSystem
from ...storage.file_systems.memory_file_system import MemoryFileSystem
from ...storage.file_systems.overlay_file_system import OverlayFileSystem
from ...storage.producers.emulated_version import EmulatedVersion
from .. import lifecycle
from ..cluster import Cluster
from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError
from ..metadata.cluster_metadata import ClusterMetadata, TopicMetadata
from ..replica.disk_fault_injector import MakeFileFaults
from ..runtime.clock import AdjustableClock
from .data_directory import DataDirectory, DataDirectoryError, NodeIdentity
from .log_import import ImportedLogs, compacted_topics, delete_unfinished_imports
from .metadata_files import skipped_ahead
from .metadata_store import restore_settings, save_from_now_on
from .storage_options import StorageOptions
from .stored_topics import complete_topics, describe_topics, topics_in_folders
from .topic_loader import TopicLoader

logger = logging.getLogger(__name__)


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
            if len(options.racks) > 1:
                cluster = lifecycle.nodes_loader.load_several_nodes(new_cluster, options, config.node_id, opened)
            else:
                cluster = _load_one_node(new_cluster, options, config.node_id, opened)
        except (OSError, CorruptFileError, ConfigError) as error:
            raise DataDirectoryError(f"cannot load the logs: {error}") from error
        cluster.folders = opened.pop_all()
    return cluster


def _load_one_node(
    new_cluster: Callable[[FileSystem], Cluster], options: StorageOptions, node_id: int, opened: ExitStack
) -> Cluster:
    """Create a cluster of one node from its folders. opened: unlocks the folders."""
    imported = None
    if options.import_logs:
        imported = ImportedLogs(options.import_logs[0])
        opened.callback(imported.close)
    if options.data_dir is not None:
        directory = DataDirectory(options.data_dir, NodeIdentity(node_id, options.cluster_id))
        opened.callback(directory.close)
        cluster = new_cluster(directory.file_system)
        directory.file_system = cluster.node.replicas.file_system
        _load_directory(cluster, directory, imported)
        return cluster
    assert imported is not None, "no folder to load"
    cluster = new_cluster(OverlayFileSystem(imported.file_system, MemoryFileSystem()))
    _load_imported(cluster, imported, options.cluster_id)
    cluster.load_imported = partial(_reload_imported, cluster, imported)
    return cluster


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
    save_from_now_on(cluster, directory)


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
    return replace(skipped_ahead(copied), topics=tuple(completed.topics))


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


def _highest_producer_id(cluster: Cluster, topics: Iterable[TopicMetadata]) -> int:
    """Return the highest producer id in the producer state of any log, or in a batch of the topics; or -1.

    topics: topics whose producer ids are in no metadata file.
    """
    replicas, image = cluster.node.replicas, cluster.image
    logs = [partition.log for topic in topics for partition in replicas.partitions_of(image.topics[topic.name])]
    return max(
        [cluster.node.replicas.logs.highest_producer_id(), *(log.segments.highest_producer_id() for log in logs)]
    )
