"""The assignors by their names, and the value of group.consumer.assignors.

Source: GroupCoordinatorConfig.consumerGroupAssignors, Kafka 4.3.0, which also accepts names of Java classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..assignors.group_spec import Assign
from ..assignors.range import assign_range
from ..assignors.uniform import assign_uniform

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
