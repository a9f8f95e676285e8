"""The assignors that there are, by their names; which of them a broker offers is group.consumer.assignors.

Source: GroupCoordinatorConfig.consumerGroupAssignors, Kafka 4.3.0, which also takes the names of Java classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..assignors.group_spec import Assign
from ..assignors.range import assign_range
from ..assignors.uniform import assign_uniform

_ASSIGNORS: Mapping[str, Assign] = MappingProxyType({"uniform": assign_uniform, "range": assign_range})

# The classes of the same assignors.
_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
        "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
    }
)


def assignor_names(configured: list[str]) -> tuple[str, ...]:
    """Return the names of the assignors that a list of names and classes stands for; the first is the default.

    Classes that there are not here are left out; without any left, all are offered.
    """
    names = [_CLASSES.get(entry, entry) for entry in configured]
    known = tuple(dict.fromkeys(name for name in names if name in _ASSIGNORS))
    return known or tuple(_ASSIGNORS)


def assignor_of(name: str) -> Assign:
    """Return the assignor of that name; a group loaded with one that is not offered any more gets the uniform one."""
    return _ASSIGNORS.get(name, assign_uniform)
