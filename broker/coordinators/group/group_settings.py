"""The configs of the group coordinator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...config.broker_config import BrokerConfig

MS_PER_MINUTE = 60_000

# The session timeout of a new member until its first join phase is over, because it sends no heartbeats before.
# Source: GroupCoordinatorConfig.CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS, Kafka 4.3.0.
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * MS_PER_MINUTE


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Values of Kafka's group.* and offsets.* keys; the defaults are Kafka's."""

    session_timeout_ms_min: int = 6_000
    session_timeout_ms_max: int = 30 * MS_PER_MINUTE
    members_max: int = 2**31 - 1
    initial_rebalance_delay_ms: int = 3_000
    # Kafka counts characters, although the key is offset.metadata.max.bytes.
    offset_metadata_characters_max: int = 4096
    offsets_retention_ms: int = 7 * 24 * 60 * MS_PER_MINUTE
    offsets_retention_check_interval_ms: int = 10 * MS_PER_MINUTE

    @classmethod
    def of(cls, config: BrokerConfig) -> GroupSettings:
        """Return the values of the broker's configs."""
        return cls(
            session_timeout_ms_min=config.group_min_session_timeout_ms,
            session_timeout_ms_max=config.group_max_session_timeout_ms,
            members_max=config.group_max_size,
            initial_rebalance_delay_ms=config.group_initial_rebalance_delay_ms,
            offset_metadata_characters_max=config.offset_metadata_max_bytes,
            offsets_retention_ms=config.offsets_retention_minutes * MS_PER_MINUTE,
            offsets_retention_check_interval_ms=config.offsets_retention_check_interval_ms,
        )
