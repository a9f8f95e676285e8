"""Places the replicas of new partitions on brokers, spread over brokers and racks (Kafka: StripedReplicaPlacer).

Rules:
- The replicas of a partition are on different brokers, and in different racks as long as there are racks.
- Consecutive partitions have their leaders in consecutive racks, and there on consecutive brokers.
- The first replica of a partition is not on a fenced broker, and another one is only where the others do not suffice.
- Brokers without a rack are in one rack.
Where the first partition starts is random, so that topics of one partition do not all have the same leader.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError
from ..config.broker_config import BrokerConfig
from .metadata_image import BrokerRegistration

if TYPE_CHECKING:
    from random import Random


def place_replicas(
    brokers: Sequence[BrokerRegistration], partition_count: int, replication_factor: int, random: Random
) -> list[list[int]]:
    """Return the broker ids of each partition's replicas, the preferred leader first.

    Raises KafkaError INVALID_REPLICATION_FACTOR for more replicas than brokers, or if all brokers are fenced.
    """
    check_replication_factor(brokers, replication_factor)
    unfenced = _Stripes(_by_rack(broker for broker in brokers if not broker.is_fenced), random)
    fenced = _Stripes(_by_rack(broker for broker in brokers if broker.is_fenced), random)
    return [
        [*(chosen := unfenced.take(number, replication_factor)), *fenced.take(number, replication_factor - len(chosen))]
        for number in range(partition_count)
    ]


def check_replication_factor(brokers: Sequence[BrokerRegistration], replication_factor: int) -> None:
    """Raise KafkaError INVALID_REPLICATION_FACTOR for more replicas than brokers, or if all brokers are fenced."""
    reason: str | None = None
    if replication_factor > len(brokers):
        reason = (
            f"The target replication factor of {replication_factor} cannot be reached because only {len(brokers)} "
            "broker(s) are registered or some brokers have all their log directories cordoned."
        )
    elif all(broker.is_fenced for broker in brokers):
        reason = "All brokers are currently fenced."
    if reason is not None:
        message = f"Unable to replicate the partition {replication_factor} time(s): {reason}"
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)


def with_replication_key(error: KafkaError, config: BrokerConfig) -> str:
    """Return the message of a topic that was not created, for the log, with the key that causes it."""
    if error.code is not ErrorCode.INVALID_REPLICATION_FACTOR:
        return str(error)
    return f"{error}; default.replication.factor is {config.default_replication_factor}"


def _by_rack(brokers: Iterable[BrokerRegistration]) -> list[list[int]]:
    racks: dict[str | None, list[int]] = {}
    for broker in brokers:
        racks.setdefault(broker.rack, []).append(broker.node_id)
    return list(racks.values())


class _Stripes:
    """Brokers by rack, from which each partition takes some in turn."""

    def __init__(self, racks: list[list[int]], random: Random) -> None:
        for brokers in racks:
            random.shuffle(brokers)
        random.shuffle(racks)
        self._racks = racks
        self._count = sum(map(len, racks))

    def take(self, number: int, count: int) -> list[int]:
        """Return up to count brokers for the partition of that number."""
        taken: list[int] = []
        for turn in range(max(map(len, self._racks), default=0)):
            for step in range(len(self._racks)):
                if len(taken) == min(count, self._count):
                    return taken
                rack = self._racks[(number + step) % len(self._racks)]
                if turn < len(rack):
                    taken.append(rack[(number // len(self._racks) + turn) % len(rack)])
        return taken
