"""Crashes a node as SIGKILL does, and recovers it from its files.

A crash keeps everything that was written to the files, flushed or not. It closes no log and begins no further disk
step. Sessions, connections, pending requests and timers are lost. The coordinators read groups, offsets and
transactional ids from their topics again. A node in memory keeps its files and what a data folder would have: topics,
configs and the start of the next block of producer ids.
Of several nodes one dies alone: the metadata stays with the controller, which has other nodes lead its partitions. The
node finds its replicas in its files, and fetches what it has missed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from ...storage.checkpoints.checkpoint_files import LOG_START_OFFSET_CHECKPOINT, REPLICATION_OFFSET_CHECKPOINT
from ...storage.file_systems.file_system import FileSystem, read_whole
from ...storage.file_systems.os_file_system import OsFileSystem
from ...storage.log_files import SNAPSHOT_SUFFIX, base_offset_of, partition_of
from .. import lifecycle
from ..metadata.cluster_metadata import ClusterMetadata
from .metadata_store import MetadataFileStore, metadata_of

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..membership import Membership
    from ..node import Node
    from ..runtime.clock import AdjustableClock
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
    was_killed: whether the logs were not closed.
    executors: the disk executors, which may still run a step.
    """

    metadata: ClusterMetadata
    directory: DataDirectory | None
    end_offsets: dict[tuple[str, int], int]
    executors: tuple[DiskExecutor, ...]
    was_killed: bool = True

    async def wait_executors(self) -> None:
        """Wait for the end of the disk steps that run."""
        for executor in self.executors:
            await executor.wait_abandoned()


def crash_node(
    cluster: Cluster, cleaner_thread: CleanerThread | None, node: Node | None = None, *, is_noticed: bool = True
) -> CrashedNode:
    """Crash a node of the cluster, the first one by default. A cluster of one node is empty until restart_node.

    is_noticed: whether the controller of several nodes learns of the death at once.
    """
    node = node or cluster.node
    disk_executor = node.replicas.started_disk_executor
    if disk_executor is not None:
        disk_executor.abandon()
    cleaner_executor = None if cleaner_thread is None else cleaner_thread.abandon()
    crashed = _remains_of(cluster, node, (disk_executor, cleaner_executor))
    if not node.replicas.is_on_disk:
        # With a data folder the log scheduler writes them. Without the first one deleted records would come back.
        with suppress(OSError):
            logs = node.replicas.logs
            written = (LOG_START_OFFSET_CHECKPOINT, REPLICATION_OFFSET_CHECKPOINT)
            logs.write_checkpoints({name: logs.checkpoint(name) for name in written})
    _report_lost_writes(node)
    for partition in node.replicas.partitions():
        partition.is_deleted = True
        log = partition.find_log()
        if log is not None:
            # A request that is being handled cannot append any more.
            log.fail_flush()
            log.abandon()
    if cluster.membership is None:
        cluster.clock.cancel_all()
        cluster.drop_memory()
    else:
        _drop_memory_of(node)
        cluster.membership.node_stopped(node.node_id, is_noticed=is_noticed)
    if node.event_loop_bridge is not None:
        node.event_loop_bridge.release()
    if node.file_faults is not None:
        node.file_faults.machine_stopped()
    return crashed


def _report_lost_writes(node: Node) -> None:
    """Report what the files may lose with the crash, because a file fault kept it from the disk."""
    if node.file_faults is None or not node.file_faults.is_armed:
        return
    for partition in node.replicas.partitions():
        log = partition.find_log()
        if log is not None:
            node.replicas.before_removal(partition.topic_name, partition.index, log.recovery_point)


async def close_node(cluster: Cluster, node: Node) -> CrashedNode:
    """Shut a node of several down: close its logs, so that its next start has nothing to recover. Raises OSError.

    The caller has moved its leaders away (ReplicationControl.begin_shutdown) and closed its connections.
    """
    membership = cluster.membership
    assert membership is not None, "a cluster of one node is closed as a whole"
    closed = replace(_remains_of(cluster, node, ()), was_killed=False)
    await node.stop_disk_executor()
    node.replicas.logs.close()
    for partition in node.replicas.partitions():
        partition.is_deleted = True
    _drop_memory_of(node)
    membership.node_stopped(node.node_id, is_noticed=True)
    return closed


def _remains_of(cluster: Cluster, node: Node, executors: Sequence[DiskExecutor | None]) -> CrashedNode:
    store = cluster.controller.store
    assert store is None or isinstance(store, MetadataFileStore), "the store of a data folder"
    return CrashedNode(
        metadata_of(cluster.controller),
        None if store is None else store.directory,
        {
            (partition.topic_name, partition.index): 0 if (log := partition.find_log()) is None else log.log_end_offset
            for partition in node.replicas.partitions()
        },
        tuple(executor for executor in executors if executor is not None),
    )


def _drop_memory_of(node: Node) -> None:
    """Drop what one of several nodes has in memory, with its timers: the others go on, and so does the clock."""
    for partition in node.replicas.partitions():
        if partition.replication is not None:
            partition.replication.drop_waiting()
    coordinators = node.take_coordinators()
    if coordinators is not None:
        coordinators.unload()
    node.drop_memory()


async def restart_node(
    cluster: Cluster, crashed: CrashedNode, snapshots: SnapshotFault = SnapshotFault.KEEP, node: Node | None = None
) -> list[LogEndOffsets]:
    """Load and recover the logs of the crashed node, as after any unclean shutdown. Return their end offsets.

    snapshots: what to do to the producer snapshots first.
    Raises OSError, CorruptFileError, ConfigError, DataDirectoryError. The node has no log then, and the call may be
    repeated.
    """
    await crashed.wait_executors()
    node = node or cluster.node
    if node.event_loop_bridge is not None:
        node.event_loop_bridge.begin()
    if node.file_faults is not None:
        node.file_faults.machine_started()
    damage_snapshots(node.replicas.file_system, snapshots)
    if cluster.membership is None:
        _recover_cluster(cluster, crashed)
    else:
        _recover_replicas(node, cluster.membership, cluster.clock, was_killed=crashed.was_killed)
    return [
        LogEndOffsets(topic_name, index, before, _end_offset(node, topic_name, index))
        for (topic_name, index), before in crashed.end_offsets.items()
    ]


def _recover_cluster(cluster: Cluster, crashed: CrashedNode) -> None:
    # A request that was being handled during the crash may have changed the state since.
    cluster.drop_memory()
    try:
        lifecycle.cluster_loader.recover_cluster(cluster, crashed.metadata, crashed.directory)
    except BaseException:
        cluster.drop_memory()
        raise


def _recover_replicas(node: Node, membership: Membership, clock: AdjustableClock, *, was_killed: bool) -> None:
    node.drop_memory()
    if isinstance(node.inner_files, OsFileSystem):
        node.inner_files.discard_open_files()
    membership.node_registers(node.node_id, was_killed=was_killed)
    try:
        lifecycle.topic_loader.TopicLoader(node, clock).load_replicas()
    except BaseException:
        node.drop_memory()
        raise
    membership.node_started(node.node_id)


def _end_offset(node: Node, topic_name: str, index: int) -> int:
    partition = node.replicas.find_partition_by_name(topic_name, index)
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
        if base_offset_of(name, SNAPSHOT_SUFFIX) is not None
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
