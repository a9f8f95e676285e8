"""Loads a cluster of several nodes: from their folders in a data folder, or from the imported folder of each.

Start-up with a data folder: lock the folders, read the metadata of the controller, delete unfinished imports, copy the
imported logs of each node, restore the configs, load the logs of each node, elect leaders of the imported partitions,
and write the metadata file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

from ...storage.file_systems.file_system import FileSystem
from ..cluster import Cluster
from ..metadata.cluster_metadata import ClusterMetadata, TopicMetadata
from ..metadata.metadata_image import PartitionRegistration, TopicImage
from .log_import import delete_unfinished_imports
from .metadata_files import skipped_ahead
from .metadata_store import restore_settings, save_from_now_on
from .node_directories import NodeDirectories
from .node_import import ImportedNodes, elect_leaders
from .storage_options import StorageOptions
from .topic_loader import TopicLoader


def load_several_nodes(
    new_cluster: Callable[[FileSystem], Cluster], options: StorageOptions, first_node_id: int, opened: ExitStack
) -> Cluster:
    """Create a cluster of several nodes from their folders. opened: unlocks the folders."""
    imported = None
    if options.import_logs:
        imported = ImportedNodes(options.import_logs, first_node_id)
        opened.callback(imported.close)
    if options.data_dir is not None:
        directories = NodeDirectories(options.data_dir, first_node_id, len(options.racks), options.cluster_id)
        opened.callback(directories.close)
        cluster = new_cluster(directories.nodes[0].file_system)
        _load_nodes(cluster, directories, options.racks, imported)
        return cluster
    assert imported is not None, "several nodes in memory have nothing to load"
    return _import_nodes(new_cluster, options, first_node_id, imported)


def _import_nodes(
    new_cluster: Callable[[FileSystem], Cluster], options: StorageOptions, first_node_id: int, folders: ImportedNodes
) -> Cluster:
    """Create a cluster with the imported logs of each node."""
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
    loaders = {node.node_id: TopicLoader(node, cluster.clock) for node in cluster.nodes}
    cluster.controller.restart_producer_ids(_add_imported(cluster, folders.find_topics(), loaders) + 1)


def _add_imported(cluster: Cluster, imported: Iterable[TopicMetadata], loaders: Mapping[int, TopicLoader]) -> int:
    """Add imported topics to those in the image, load the logs of all of them, and elect leaders of the imported ones.

    Return the highest producer id in the imported logs and in the producer states of all logs, or -1.
    """
    added = [TopicImage(topic.name, topic.topic_id, topic.configs, list(topic.partitions)) for topic in imported]
    for topic in added:
        cluster.image.add_topic(topic)
    logs = {node_id: loader.load_logs() for node_id, loader in loaders.items()}
    elect_leaders(added, logs)
    for node_id, loader in loaders.items():
        loader.add_replicas(logs[node_id])
    loaded = [log for of_node in logs.values() for topic in added for log in of_node[topic.name] if log is not None]
    highest = [log.segments.highest_producer_id() for log in loaded]
    return max(highest + [node.replicas.logs.highest_producer_id() for node in cluster.nodes])


def _load_nodes(
    cluster: Cluster, directories: NodeDirectories, racks: Sequence[str | None], imported: ImportedNodes | None
) -> None:
    """Load the nodes of a cluster from their folders. From then on the metadata is saved in that of the controller.

    imported: logs that are copied into the folders of the nodes first.
    All nodes start together, as they were killed or stopped. Where the logs of a leader may have lost records, it leads
    in the next epoch. Raises OSError, CorruptFileError, ConfigError, DataDirectoryError.
    """
    _add_nodes(cluster, directories, racks)
    controller = directories.controller
    cluster.image.cluster_id = controller.cluster_id
    metadata = controller.metadata or ClusterMetadata(controller.cluster_id)
    if controller.is_metadata_from_copy:
        metadata = skipped_ahead(metadata)
    for directory in directories.nodes:
        delete_unfinished_imports(directory.file_system)
    copied = [] if imported is None else imported.copy_into(directories, metadata)
    restore_settings(cluster, metadata)
    loaders = {node.node_id: TopicLoader(node, cluster.clock) for node in cluster.nodes}
    for topic in metadata.topics:
        partitions = [_restarted(each, loaders) for each in topic.partitions]
        cluster.image.add_topic(TopicImage(topic.name, topic.topic_id, topic.configs, partitions))
    first_producer_id = metadata.next_producer_id
    if copied:
        first_producer_id = max(first_producer_id, _add_imported(cluster, copied, loaders) + 1)
    else:
        _load_replicas(loaders.values())
    cluster.controller.restart_producer_ids(first_producer_id, is_persistent=True)
    save_from_now_on(cluster, controller)


def _add_nodes(cluster: Cluster, directories: NodeDirectories, racks: Sequence[str | None]) -> None:
    """Add the other nodes to a cluster that has the first one, and set the folder of each."""
    for rack, directory in zip(racks[1:], directories.nodes[1:], strict=True):
        cluster.add_node(rack, directory.file_system)
    for node, directory in zip(cluster.nodes, directories.nodes, strict=True):
        node.replicas.log_directory_id, node.replicas.log_directory = directory.directory_id, directory.folder
        node.configs.change_static({"log.dirs": directory.folder})


def _load_replicas(loaders: Iterable[TopicLoader]) -> None:
    for loader in loaders:
        loader.load_replicas()


def _restarted(partition: PartitionRegistration, loaders: Mapping[int, TopicLoader]) -> PartitionRegistration:
    """Return the partition after the start of all nodes."""
    loader = loaders.get(partition.leader_id)
    return partition if loader is None or loader.is_clean else partition.led_again()
