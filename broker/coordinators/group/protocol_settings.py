"""The configs of single groups of one protocol, limited by those of their node, and read at each use.

Source: GroupConfig, GroupConfigManager and GroupCoordinatorConfig, Kafka 4.4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...replica.replica_manager import ReplicaManager


class ProtocolSettings:
    """Reads configs of groups (share.session.timeout.ms) and of the node (group.share.session.timeout.ms).

    Has those that consumer, share and streams groups all have.
    """

    __slots__ = ("_protocol", "_replicas")

    def __init__(self, replicas: ReplicaManager, protocol: str) -> None:
        """replicas: those of the node whose configs apply. protocol: the first part of the keys of groups."""
        self._replicas = replicas
        self._protocol = protocol

    @property
    def members_max(self) -> int:
        """The maximal number of members of a group."""
        return self.number_of_node(f"group.{self._protocol}.max.size")

    def session_timeout_ms(self, group_id: str) -> int:
        """Return the time without a heartbeat after which a member is removed."""
        return self.number(group_id, "session.timeout.ms")

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """Return the heartbeat interval of members."""
        return self.number(group_id, "heartbeat.interval.ms")

    def assignment_interval_ms(self, group_id: str) -> int:
        """Return the least time between two target assignments."""
        if not self._replicas.emulated_version.rules.delays_assignments:
            return 0
        return self.number(group_id, "assignment.interval.ms")

    def text(self, group_id: str, key: str) -> str | None:
        """Return the text of a group's own config; None if the group does not have it."""
        return self._replicas.image.configs.group_configs.get(group_id, {}).get(key)

    def number_of_node(self, key: str) -> int:
        """Return a number of the node's configs."""
        value = self._replicas.config.value_of(key)
        assert isinstance(value, int), f"{key} is {value!r}"
        return value

    def number(self, group_id: str, name: str, *, has_min: bool = True, has_max: bool = True) -> int:
        """Return the group's value, limited by the node's min and max, or the node's default.

        has_min, has_max: whether the node has such a limit.
        """
        text = self.text(group_id, f"{self._protocol}.{name}")
        if text is None:
            return self.number_of_node(f"group.{self._protocol}.{name}")
        number = int(text)
        if has_min:
            number = max(number, self.number_of_node(f"group.{self._protocol}.min.{name}"))
        if has_max:
            number = min(number, self.number_of_node(f"group.{self._protocol}.max.{name}"))
        return number
