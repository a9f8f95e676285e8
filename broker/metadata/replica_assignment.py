"""Validation of manual replica assignments.

Source: ReplicationControlManager.validateManualPartitionAssignment, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...protocol.error_codes import ErrorCode, KafkaError

# The most partitions that one request creates (ReplicationControlManager.MAX_PARTITIONS_PER_BATCH).
PARTITIONS_PER_REQUEST_MAX = 10_000


def check_assignment(broker_ids: Sequence[int], known_brokers: Collection[int]) -> None:
    """Raise KafkaError INVALID_REPLICA_ASSIGNMENT if a partition cannot have its replicas on these brokers."""
    if not broker_ids:
        raise assignment_error("The manual partition assignment includes an empty replica list.")
    previous: int | None = None
    for broker_id in sorted(broker_ids):
        if broker_id not in known_brokers:
            raise assignment_error(
                f"The manual partition assignment includes broker {broker_id}, but no such broker is registered."
            )
        if broker_id == previous:
            raise assignment_error(f"The manual partition assignment includes the broker {broker_id} more than once.")
        previous = broker_id


def assignment_error(message: str) -> KafkaError:
    """Return a KafkaError INVALID_REPLICA_ASSIGNMENT."""
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
