"""What an action declares for hunts: the faults that are tried, and combinations that need not be tried in addition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from .points import Point


class Requests(Enum):
    """The requests that a hunt tries an action at. testing.hunting.plan has the APIs."""

    ANY = "any"
    ACKNOWLEDGING = "those whose response acknowledges something"
    OTHERS = "all but those"
    CHANGING = "those that change something"
    ASKING = "those that only ask"


class Origin(Enum):
    """What causes a fault. A hunt tries faults of other origins than KAFKA only on request.

    KAFKA: a broker of Kafka, its state, its clients or TCP. PROXY: a proxy that loses or repeats single requests.
    DEFECTIVE: a broker with a defect, whose responses agree with no state of a broker.
    """

    KAFKA = "kafka"
    PROXY = "proxy"
    DEFECTIVE = "defective"


# Their faults are tried on request.
REQUESTED_ORIGINS = (Origin.PROXY, Origin.DEFECTIVE)


@dataclass(frozen=True, slots=True)
class HuntedFault:
    """A fault of hunts. tier: the lower, the earlier it is tried. fields: of the action."""

    name: str
    point: Point
    tier: int
    requests: Requests = Requests.ANY
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    origin: Origin = Origin.KAFKA


class Equivalent(NamedTuple):
    """To a program and the log, the action at `point` is the same as the action `kind` at `other`.

    requests: ANY, or ASKING: they apply nothing, so it does not matter when they are lost.
    """

    point: Point
    kind: str
    other: Point
    requests: Requests = Requests.ANY
