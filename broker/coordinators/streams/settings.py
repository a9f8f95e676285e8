"""The configs of streams groups, read from the configs of their node at each use.

Source: GroupCoordinatorConfig, GroupConfig and GroupMetadataManager.streamsGroupAssignmentConfigs, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..group.protocol_settings import ProtocolSettings

if TYPE_CHECKING:
    from ...replica.replica_manager import ReplicaManager

STANDBY_REPLICAS = "num.standby.replicas"
RACK_TAGS = "rack.aware.assignment.tags"


class StreamsGroupSettings(ProtocolSettings):
    """Kafka's group.streams.* keys, and the group configs that override them (streams.*)."""

    __slots__ = ()

    def __init__(self, replicas: ReplicaManager) -> None:
        """replicas: those of the node whose configs apply."""
        super().__init__(replicas, "streams")

    @property
    def is_complete(self) -> bool:
        """Whether the node follows a release with all of KIP-1071 (ReleaseRules.completes_streams_groups)."""
        return self._replicas.emulated_version.rules.completes_streams_groups

    def initial_delay_ms(self, group_id: str) -> int:
        """Return for how long the first assignment of a group waits for more members."""
        return self.number(group_id, "initial.rebalance.delay.ms", has_min=False, has_max=False)

    def task_offset_interval_ms(self, group_id: str) -> int:
        """Return how often members report the offsets of their tasks."""
        return self.number(group_id, "task.offset.interval.ms", has_max=False)

    def acceptable_recovery_lag(self, group_id: str) -> int:
        """Return the lag up to which the state of a task is ready to become active."""
        return self.number(group_id, "acceptable.recovery.lag", has_min=False, has_max=False)

    def standby_replicas(self, group_id: str) -> int:
        """Return the number of standby tasks of each task with state."""
        asked = self.number(group_id, STANDBY_REPLICAS, has_min=False, has_max=False)
        return min(asked, self.number_of_node("group.streams.max.standby.replicas"))

    def refines(self, group_id: str) -> bool:
        """Return whether target assignments are refined with warm-up tasks. Kafka 4.4.0 keeps them, and adds none."""
        return self.is_complete and self.number(group_id, "num.warmup.replicas", has_min=False, has_max=False) > 0

    def rack_tags(self, group_id: str) -> list[str]:
        """Return the client tags that members need for an assignment by rack."""
        text = self.text(group_id, f"streams.{RACK_TAGS}")
        if text is None:
            return self._replicas.config.list_of(f"group.streams.{RACK_TAGS}")
        return [tag.strip() for tag in text.split(",") if tag.strip()]

    def assignment_configs(self, group_id: str) -> Mapping[str, str]:
        """Return the configs of the next target assignment. The group has a new epoch if they have changed."""
        configs = {STANDBY_REPLICAS: str(self.standby_replicas(group_id))}
        if tags := self.rack_tags(group_id):
            configs[RACK_TAGS] = ",".join(tags)
        return configs
