"""Imports the folders of several brokers of one cluster, each as the logs of one node: read in place, or copied.

A partition's replicas are the nodes that have its folder. The one with the newest leader epoch, and of these with the
longest log, leads in the next epoch and is alone in the ISR, as after an unclean election: the others truncate their
logs to its epochs, and fetch the rest.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from ...storage.checkpoints.checkpoint_files import META_PROPERTIES, decode_meta_properties
from ...storage.corrupt_file import CorruptFileError
from ...storage.file_systems.file_system import FileSystem
from ...storage.file_systems.memory_file_system import MemoryFileSystem
from ...storage.file_systems.overlay_file_system import OverlayFileSystem
from ...storage.log_manager import StoredPartition
from ...storage.partition_log import PartitionLog
from ..metadata.cluster_metadata import ClusterMetadata, TopicMetadata
from ..metadata.controller import new_partition
from ..metadata.metadata_image import PartitionRegistration, TopicImage
from .data_directory import META_PROPERTIES_BYTES_MAX, DataDirectoryError
from .log_import import ImportedLogs, check_new, compacted_topics
from .metadata_files import read_bounded
from .node_directories import NodeDirectories
from .stored_topics import belongs_to, describe_topics, topics_in_folders

logger = logging.getLogger(__name__)

# The logs that a node has loaded: of each partition of each topic, None for one that it has no replica of.
NodeLogs = Mapping[str, Sequence[PartitionLog | None]]


class ImportedNodes:
    """The folders of the brokers, with shared locks until `close`, in the order of the nodes."""

    def __init__(self, folders: Sequence[str], first_node_id: int) -> None:
        """Lock the folders. Raises DataDirectoryError: one is missing, in use, of no node, or of the node of another.

        The node of a folder is that of its meta.properties. Folders without one are those of the other nodes, in order.
        """
        self._nodes: dict[int, ImportedLogs] = {}
        node_ids = range(first_node_id, first_node_id + len(folders))
        with ExitStack() as opened:
            unnamed: list[ImportedLogs] = []
            for folder in dict.fromkeys(map(os.path.realpath, folders)):
                logs = ImportedLogs(folder)
                opened.callback(logs.close)
                node_id = _node_id_of(logs)
                if node_id is None:
                    unnamed.append(logs)
                elif node_id not in node_ids:
                    raise DataDirectoryError(
                        f"--import-logs: {folder} is of node {node_id}, and the nodes are {node_ids[0]} to "
                        f"{node_ids[-1]}; set node.id to that of the first one"
                    )
                elif node_id in self._nodes:
                    other = self._nodes[node_id].folder
                    raise DataDirectoryError(f"--import-logs: {other} and {folder} are both of node {node_id}")
                else:
                    self._nodes[node_id] = logs
            free = [node_id for node_id in node_ids if node_id not in self._nodes]
            if len(free) != len(unnamed):
                raise DataDirectoryError("--import-logs: a folder is given twice")
            self._nodes.update(zip(free, unnamed, strict=True))
            self._nodes = dict(sorted(self._nodes.items()))
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Unlock the folders."""
        self._opened.close()

    def new_files(self, node_id: int) -> FileSystem:
        """Return the folder of a node, with changes in memory."""
        return OverlayFileSystem(self._nodes[node_id].file_system, MemoryFileSystem())

    def find_topics(self) -> list[TopicMetadata]:
        """Return the topics of all folders. The first replica of each partition leads until elect_leaders."""
        topics = self._topics_of(self._find_partitions())
        logger.info("serving the logs in %s, where nothing is written: %s", self._folders, describe_topics(topics))
        return topics

    def copy_into(self, directories: NodeDirectories, metadata: ClusterMetadata) -> list[TopicMetadata]:
        """Copy the logs of each node into its data folder and return the topics, as find_topics does.

        Raises DataDirectoryError, before anything is copied, if a topic exists already; OSError.
        """
        stored = self._find_partitions()
        topics = self._topics_of(stored)
        check_new(topics, metadata, directories.folder)
        for (node_id, of_node), directory in zip(stored.items(), directories.nodes, strict=True):
            self._nodes[node_id].copy_partitions(directory, of_node)
        logger.info("copied from %s: %s", self._folders, describe_topics(topics))
        return topics

    @property
    def _folders(self) -> str:
        return ", ".join(f"{logs.folder} (node {node_id})" for node_id, logs in self._nodes.items())

    def _find_partitions(self) -> dict[int, list[StoredPartition]]:
        return {node_id: logs.find_partitions() for node_id, logs in self._nodes.items()}

    def _topics_of(self, stored: Mapping[int, Sequence[StoredPartition]]) -> list[TopicMetadata]:
        """Return the topics of the partitions of each node, with their replicas."""
        compacted = {name for logs in self._nodes.values() for name in compacted_topics(logs.file_system)}
        topics = topics_in_folders([each for of_node in stored.values() for each in of_node], compacted)
        replicas: dict[tuple[bytes, int], list[int]] = {}
        topic_of = {topic.name: topic for topic in topics}
        for node_id, of_node in stored.items():
            for each in of_node:
                if belongs_to(each, topic_of[each.topic_name].topic_id):
                    replicas.setdefault((topic_of[each.topic_name].topic_id, each.partition), []).append(node_id)
        return [
            replace(
                topic,
                partitions=tuple(
                    # A partition that no folder has is empty, on all nodes.
                    new_partition(index, replicas.get((topic.topic_id, index), list(stored)))
                    for index in range(topic.partition_count)
                ),
            )
            for topic in topics
        ]


def elect_leaders(topics: Iterable[TopicImage], logs: Mapping[int, NodeLogs]) -> None:
    """Elect the replica with the newest leader epoch, and of several the one with the longest log, in each partition.

    logs: of each node, by its id.
    """
    for topic in topics:
        for index, partition in enumerate(topic.partitions):
            topic.partitions[index] = _led_by_best(
                partition,
                {
                    node_id: log
                    for node_id in partition.replicas
                    if (log := logs[node_id][topic.name][index]) is not None
                },
            )


def _led_by_best(partition: PartitionRegistration, logs: Mapping[int, PartitionLog]) -> PartitionRegistration:
    if not logs:
        return partition
    # Of equal replicas the first one leads.
    best = max(logs, key=lambda node_id: (logs[node_id].leader_epochs.latest_epoch, logs[node_id].log_end_offset))
    newest = max(logs[best].leader_epochs.latest_epoch, partition.leader_epoch)
    elected = partition.led_by(best, [best])
    elected.leader_epoch = newest + 1
    return elected


def _node_id_of(logs: ImportedLogs) -> int | None:
    """Return the node id of a folder's meta.properties, or None without one. Raises DataDirectoryError."""
    content = read_bounded(logs.file_system, META_PROPERTIES, META_PROPERTIES_BYTES_MAX)
    try:
        return None if content is None else decode_meta_properties(content).node_id
    except CorruptFileError as error:
        raise DataDirectoryError(f"--import-logs: cannot read {logs.folder}/{META_PROPERTIES}: {error}") from error
