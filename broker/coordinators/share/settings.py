"""The configs of share groups, read from the configs of their node at each use.

Source: ShareGroupConfig, GroupCoordinatorConfig and GroupConfig, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..group.own_configs import OwnConfigs
from .share_partition import ShareLimits

if TYPE_CHECKING:
    from ...replica.replica_manager import ReplicaManager

EARLIEST, LATEST = "earliest", "latest"
BY_DURATION = "by_duration:"


class ShareGroupSettings:
    """Kafka's group.share.* keys, and the group configs that override them (share.*)."""

    __slots__ = ("_configs",)

    def __init__(self, replicas: ReplicaManager) -> None:
        """replicas: those of the node whose configs apply."""
        self._configs = OwnConfigs(replicas, "share")

    @property
    def members_max(self) -> int:
        """The maximal number of members of a group."""
        return self._configs.number_of_node("group.share.max.size")

    @property
    def sessions_max(self) -> int:
        """The maximal number of share sessions."""
        return self._configs.number_of_node("group.share.max.share.sessions")

    def session_timeout_ms(self, group_id: str) -> int:
        """Return the session timeout of members."""
        return self._configs.number(group_id, "session.timeout.ms")

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """Return the heartbeat interval of members."""
        return self._configs.number(group_id, "heartbeat.interval.ms")

    def assignment_interval_ms(self, group_id: str) -> int:
        """Return the least time between two target assignments."""
        return self._configs.number(group_id, "assignment.interval.ms")

    def lock_ms(self, group_id: str) -> int:
        """Return for how long acquired records are locked."""
        return self._configs.number(group_id, "record.lock.duration.ms")

    def limits(self, group_id: str) -> ShareLimits:
        """Return the limits of the group's partitions."""
        return ShareLimits(
            delivery_count_max=self._configs.number(group_id, "delivery.count.limit"),
            lock_ms=self.lock_ms(group_id),
            locks_max=self._configs.number(group_id, "partition.max.record.locks"),
        )

    def auto_offset_reset(self, group_id: str) -> str:
        """Return EARLIEST, LATEST, or BY_DURATION and an ISO 8601 duration."""
        return self._configs.text(group_id, "share.auto.offset.reset") or LATEST

    def is_committed_only(self, group_id: str) -> bool:
        """Whether the group reads records of committed transactions only."""
        return self._configs.text(group_id, "share.isolation.level") == "read_committed"

    def dead_letter_topic(self, group_id: str) -> str:
        """Return the topic of the group's dead letters; "" without one."""
        return self._configs.text(group_id, "errors.deadletterqueue.topic.name") or ""

    def copies_dead_letters(self, group_id: str) -> bool:
        """Whether dead letters of the group have the key and the value of their record."""
        text = self._configs.text(group_id, "errors.deadletterqueue.copy.record.enable")
        return text is not None and text.strip().lower() == "true"
