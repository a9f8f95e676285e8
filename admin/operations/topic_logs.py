"""Reads the logs of a topic batch by batch, for the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...protocol.batches.whole_batches import split_batches
from ...storage.log_config import Records
from ..leading_partitions import find_leading_partition

if TYPE_CHECKING:
    from ...broker.cluster import Cluster

# Bytes of one read; a larger batch is read as a whole.
READ_BYTES_MAX = 1024 * 1024


class ClusterLogs:
    """The logs of all topics of a cluster, each as its leader has it."""

    def __init__(self, cluster: Cluster) -> None:
        """Read the logs of this cluster."""
        self._cluster = cluster

    def partitions(self, topic: str) -> list[int]:
        """Return the partitions of the topic; none for an unknown topic."""
        found = self._cluster.image.find_topic(topic)
        return [] if found is None else [partition.index for partition in found.partitions]

    def batches(self, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
        """Yield each complete batch, from the one that contains from_offset or from the log start offset."""
        found = self._cluster.image.find_topic(topic)
        if found is None or not found.has_partition(partition):
            return
        leader = find_leading_partition(self._cluster, found, found.partitions[partition])
        log = None if leader is None else leader.find_log()
        if log is None or log.config.records is Records.GENERATED:
            # Generated records were not produced, and have nearly no end.
            return
        offset = max(from_offset, log.log_start_offset)
        while offset < log.log_end_offset:
            fetched = log.read(offset, READ_BYTES_MAX, upper_offset=log.log_end_offset, min_one_batch=True)
            next_offset = offset
            for batch in split_batches(memoryview(b"".join(fetched.views))):
                next_offset = batch.header.last_offset + 1
                yield batch.data
            if next_offset == offset:
                return
            offset = next_offset
