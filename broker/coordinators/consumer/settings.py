"""The configs of groups of the consumer protocol, and the assignors that they name. Later changes apply at once.

Source: GroupCoordinatorConfig, GroupConfig and ConsumerGroupMigrationPolicy, Kafka 4.3.0. Its
consumerGroupAssignors also accepts names of Java classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..assignors.group_spec import Assign
from ..assignors.range import assign_range
from ..assignors.uniform import assign_uniform

if TYPE_CHECKING:
    from ...config.broker_config import BrokerConfig
    from ...replica.replica_manager import ReplicaManager

UPGRADING_POLICIES = frozenset({"upgrade", "bidirectional"})
DOWNGRADING_POLICIES = frozenset({"downgrade", "bidirectional"})


@dataclass(frozen=True, slots=True)
class ConsumerGroupLimits:
    """The broker's values of Kafka's group.consumer.* keys, with Kafka's defaults."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    # The shortest time between two target assignments of a group.
    assignment_interval_ms: int = 1_000
    # The allowed values of the configs of a group.
    session_timeout_ms_range: tuple[int, int] = (45_000, 60_000)
    heartbeat_interval_ms_range: tuple[int, int] = (5_000, 15_000)
    assignment_interval_ms_range: tuple[int, int] = (0, 15_000)
    members_max: int = 2**31 - 1
    classic_members_max: int = 2**31 - 1
    assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "bidirectional"
    regex_refresh_interval_ms: int = 600_000

    @classmethod
    def of(cls, config: BrokerConfig) -> ConsumerGroupLimits:
        """Return the values of a broker config."""
        return cls(
            session_timeout_ms=config.group_consumer_session_timeout_ms,
            heartbeat_interval_ms=config.group_consumer_heartbeat_interval_ms,
            assignment_interval_ms=config.group_consumer_assignment_interval_ms,
            session_timeout_ms_range=(
                config.group_consumer_min_session_timeout_ms,
                config.group_consumer_max_session_timeout_ms,
            ),
            heartbeat_interval_ms_range=(
                config.group_consumer_min_heartbeat_interval_ms,
                config.group_consumer_max_heartbeat_interval_ms,
            ),
            assignment_interval_ms_range=(
                config.group_consumer_min_assignment_interval_ms,
                config.group_consumer_max_assignment_interval_ms,
            ),
            members_max=config.group_consumer_max_size,
            classic_members_max=config.group_max_size,
            assignors=assignor_names(config.list_of("group.consumer.assignors")),
            migration_policy=config.group_consumer_migration_policy.lower(),
            regex_refresh_interval_ms=config.group_consumer_regex_refresh_interval_ms,
        )


class ConsumerGroupSettings:
    """The limits of the broker, and the configs of single groups."""

    __slots__ = ("_group_texts", "_limits")

    def __init__(
        self, limits: Callable[[], ConsumerGroupLimits], group_texts: Callable[[str], dict[str, str]] | None = None
    ) -> None:
        """limits: returns the current limits. group_texts: returns the configs of a group as text, by key."""
        self._limits = limits
        self._group_texts = group_texts

    @classmethod
    def of_node(cls, replicas: ReplicaManager) -> ConsumerGroupSettings:
        """Return the settings in force on the node of replicas. They follow later changes of configs."""
        known = (replicas.config, replicas.emulated_version, _limits_of(replicas))

        def limits() -> ConsumerGroupLimits:
            nonlocal known
            if known[0] is not replicas.config or known[1] is not replicas.emulated_version:
                known = (replicas.config, replicas.emulated_version, _limits_of(replicas))
            return known[2]

        return cls(limits, lambda group_id: replicas.image.configs.group_configs.get(group_id, {}))

    @property
    def limits(self) -> ConsumerGroupLimits:
        """The current limits of the broker."""
        return self._limits()

    def session_timeout_ms(self, group_id: str) -> int:
        """Return the time without a heartbeat after which a member is removed."""
        limits = self.limits
        return self._own(
            group_id, "consumer.session.timeout.ms", limits.session_timeout_ms, limits.session_timeout_ms_range
        )

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """Return the heartbeat interval that the group's members must keep."""
        limits = self.limits
        return self._own(
            group_id, "consumer.heartbeat.interval.ms", limits.heartbeat_interval_ms, limits.heartbeat_interval_ms_range
        )

    def assignment_interval_ms(self, group_id: str) -> int:
        """Return the shortest time between two target assignments of the group."""
        limits = self.limits
        return self._own(
            group_id,
            "consumer.assignment.interval.ms",
            limits.assignment_interval_ms,
            limits.assignment_interval_ms_range,
        )

    def _own(self, group_id: str, name: str, default: int, bounds: tuple[int, int]) -> int:
        """Return the config of a group, limited to the broker's bounds; the default if the group has none."""
        text = None if self._group_texts is None else self._group_texts(group_id).get(name)
        if text is None:
            return default
        least, most = bounds
        return min(max(int(text), least), most)


_ASSIGNORS: Mapping[str, Assign] = MappingProxyType({"uniform": assign_uniform, "range": assign_range})

# Kafka's classes of the same assignors.
_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
        "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
    }
)


def _limits_of(replicas: ReplicaManager) -> ConsumerGroupLimits:
    limits = ConsumerGroupLimits.of(replicas.config)
    if replicas.emulated_version.rules.delays_assignments:
        return limits
    return replace(limits, assignment_interval_ms=0, assignment_interval_ms_range=(0, 0))


def assignor_names(configured: list[str]) -> tuple[str, ...]:
    """Return the names of the configured assignors, the default first.

    configured: names and Java classes. Unknown classes are ignored; without a known one, all assignors are returned.
    """
    names = [_CLASSES.get(entry, entry) for entry in configured]
    known = tuple(dict.fromkeys(name for name in names if name in _ASSIGNORS))
    return known or tuple(_ASSIGNORS)


def assignor_of(name: str) -> Assign:
    """Return the assignor of a name, the uniform one for an unknown name: a loaded group may have one."""
    return _ASSIGNORS.get(name, assign_uniform)
