"""The configs of groups of the consumer protocol, and the assignors that they name. Later changes apply at once.

Source: GroupCoordinatorConfig, GroupConfig and ConsumerGroupMigrationPolicy, Kafka 4.3.0. Its
consumerGroupAssignors also accepts names of Java classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..assignors.group_spec import Assign
from ..assignors.range import assign_range
from ..assignors.uniform import assign_uniform
from ..group.protocol_settings import ProtocolSettings

if TYPE_CHECKING:
    from ...config.broker_config import BrokerConfig
    from ...replica.replica_manager import ReplicaManager

UPGRADING_POLICIES = frozenset({"upgrade", "bidirectional"})
DOWNGRADING_POLICIES = frozenset({"downgrade", "bidirectional"})


@dataclass(frozen=True, slots=True)
class ConsumerGroupLimits:
    """The broker's values of Kafka's keys that no group overrides, with Kafka's defaults."""

    members_max: int = 2**31 - 1
    classic_members_max: int = 2**31 - 1
    assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "bidirectional"
    regex_refresh_interval_ms: int = 600_000

    @classmethod
    def of(cls, config: BrokerConfig) -> ConsumerGroupLimits:
        """Return the values of a broker config."""
        return cls(
            members_max=config.group_consumer_max_size,
            classic_members_max=config.group_max_size,
            assignors=assignor_names(config.list_of("group.consumer.assignors")),
            migration_policy=config.group_consumer_migration_policy.lower(),
            regex_refresh_interval_ms=config.group_consumer_regex_refresh_interval_ms,
        )


class ConsumerGroupSettings(ProtocolSettings):
    """Kafka's group.consumer.* keys, and the group configs that override them (consumer.*)."""

    __slots__ = ("_known",)

    def __init__(self, replicas: ReplicaManager) -> None:
        """replicas: those of the node whose configs apply."""
        super().__init__(replicas, "consumer")
        self._known = (replicas.config, ConsumerGroupLimits.of(replicas.config))

    @property
    def limits(self) -> ConsumerGroupLimits:
        """The current limits of the broker."""
        config = self._replicas.config
        if self._known[0] is not config:
            self._known = (config, ConsumerGroupLimits.of(config))
        return self._known[1]


_ASSIGNORS: Mapping[str, Assign] = MappingProxyType({"uniform": assign_uniform, "range": assign_range})

# Kafka's classes of the same assignors.
_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
        "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
    }
)


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
