"""A node that dies as by SIGKILL, and what it finds when it is started again.

What was written to the files is there, flushed or not; nothing is closed, and nothing that was on its way to the disk
is begun any more. What was in memory only is gone: sessions, connections, waiting requests, timers; groups, offsets and
transactional ids are read again from their topics. A node in memory keeps its files, and of the rest what a data folder
would have: topics, configs, and which block of producer ids comes next.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...storage.checkpoints.checkpoint_files import LOG_START_OFFSET_CHECKPOINT
from ...storage.file_systems.file_system import FileSystem, read_whole
from ...storage.log_files import SNAPSHOT_SUFFIX, partition_of
from ..metadata.cluster_metadata import ClusterMetadata

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..runtime.disk_executor import DiskExecutor
    from .cleaner_thread import CleanerThread
    from .data_directory import DataDirectory

logger = logging.getLogger(__name__)

# What a byte of a snapshot is changed by when it is corrupted: every bit of it.
_ALL_BITS = 0xFF


class SnapshotFault(Enum):
    """What happens to the snapshots of producers while a node is down, by the names of the admin API."""

    KEEP = "keep"
    DROP = "drop"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True)
class LogEndOffsets:
    """Where the log of a partition ended before a node died, and where it does after that; 0 for one that is gone."""

    topic_name: str
    partition: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class CrashedNode:
    """What is left of a node that died.

    metadata: of a node in memory. directory: of one on disk, whose own metadata file tells.
    end_offsets: of every log, by topic and partition.
    steps: what threads may still be at.
    """

    metadata: ClusterMetadata
    directory: DataDirectory | None
    end_offsets: dict[tuple[str, int], int]
    steps: tuple[DiskExecutor, ...]

    async def wait_steps(self) -> None:
        """Return when no thread does anything for the dead node any more."""
        for steps in self.steps:
            await steps.wait_abandoned()


def crash_node(cluster: Cluster, cleaner_thread: CleanerThread | None) -> CrashedNode:
    """Have the cluster's node die, and return what is left of it; the cluster is empty until it is revived."""
    from .metadata_store import MetadataFileStore, metadata_of

    node, store = cluster.node, cluster.controller.store
    assert store is None or isinstance(store, MetadataFileStore), "the store of a data folder"
    steps = node.replicas.started_disk_executor
    if steps is not None:
        steps.abandon()
    cleaning = None if cleaner_thread is None else cleaner_thread.abandon()
    cluster.clock.cancel_all()
    partitions = list(node.replicas.partitions())
    dead = CrashedNode(
        metadata_of(cluster.controller),
        None if store is None else store.directory,
        {
            (partition.topic_name, partition.index): 0 if (log := partition.find_log()) is None else log.log_end_offset
            for partition in partitions
        },
        tuple(each for each in (steps, cleaning) if each is not None),
    )
    if not node.replicas.is_on_disk:
        # On disk it is written once a minute; here it would never be, and deleted records would always come back.
        with suppress(OSError):
            logs = node.replicas.logs
            logs.write_checkpoints({LOG_START_OFFSET_CHECKPOINT: logs.checkpoint(LOG_START_OFFSET_CHECKPOINT)})
    for partition in partitions:
        partition.is_deleted = True
        log = partition.find_log()
        if log is not None:
            # A request that is in the middle of its partitions finds no place to write to.
            log.fail_flush()
            log.abandon()
    cluster.drop_memory()
    if node.event_loop_bridge is not None:
        node.event_loop_bridge.release()
    if node.file_faults is not None:
        node.file_faults.machine_stopped()
    return dead


async def restart_node(
    cluster: Cluster, dead: CrashedNode, snapshots: SnapshotFault = SnapshotFault.KEEP
) -> list[LogEndOffsets]:
    """Load the dead node's logs again, recovered as after any stop that was not clean, and return where they end.

    snapshots: what has happened to the snapshots of producers meanwhile.
    Raises OSError, CorruptFileError, ConfigError, DataDirectoryError; the cluster is empty then, and it may be tried
    again.
    """
    from .cluster_loader import recover_cluster

    await dead.wait_steps()
    node = cluster.node
    if node.event_loop_bridge is not None:
        node.event_loop_bridge.begin()
    if node.file_faults is not None:
        node.file_faults.machine_started()
    damage_snapshots(node.replicas.file_system, snapshots)
    # What a request did that was still being handled when the node died.
    cluster.drop_memory()
    try:
        recover_cluster(cluster, dead.metadata, dead.directory)
    except BaseException:
        cluster.drop_memory()
        raise
    return [
        LogEndOffsets(topic_name, index, before, _end_offset(cluster, topic_name, index))
        for (topic_name, index), before in dead.end_offsets.items()
    ]


def _end_offset(cluster: Cluster, topic_name: str, index: int) -> int:
    partition = cluster.node.replicas.find_partition_by_name(topic_name, index)
    log = None if partition is None else partition.find_log()
    return 0 if log is None else log.log_end_offset


def damage_snapshots(file_system: FileSystem, fault: SnapshotFault) -> int:
    """Drop or corrupt the snapshot files of every partition, of which no log may be open; return how many they were."""
    if fault is SnapshotFault.KEEP:
        return 0
    paths = [
        f"{folder}/{name}"
        for folder in file_system.folders()
        if partition_of(folder) is not None
        for name in file_system.names_in(folder)
        if name.endswith(SNAPSHOT_SUFFIX)
    ]
    for path in paths:
        if fault is SnapshotFault.DROP:
            file_system.delete(path)
        else:
            content = bytearray(read_whole(file_system, path))
            content[-1] ^= _ALL_BITS
            file_system.replace(path, bytes(content))
    if paths:
        logger.info("%d snapshots of producers: %s", len(paths), fault.value)
    return len(paths)
