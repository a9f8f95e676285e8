"""The markers that end one transaction in all of its partitions.

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
    from ....storage.append_result import AppendResult
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager

    WriteMarker = Callable[[Partition, TransactionMarker], AppendResult]

logger = logging.getLogger(__name__)

# Somebody else has ended the transaction, or the producer is in a later epoch there.
_PERMANENT = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED)


class MarkersGivenUp(Exception):
    """A partition has refused a marker for good; Kafka sends no more markers for the transaction then."""


def write_markers(
    replicas: ReplicaManager, write_marker: WriteMarker, prepared: TransactionMetadata, coordinator_epoch: int
) -> Mapping[TopicPartition, None]:
    """Write the marker of a transaction whose end is decided; return the partitions that it is still to be written to.

    A partition that was deleted needs none. Raises MarkersGivenUp.
    """
    marker = TransactionMarker(
        producer_id=prepared.producer_id,
        producer_epoch=prepared.producer_epoch,
        is_commit=prepared.is_commit,
        coordinator_epoch=coordinator_epoch,
        transaction_version=prepared.client_version,
    )
    left: dict[TopicPartition, None] = {}
    for topic_name, index in prepared.partitions:
        partition = replicas.find_partition_by_name(topic_name, index)
        if partition is not None and not _write(write_marker, partition, marker):
            left[topic_name, index] = None
    return left


def _write(write_marker: WriteMarker, partition: Partition, marker: TransactionMarker) -> bool:
    """Write the marker to one partition; return whether that is done."""
    try:
        write_marker(partition, marker)
    except KafkaError as error:
        if error.code in _PERMANENT:
            raise MarkersGivenUp(f"{partition.topic_name}-{partition.index}: {error.message}") from error
        logger.error("%s-%d takes no marker yet: %s", partition.topic_name, partition.index, error.message)
        return False
    flusher = partition.flusher
    if flusher is not None and flusher.must_wait():
        # Nobody waits for it but those who read what is committed.
        flusher.flush_soon()
    return True
