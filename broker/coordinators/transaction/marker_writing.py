"""Ends a transaction in one partition, whoever decided so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster_coordinators import GROUP_TOPIC

if TYPE_CHECKING:
    from ....storage.append_result import AppendResult
    from ....storage.coordinator_batch import TransactionMarker
    from ...cluster import Cluster
    from ...replica.partition import Partition


def write_marker(cluster: Cluster, partition: Partition, marker: TransactionMarker) -> AppendResult:
    """Append the marker and have it hold; raises KafkaError, see PartitionLog.append_coordinated.

    Where flush.messages asks for it, the caller waits for the flush before anybody is told.
    """
    result = partition.append_coordinated(marker, cluster.clock.now_ms())
    coordinators = cluster.coordinators
    if partition.topic_name == GROUP_TOPIC and coordinators.has_groups:
        offsets = coordinators.groups.offsets
        offsets.end_transaction(partition.index, marker.producer_id, is_commit=marker.is_commit)
    return result
