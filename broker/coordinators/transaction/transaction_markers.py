"""Writes the markers of one transaction to its partitions, each on the node that leads it.

Source: TransactionMarkerRequestCompletionHandler and TransactionMarkerChannelManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from ....protocol.error_codes import ErrorCode, KafkaError
from ....storage.coordinator_batch import TransactionMarker
from .transaction_metadata import TopicPartition, TransactionMetadata

# Appends a marker to a partition, given by topic name and index. Raises KafkaError.
AppendMarker = Callable[[str, int, TransactionMarker], None]

logger = logging.getLogger(__name__)

# Another client has ended the transaction (WriteTxnMarkers), or the partition has a later epoch of the producer.
_PERMANENT_ERRORS = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED)


class MarkersAbandoned(Exception):
    """A partition has rejected a marker for good. Kafka then sends no more markers for the transaction."""


def write_markers(
    append_marker: AppendMarker, prepared: TransactionMetadata, coordinator_epoch: int
) -> Mapping[TopicPartition, None]:
    """Write the marker of a transaction to its partitions, and return the partitions where the write failed.

    Deleted partitions are skipped. A write fails too while the partition has no leader that can be reached.
    Raises MarkersAbandoned.
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
        if not _write(append_marker, topic_name, index, marker):
            failed[topic_name, index] = None
    return failed


def _write(append_marker: AppendMarker, topic_name: str, index: int, marker: TransactionMarker) -> bool:
    """Write the marker to one partition. Return False if it must be tried again."""
    try:
        append_marker(topic_name, index, marker)
    except KafkaError as error:
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return True
        if error.code in _PERMANENT_ERRORS:
            raise MarkersAbandoned(f"{topic_name}-{index}: {error.message}") from error
        logger.error("%s-%d: cannot write the marker: %s", topic_name, index, error.message)
        return False
    return True
