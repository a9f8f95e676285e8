"""Takes and restores snapshots of a cluster in memory.

A snapshot has the logs, the producer state with its last batches, topics, configs and features. The topics of the
coordinators have the groups; the sessions of their members start again. Fetch sessions and connections are not in a
snapshot. Neither is the next producer id: a producer that got its id after the snapshot must not share it with another.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...storage.checkpoints.checkpoint_files import LOG_START_OFFSET_CHECKPOINT
from ...storage.file_systems.memory_file_system import MemoryFileSystem
from ..config.broker_config import BrokerConfig
from ..metadata.cluster_metadata import ClusterMetadata
from .metadata_store import metadata_of

if TYPE_CHECKING:
    from ...storage.producers.producer_state_entry import ProducerStateEntry
    from ..cluster import Cluster

PartitionKey = tuple[str, int]


class SnapshotError(Exception):
    """The cluster does not support snapshots. The message is one line for the user."""


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """An immutable snapshot.

    metadata: topics and dynamic configs. config: the broker configs in effect.
    files: the files of the logs. producers: the producer state of every log, by topic and partition.
    """

    metadata: ClusterMetadata
    config: BrokerConfig
    files: MemoryFileSystem
    producers: Mapping[PartitionKey, list[ProducerStateEntry]]


def take_snapshot(cluster: Cluster) -> ClusterSnapshot:
    """Return a snapshot of the current state. Raises SnapshotError with a data folder or imported logs."""
    files = _memory_of(cluster).copy()
    # A log start offset inside the first segment is in no other file.
    files.replace(LOG_START_OFFSET_CHECKPOINT, cluster.node.replicas.logs.checkpoint(LOG_START_OFFSET_CHECKPOINT))
    producers = {
        (partition.topic_name, partition.index): list(log.producers.active_producers())
        for partition in cluster.node.replicas.partitions()
        if (log := partition.find_log()) is not None
    }
    return ClusterSnapshot(
        deepcopy(metadata_of(cluster.controller)),
        cluster.image.configs.current,
        files,
        producers,
    )


def restore_snapshot(cluster: Cluster, snapshot: ClusterSnapshot) -> None:
    """Restore the snapshot. Pending requests get no response, so that the caller must close the connections.

    Every partition gets a higher leader epoch than before, so that consumers check for truncation.
    Raises SnapshotError with a data folder or imported logs.
    """
    # The packages for logs are loaded with the first restore, not with the admin API.
    from .cluster_loader import TopicLoader, restore_settings

    _memory_of(cluster)
    epochs = {
        (topic.topic_id, partition.index): partition.leader_epoch
        for topic in cluster.image.topics.values()
        for partition in topic.partitions
    }
    node = cluster.node
    taken = node.take_coordinators()
    if taken is not None:
        taken.unload()
    for partition in node.replicas.partitions():
        partition.is_deleted = True
    cluster.drop_memory()
    node.replace_files(snapshot.files.copy())
    # Later changes must not change the snapshot.
    metadata = deepcopy(snapshot.metadata)
    restore_settings(cluster, metadata)
    cluster.controller.metadata_changed()
    cluster.image.configs.current = snapshot.config
    TopicLoader(cluster.node, cluster.clock).load(metadata.topics)
    for topic in cluster.image.topics.values():
        for registration in topic.partitions:
            latest_epoch = epochs.get((topic.topic_id, registration.index), -1)
            registration.leader_epoch = max(registration.leader_epoch, latest_epoch + 1)
        node.replicas.apply_registrations(topic)
    for partition in node.replicas.partitions():
        entries = snapshot.producers.get((partition.topic_name, partition.index))
        if entries is not None:
            # The log alone is not enough: evicted batches and removed producers leave no record.
            partition.log.producers.replace_all(entries)
    node.load_coordinators()


def _memory_of(cluster: Cluster) -> MemoryFileSystem:
    files = cluster.node.inner_files
    if not isinstance(files, MemoryFileSystem):
        raise SnapshotError("only of a cluster in memory, which has no data folder and imports no logs")
    return files
