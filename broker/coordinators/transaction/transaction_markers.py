"""Writes the markers of one transaction to its partitions.

Source: TransactionMarkerRequestCompletionHandler and TransactionMarkerChannelManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....storage.coordinator_batch import TransactionMarker
from .transaction_metadata import TopicPartition, TransactionMetadata

if TYPE_CHECKING:
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager

    # Appends a marker to a partition. Raises KafkaError.
    WriteMarker = Callable[[Partition, TransactionMarker], object]

logger = logging.getLogger(__name__)

# Another client has ended the transaction (WriteTxnMarkers), or the partition has a later epoch of the producer.
_PERMANENT_ERRORS = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED)


class MarkersAbandoned(Exception):
    """A partition has rejected a marker for good. Kafka then sends no more markers for the transaction."""


def write_markers(
    replicas: ReplicaManager, write_marker: WriteMarker, prepared: TransactionMetadata, coordinator_epoch: int
) -> Mapping[TopicPartition, None]:
    """Write the marker of a transaction to its partitions, and return the partitions where the write failed.

    Deleted partitions are skipped. Raises MarkersAbandoned.
    """
    marker = TransactionMarker(
        producer_id=prepared.producer_id,
        producer_epoch=prepared.producer_epoch,
        is_commit=prepared.is_commit,
        coordinator_epoch=coordinator_epoch,
        transaction_version=prepared.client_version,
    )
    failed: dict[TopicPartition, None] = {}
    for topic_name, index in prepared.partitions:
        partition = replicas.find_partition_by_name(topic_name, index)
        if partition is not None and not _write(write_marker, partition, marker):
            failed[topic_name, index] = None
    return failed


def _write(write_marker: WriteMarker, partition: Partition, marker: TransactionMarker) -> bool:
    """Write the marker to one partition. Return False if it must be tried again."""
    try:
        write_marker(partition, marker)
    except KafkaError as error:
        if error.code in _PERMANENT_ERRORS:
            raise MarkersAbandoned(f"{partition.topic_name}-{partition.index}: {error.message}") from error
        logger.error("%s-%d: cannot write the marker: %s", partition.topic_name, partition.index, error.message)
        return False
    return True
