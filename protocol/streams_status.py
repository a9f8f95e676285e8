"""What a response of StreamsGroupHeartbeat says about its group (KIP-1071)."""

from __future__ import annotations

from enum import IntEnum


class StreamsStatus(IntEnum):
    """What keeps the application from running, by the numbers of StreamsGroupHeartbeatResponse.Status, Kafka 4.4.0."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
    MISSING_CLIENT_TAGS = 6
