"""Validation of new topics: names and manual replica assignments, with Kafka's error messages.

Source: org.apache.kafka.common.internals.Topic and ReplicationControlManager.validateManualPartitionAssignment,
Kafka 4.3.0; tests/golden/topics-4.3.0.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ...protocol.error_codes import ErrorCode, KafkaError

# The most partitions that one request creates (ReplicationControlManager.MAX_PARTITIONS_PER_BATCH).
PARTITIONS_PER_REQUEST_MAX = 10_000
# A partition's folder is the topic's name, "-" and a number; file systems allow 255 bytes.
TOPIC_NAME_LENGTH_MAX = 249
ALLOWED_CHARACTERS = re.compile(r"[a-zA-Z0-9._-]+")


def find_topic_name_error(name: str) -> str | None:
    """Return Kafka's message for an invalid topic name, or None."""
    reason = _find_reason(name)
    return None if reason is None else f"Topic name is invalid: {reason}"


def _find_reason(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > TOPIC_NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {TOPIC_NAME_LENGTH_MAX}"
    if ALLOWED_CHARACTERS.fullmatch(name) is None:
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def collision_key_of(name: str) -> str:
    """Return a key that is equal for two names that collide: metrics replace '.' by '_'."""
    return name.replace(".", "_")


def check_assignment(
    broker_ids: Sequence[int], known_brokers: Collection[int], replication_factor: int | None = None
) -> None:
    """Raise KafkaError INVALID_REPLICA_ASSIGNMENT if a partition cannot have its replicas on these brokers.

    replication_factor: that of the topic's other partitions, if it has any.
    """
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
    if replication_factor not in (None, len(broker_ids)):
        raise assignment_error(
            f"The manual partition assignment includes a partition with {len(broker_ids)} replica(s), but this is not "
            f"consistent with previous partitions, which have {replication_factor} replica(s)."
        )


def assignment_error(message: str) -> KafkaError:
    """Return a KafkaError INVALID_REPLICA_ASSIGNMENT."""
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
