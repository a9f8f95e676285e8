"""What an action of fault rules declares beside its fields.

The checks of rules, hunts, the verdict, the page and the OpenAPI description of the admin API, and the tables of
docs/faults.md read it. Nothing else has a list of actions, except for the fault injector, which carries them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from ..protocol.api_keys import APIS, Api, ApiKey
from .family import Family
from .hunted_faults import Equivalent, HuntedFault
from .points import Points

if TYPE_CHECKING:
    from .request_view import EvaluatedRequest

Apis = Sequence[Api]
# Topic names and partition indexes.
Partitions = frozenset[tuple[str, int]]


class Applied(Enum):
    """How often, or when, a request is applied on which the action acts at received."""

    ONCE = "once"
    LATER = "later"
    TWICE = "twice"
    NEVER = "never"


class Response(Enum):
    """The response to a request on which the action acts."""

    WHOLE = "its own"
    SLOW = "its own, slowly"
    LATER = "its own, later"
    FALSE = "another one"
    DAMAGED = "other bytes"
    NONE = "none on an open connection"
    END = "the connection ends"


class Refusal(NamedTuple):
    """Why a rule is invalid, as the arguments of RuleError, which the broker may not import."""

    field: str
    value: object
    allowed: str
    message: str


class DeclaredAction(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """An action. Each class declares itself.

    points: where it is possible. not_at_accepted: fields that must have their defaults there.
    only_for: the APIs whose requests can have it; empty for all.
    applied: whether a request with it is applied. response: which response the client gets.
    hunted: the faults of hunts that are this action. equivalents: what hunts need not try in addition.
    """

    family: ClassVar[Family]
    points: ClassVar[Points] = Points()
    not_at_accepted: ClassVar[Sequence[str]] = ()
    only_for: ClassVar[Sequence[ApiKey]] = ()
    applied: ClassVar[Applied] = Applied.ONCE
    response: ClassVar[Response] = Response.WHOLE
    hunted: ClassVar[Sequence[HuntedFault]] = ()
    equivalents: ClassVar[Sequence[Equivalent]] = ()

    def can_act_on(self, request: EvaluatedRequest, partitions: Partitions) -> bool:
        """Return whether a matching request has what the action acts on. If not, the rule does not match it.

        partitions: those that match; empty for all.
        """
        return True

    def refusal(self, apis: Apis) -> Refusal | None:
        """Return why requests of the APIs cannot have the action; None if they can. apis: empty for any."""
        if not self.only_for or (apis and all(api.key in self.only_for for api in apis)):
            return None
        names, kind = " or ".join(APIS[key].name for key in self.only_for), self.__struct_config__.tag
        message = f"match.api: {kind} is for {names}, which match.api must name"
        return Refusal("match.api", [api.name for api in apis] or None, names, message)
