"""The whole state of a cluster in memory at one moment, and the way back to it, as often as wanted.

Logs, producers with all their remembered batches, topics, configs and which producer ids were given are in it; and with
the coordinators' topics the groups as they were last written, whose members' sessions begin anew. Fetch sessions and
connections are not.
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
from ..metadata.producer_id_manager import ProducerIdManager
from .metadata_store import metadata_of

if TYPE_CHECKING:
    from ...storage.producers.producer_state_entry import ProducerStateEntry
    from ..cluster import Cluster

PartitionKey = tuple[str, int]


class SnapshotError(Exception):
    """The cluster cannot be taken down as it is; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """What was at one moment; nothing of it is ever changed.

    metadata: topics and configs. config: what these came to.
    files: of the logs. producers: of every log that there was, by topic and partition; entries are never changed.
    """

    metadata: ClusterMetadata
    config: BrokerConfig
    files: MemoryFileSystem
    producers: Mapping[PartitionKey, list[ProducerStateEntry]]
    next_producer_id: int


def take_snapshot(cluster: Cluster) -> ClusterSnapshot:
    """Return what the cluster is now. Raises SnapshotError where it is not in memory alone."""
    files = _memory_of(cluster).copy()
    # Where a log begins within its first segment is nowhere else.
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
        cluster.controller.producer_ids.next_producer_id,
    )


def restore_snapshot(cluster: Cluster, snapshot: ClusterSnapshot) -> None:
    """Take the cluster back to the snapshot; whoever waits is not answered, so that connections have to be closed.

    Every partition begins a new leader epoch, later than any that it had, so that consumers look what is left.
    Raises SnapshotError where the cluster is not in memory alone.
    """
    from .cluster_loader import restore_configs, restore_logs

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
    # What is changed from here on is not the snapshot's.
    metadata = deepcopy(snapshot.metadata)
    restore_configs(cluster, metadata.configs)
    cluster.image.configs.current = snapshot.config
    restore_logs(cluster, metadata.topics)
    for topic in cluster.image.topics.values():
        for registration in topic.partitions:
            latest_epoch = epochs.get((topic.topic_id, registration.index), -1)
            registration.leader_epoch = max(registration.leader_epoch, latest_epoch + 1)
        node.replicas.apply_leader_epochs(topic)
    for partition in node.replicas.partitions():
        entries = snapshot.producers.get((partition.topic_name, partition.index))
        if entries is not None:
            # The log alone does not restore them: batches were evicted, and producers removed, without a record of it.
            partition.log.producers.replace_all(entries)
    cluster.controller.producer_ids = ProducerIdManager(snapshot.next_producer_id)
    node.load_coordinators()


def _memory_of(cluster: Cluster) -> MemoryFileSystem:
    files = cluster.node.inner_files
    if not isinstance(files, MemoryFileSystem):
        raise SnapshotError("only of a cluster in memory, which has no data folder and imports no logs")
    return files
