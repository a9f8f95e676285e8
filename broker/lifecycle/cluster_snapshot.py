"""Takes and restores snapshots of a cluster in memory, all of whose nodes run.

A snapshot has the logs of each node, the producer state with its last batches, topics, leaders, configs and features.
The topics of the coordinators have the groups; the sessions of their members start again. Fetch sessions and
connections are not in a snapshot. Neither is the next producer id: a producer that got its id after the snapshot must
not share it with another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...storage.checkpoints.checkpoint_files import LOG_START_OFFSET_CHECKPOINT
from ...storage.file_systems.memory_file_system import MemoryFileSystem
from .. import lifecycle
from ..metadata.cluster_metadata import ClusterMetadata
from ..metadata.metadata_image import TopicImage
from .metadata_store import metadata_of

if TYPE_CHECKING:
    from ...storage.producers.producer_state_entry import ProducerStateEntry
    from ..cluster import Cluster
    from ..metadata.cluster_metadata import TopicMetadata
    from ..metadata.metadata_image import PartitionRegistration
    from ..node import Node
    from .topic_loader import TopicLoader

    # By topic id and index.
    Registrations = Mapping[tuple[bytes, int], PartitionRegistration]

PartitionKey = tuple[str, int]


class SnapshotError(Exception):
    """The cluster does not support snapshots. The message is one line for the user."""


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """The logs of one node. producers: the producer state of every log, by topic and partition."""

    files: MemoryFileSystem
    producers: Mapping[PartitionKey, list[ProducerStateEntry]]


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """An immutable snapshot.

    metadata: topics and dynamic configs. nodes: the logs of each node.
    """

    metadata: ClusterMetadata
    nodes: Sequence[NodeSnapshot]


def take_snapshot(cluster: Cluster) -> ClusterSnapshot:
    """Return a snapshot of the current state. Raises SnapshotError with a data folder or imported logs."""
    return ClusterSnapshot(
        deepcopy(metadata_of(cluster.controller)),
        [_node_snapshot(node) for node in cluster.nodes],
    )


def _node_snapshot(node: Node) -> NodeSnapshot:
    files = _memory_of(node).copy()
    # A log start offset inside the first segment is in no other file.
    files.replace(LOG_START_OFFSET_CHECKPOINT, node.replicas.logs.checkpoint(LOG_START_OFFSET_CHECKPOINT))
    producers = {
        (partition.topic_name, partition.index): list(log.producers.active_producers())
        for partition in node.replicas.partitions()
        if (log := partition.find_log()) is not None
    }
    return NodeSnapshot(files, producers)


def restore_snapshot(cluster: Cluster, snapshot: ClusterSnapshot) -> None:
    """Restore the snapshot. Pending requests get no response, so that the caller must close the connections.

    Every partition gets a higher leader epoch than before, so that consumers check for truncation.
    Raises SnapshotError with a data folder or imported logs.
    """
    before = {
        (topic.topic_id, partition.index): partition
        for topic in cluster.image.topics.values()
        for partition in topic.partitions
    }
    for node in cluster.nodes:
        _memory_of(node)
    for node in cluster.nodes:
        _drop(node)
    cluster.image.clear_topics()
    for node, of_node in zip(cluster.nodes, snapshot.nodes, strict=True):
        node.drop_memory()
        node.replace_files(of_node.files.copy())
    # Later changes must not change the snapshot.
    metadata = deepcopy(snapshot.metadata)
    # The nodes drop with their memory what clients have used of the other quotas.
    cluster.controller.mutation_buckets.clear()
    lifecycle.metadata_store.restore_settings(cluster, metadata)
    cluster.controller.metadata_changed()
    loaders = [lifecycle.topic_loader.TopicLoader(node, cluster.clock) for node in cluster.nodes]
    _load_topics(cluster, loaders, metadata.topics, before)
    for node, of_node in zip(cluster.nodes, snapshot.nodes, strict=True):
        _restore_producers(node, of_node)
    for node in cluster.nodes:
        node.load_coordinators()


def _load_topics(
    cluster: Cluster, loaders: Sequence[TopicLoader], topics: Iterable[TopicMetadata], before: Registrations
) -> None:
    """Load the topics with their logs. loaders: of each node. before: the registrations before the restore."""
    if cluster.membership is None:
        loaders[0].load(topics)
        for topic in cluster.image.topics.values():
            topic.partitions = [_restored(topic, partition, before) for partition in topic.partitions]
            cluster.node.replicas.apply_registrations(topic)
        return
    for stored in topics:
        topic = TopicImage(stored.name, stored.topic_id, stored.configs)
        topic.partitions = [_restored(topic, partition, before) for partition in stored.partitions]
        cluster.image.add_topic(topic)
    for loader in loaders:
        loader.load_replicas()
    cluster.membership.all_started()


def _drop(node: Node) -> None:
    """Delete the partitions of a node from memory, and complete the requests that wait for its coordinators."""
    taken = node.take_coordinators()
    if taken is not None:
        taken.unload()
    for partition in node.replicas.partitions():
        partition.is_deleted = True


def _restore_producers(node: Node, snapshot: NodeSnapshot) -> None:
    """Restore the producer state of each log.

    The log alone is not enough: evicted batches and removed producers leave no record.
    """
    for partition in node.replicas.partitions():
        entries = snapshot.producers.get((partition.topic_name, partition.index))
        if entries is not None:
            partition.log.producers.replace_all(entries)


def _restored(topic: TopicImage, partition: PartitionRegistration, before: Registrations) -> PartitionRegistration:
    """Return the registration of a loaded partition in a later epoch than before the restore."""
    last = before.get((topic.topic_id, partition.index))
    if last is None:
        return partition
    return replace(
        partition,
        leader_epoch=max(partition.leader_epoch, last.leader_epoch + 1),
        partition_epoch=max(partition.partition_epoch, last.partition_epoch + 1),
    )


def _memory_of(node: Node) -> MemoryFileSystem:
    files = node.inner_files
    if not isinstance(files, MemoryFileSystem):
        raise SnapshotError("only of a cluster in memory, which has no data folder and imports no logs")
    return files
