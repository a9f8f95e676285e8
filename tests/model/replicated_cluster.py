"""Three nodes in memory without sockets, on a clock that only tests move, with one topic of one partition."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TypeVar

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.lifecycle.crash_restart import CrashedNode, close_node, crash_node, restart_node
from fauxka.broker.membership import Membership
from fauxka.broker.metadata.features import ELR_VERSION
from fauxka.broker.metadata.metadata_image import PartitionRegistration
from fauxka.broker.node import Node
from fauxka.broker.replica.partition import Partition
from fauxka.broker.replica.replica_manager import ReplicaManager
from fauxka.broker.replica.unsafe_append import UnsafeAppend
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.partition_log import PartitionLog

from ..manual_clock import manual_clock
from ..storage.logs import batches_in
from .cluster_model import Entry, LogModel

TOPIC = "t"
FETCH_BYTES = 10**9
# Base offset, length; then the leader epoch; then magic and the rest.
EPOCH_AT, REST_AT = 12, 16

Result = TypeVar("Result")


class ReplicatedCluster:
    """The cluster. truncations: node id, first removed offset and log end before. results: by the key of the write."""

    def __init__(
        self,
        replicas: Sequence[int],
        min_isr: int,
        *,
        has_elr: bool,
        is_unclean_enabled: bool,
        make_files: Callable[[], FileSystem] | None = None,
    ) -> None:
        """make_files: creates the files of the second and of the third node; in memory by default."""
        self.clock = manual_clock()
        self.cluster = Cluster(BrokerConfig.from_entries({}), clock=self.clock)
        for _ in range(2):
            self.cluster.add_node(file_system=None if make_files is None else make_files())
        self.cluster.image.features.updated[ELR_VERSION] = int(has_elr)
        self.truncations: list[tuple[int, int, int]] = []
        self.results: dict[int, list[str]] = {}
        for node in self.cluster.nodes:
            self._note_truncations(node.replicas)
        self.membership.all_started()
        configs = configs_of(min_isr, is_unclean_enabled=is_unclean_enabled)
        self.topic = self.cluster.controller.create_topic(TOPIC, 1, assignments=[list(replicas)], configs=configs)
        self._stopped: dict[int, CrashedNode] = {}

    def _note_truncations(self, replicas: ReplicaManager) -> None:
        truncate = replicas.truncate_log

        def truncate_log(partition: Partition, end_offset: int) -> None:
            self.truncations.append((replicas.node_id, end_offset, partition.log.log_end_offset))
            truncate(partition, end_offset)

        # The manager is this cluster's own, so that nothing has to be restored. A started patch would keep it for ever.
        vars(replicas)["truncate_log"] = truncate_log

    @property
    def membership(self) -> Membership:
        assert self.cluster.membership is not None, "several nodes"
        return self.cluster.membership

    @property
    def registration(self) -> PartitionRegistration:
        return self.topic.partitions[0]

    def node(self, node_id: int) -> Node:
        return self.cluster.nodes[node_id - 1]

    def partition(self, node_id: int) -> Partition:
        partition = self.node(node_id).replicas.find_partition(self.topic.topic_id, 0)
        assert partition is not None, "a node that runs has every partition"
        return partition

    # -- nodes

    def kill(self, node_id: int, *, is_noticed: bool) -> None:
        self._stopped[node_id] = crash_node(self.cluster, None, self.node(node_id), is_noticed=is_noticed)

    def stop(self, node_id: int) -> None:
        self.cluster.controller.replication.begin_shutdown(node_id)
        self._stopped[node_id] = finished(close_node(self.cluster, self.node(node_id)))

    def start(self, node_id: int) -> None:
        finished(restart_node(self.cluster, self._stopped.pop(node_id), node=self.node(node_id)))

    def shrink_isrs(self) -> None:
        for node in self.cluster.nodes:
            node.replicas.shrink_isrs()

    # -- writes

    def wait(self, node_id: int, key: int, end_offset: int, timeout_ms: int) -> None:
        """Have a write wait for replication."""
        self.results[key] = []
        unsafe = UnsafeAppend(self.partition(node_id), end_offset, must_flush=False, must_replicate=True)
        unsafe.when_safe(timeout_ms, partial(self._ended, key))

    def _ended(self, key: int, error_code: ErrorCode) -> None:
        self.results[key].append(error_code.name)

    # -- what a node has

    def log_of(self, node_id: int) -> LogModel:
        """Return what the log of a replica has, from its start on."""
        log = self.partition(node_id).find_log()
        if log is None:
            return LogModel()
        return LogModel(entries_of(log), log.log_start_offset, log.high_watermark)


def configs_of(min_isr: int, *, is_unclean_enabled: bool) -> dict[str, str]:
    return {
        "min.insync.replicas": str(min_isr),
        "unclean.leader.election.enable": "true" if is_unclean_enabled else "false",
    }


def entries_of(log: PartitionLog) -> list[Entry]:
    """Return one entry an offset; None before the log start. Every batch has one record."""
    fetched = log.read(log.log_start_offset, FETCH_BYTES, upper_offset=log.log_end_offset, min_one_batch=True)
    entries: list[Entry] = [None] * log.log_start_offset
    for batch in batches_in(b"".join(fetched.views)):
        offset = int.from_bytes(batch[:8], "big")
        if offset >= log.log_start_offset:
            assert offset == len(entries), "batches are consecutive"
            entries.append((int.from_bytes(batch[EPOCH_AT:REST_AT], "big"), batch[REST_AT:]))
    assert len(entries) == log.log_end_offset
    return entries


def finished(coroutine: Coroutine[object, None, Result]) -> Result:
    """Return the result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise AssertionError("in memory nothing waits")
