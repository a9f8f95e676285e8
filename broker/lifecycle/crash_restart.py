"""Crashes a node as SIGKILL does, and recovers it from its files.

A crash keeps everything that was written to the files, flushed or not. It closes no log and begins no further disk
step. Sessions, connections, pending requests and timers are lost. The coordinators read groups, offsets and
transactional ids from their topics again. A node in memory keeps its files and what a data folder would have: topics,
configs and the start of the next block of producer ids.
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
from .metadata_store import MetadataFileStore, metadata_of

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..runtime.disk_executor import DiskExecutor
    from .cleaner_thread import CleanerThread
    from .data_directory import DataDirectory

logger = logging.getLogger(__name__)

_ALL_BITS = 0xFF


class SnapshotFault(Enum):
    """What happens to the producer snapshots while a node is down. The values are those of the admin API."""

    KEEP = "keep"
    DROP = "drop"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True)
class LogEndOffsets:
    """The log end offsets of a partition before a crash and after the recovery; 0 for a partition without a log."""

    topic_name: str
    partition: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class CrashedNode:
    """What remains of a crashed node.

    metadata: the metadata before the crash. directory: the data folder, or None in memory.
    end_offsets: the log end offset by topic and partition.
    executors: the disk executors, which may still run a step.
    """

    metadata: ClusterMetadata
    directory: DataDirectory | None
    end_offsets: dict[tuple[str, int], int]
    executors: tuple[DiskExecutor, ...]

    async def wait_executors(self) -> None:
        """Wait for the end of the disk steps that run."""
        for executor in self.executors:
            await executor.wait_abandoned()


def crash_node(cluster: Cluster, cleaner_thread: CleanerThread | None) -> CrashedNode:
    """Crash the node of the cluster. The cluster is empty until restart_node."""
    node, store = cluster.node, cluster.controller.store
    assert store is None or isinstance(store, MetadataFileStore), "the store of a data folder"
    disk_executor = node.replicas.started_disk_executor
    if disk_executor is not None:
        disk_executor.abandon()
    cleaner_executor = None if cleaner_thread is None else cleaner_thread.abandon()
    cluster.clock.cancel_all()
    partitions = list(node.replicas.partitions())
    crashed = CrashedNode(
        metadata_of(cluster.controller),
        None if store is None else store.directory,
        {
            (partition.topic_name, partition.index): 0 if (log := partition.find_log()) is None else log.log_end_offset
            for partition in partitions
        },
        tuple(executor for executor in (disk_executor, cleaner_executor) if executor is not None),
    )
    if not node.replicas.is_on_disk:
        # With a data folder the log scheduler writes it. Without this file deleted records would come back.
        with suppress(OSError):
            logs = node.replicas.logs
            logs.write_checkpoints({LOG_START_OFFSET_CHECKPOINT: logs.checkpoint(LOG_START_OFFSET_CHECKPOINT)})
    for partition in partitions:
        partition.is_deleted = True
        log = partition.find_log()
        if log is not None:
            # A request that is being handled cannot append any more.
            log.fail_flush()
            log.abandon()
    cluster.drop_memory()
    if node.event_loop_bridge is not None:
        node.event_loop_bridge.release()
    if node.file_faults is not None:
        node.file_faults.machine_stopped()
    return crashed


async def restart_node(
    cluster: Cluster, crashed: CrashedNode, snapshots: SnapshotFault = SnapshotFault.KEEP
) -> list[LogEndOffsets]:
    """Load and recover the logs of the crashed node, as after any unclean shutdown. Return their end offsets.

    snapshots: what to do to the producer snapshots first.
    Raises OSError, CorruptFileError, ConfigError, DataDirectoryError. The cluster is empty then, and the call may be
    repeated.
    """
    # The packages for logs are loaded with the first restart, not with the admin API.
    from .cluster_loader import recover_cluster

    await crashed.wait_executors()
    node = cluster.node
    if node.event_loop_bridge is not None:
        node.event_loop_bridge.begin()
    if node.file_faults is not None:
        node.file_faults.machine_started()
    damage_snapshots(node.replicas.file_system, snapshots)
    # A request that was being handled during the crash may have changed the state since.
    cluster.drop_memory()
    try:
        recover_cluster(cluster, crashed.metadata, crashed.directory)
    except BaseException:
        cluster.drop_memory()
        raise
    return [
        LogEndOffsets(topic_name, index, before, _end_offset(cluster, topic_name, index))
        for (topic_name, index), before in crashed.end_offsets.items()
    ]


def _end_offset(cluster: Cluster, topic_name: str, index: int) -> int:
    partition = cluster.node.replicas.find_partition_by_name(topic_name, index)
    log = None if partition is None else partition.find_log()
    return 0 if log is None else log.log_end_offset


def damage_snapshots(file_system: FileSystem, fault: SnapshotFault) -> int:
    """Delete or corrupt the producer snapshots of all partitions. Return their number. No log may be open."""
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
