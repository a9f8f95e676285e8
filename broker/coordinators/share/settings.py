"""The configuration of share groups, as it is in the moment it is asked for.

Source: ShareGroupConfig, GroupCoordinatorConfig and GroupConfig, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .share_partition import ShareLimits

if TYPE_CHECKING:
    from ...config.dynamic_configs import DynamicConfigs

EARLIEST, LATEST = "earliest", "latest"
BY_DURATION = "by_duration:"


class ShareGroupSettings:
    """Values of Kafka's group.share.* keys, and what was set for single groups (share.*)."""

    __slots__ = ("_configs",)

    def __init__(self, configs: DynamicConfigs) -> None:
        """configs: what the settings are read from, at each use."""
        self._configs = configs

    @property
    def members_max(self) -> int:
        """How many members a group may have."""
        return self._number("group.share.max.size")

    @property
    def sessions_max(self) -> int:
        """How many members may fetch at a time."""
        return self._number("group.share.max.share.sessions")

    def session_timeout_ms(self, group_id: str) -> int:
        """Return after how long a member is gone that sends no heartbeat."""
        return self._own(group_id, "session.timeout.ms")

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """Return how often members are to send heartbeats."""
        return self._own(group_id, "heartbeat.interval.ms")

    def assignment_interval_ms(self, group_id: str) -> int:
        """Return how much time is to be between two target assignments."""
        return self._own(group_id, "assignment.interval.ms")

    def lock_ms(self, group_id: str) -> int:
        """Return for how long a member has what it acquired."""
        return self._own(group_id, "record.lock.duration.ms")

    def limits(self, group_id: str) -> ShareLimits:
        """Return what holds for the records of the group."""
        return ShareLimits(
            delivery_count_max=self._own(group_id, "delivery.count.limit"),
            lock_ms=self.lock_ms(group_id),
            locks_max=self._own(group_id, "partition.max.record.locks"),
        )

    def auto_offset_reset(self, group_id: str) -> str:
        """Return where the group begins in a partition: EARLIEST, LATEST, or BY_DURATION and an ISO 8601 duration."""
        return self._text(group_id, "share.auto.offset.reset") or LATEST

    def is_committed_only(self, group_id: str) -> bool:
        """Whether the group gets records of committed transactions only."""
        return self._text(group_id, "share.isolation.level") == "read_committed"

    def _text(self, group_id: str, key: str) -> str | None:
        return self._configs.group_configs.get(group_id, {}).get(key)

    def _number(self, key: str) -> int:
        value = self._configs.current.value_of(key)
        assert isinstance(value, int), f"{key} is {value!r}"
        return value

    def _own(self, group_id: str, name: str) -> int:
        """Return what was set for the group, brought within the bounds of the broker; the default where nothing was."""
        text = self._text(group_id, f"share.{name}")
        if text is None:
            return self._number(f"group.share.{name}")
        return min(max(int(text), self._number(f"group.share.min.{name}")), self._number(f"group.share.max.{name}"))
