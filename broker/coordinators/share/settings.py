"""The configs of share groups, read from the configs of their node at each use.

Source: ShareGroupConfig, GroupCoordinatorConfig and GroupConfig, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..group.protocol_settings import ProtocolSettings
from .share_partition import ShareLimits

if TYPE_CHECKING:
    from ...replica.replica_manager import ReplicaManager

EARLIEST, LATEST = "earliest", "latest"
BY_DURATION = "by_duration:"


class ShareGroupSettings(ProtocolSettings):
    """Kafka's group.share.* keys, and the group configs that override them (share.*)."""

    __slots__ = ()

    def __init__(self, replicas: ReplicaManager) -> None:
        """replicas: those of the node whose configs apply."""
        super().__init__(replicas, "share")

    @property
    def sessions_max(self) -> int:
        """The maximal number of share sessions."""
        return self.number_of_node("group.share.max.share.sessions")

    def lock_ms(self, group_id: str) -> int:
        """Return for how long acquired records are locked."""
        return self.number(group_id, "record.lock.duration.ms")

    def limits(self, group_id: str) -> ShareLimits:
        """Return the limits of the group's partitions."""
        return ShareLimits(
            delivery_count_max=self.number(group_id, "delivery.count.limit"),
            lock_ms=self.lock_ms(group_id),
            locks_max=self.number(group_id, "partition.max.record.locks"),
        )

    def auto_offset_reset(self, group_id: str) -> str:
        """Return EARLIEST, LATEST, or BY_DURATION and an ISO 8601 duration."""
        return self.text(group_id, "share.auto.offset.reset") or LATEST

    def is_committed_only(self, group_id: str) -> bool:
        """Whether the group reads records of committed transactions only."""
        return self.text(group_id, "share.isolation.level") == "read_committed"

    def dead_letter_topic(self, group_id: str) -> str:
        """Return the topic of the group's dead letters; "" without one."""
        return self.text(group_id, "errors.deadletterqueue.topic.name") or ""

    def copies_dead_letters(self, group_id: str) -> bool:
        """Whether dead letters of the group have the key and the value of their record."""
        text = self.text(group_id, "errors.deadletterqueue.copy.record.enable")
        return text is not None and text.strip().lower() == "true"
