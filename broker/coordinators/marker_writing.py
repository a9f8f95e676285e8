"""Ends a transaction in one partition, whoever decided so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...storage.append_result import AppendResult
    from ...storage.coordinator_batch import TransactionMarker
    from ..cluster import Cluster
    from ..partition import Partition


def write_marker(cluster: Cluster, partition: Partition, marker: TransactionMarker) -> AppendResult:
    """Append the marker and have it hold; raises KafkaError, see PartitionLog.append_coordinated.

    Where flush.messages asks for it, the caller waits for the flush before anybody is told.
    """
    return partition.append_coordinated(marker, cluster.clock.now_ms())
