"""Actions of fault rules: one class an action, tagged by `kind` in JSON, with all that the product knows of it.

A rule has one action. It is validated once, when the rule is read; the fault injector matches on its class. A class has
the fields of the action with their types, units and bounds, and declares the rest: see DeclaredAction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from ..protocol.api_keys import ApiKey
from . import numbers
from .action_declaration import Apis, Applied, DeclaredAction, Partitions, Refusal, Response
from .action_refusals import Scope as Scope
from .action_refusals import error_refusal, throttle_refusal
from .family import Family
from .hunted_faults import Equivalent, HuntedFault, Origin, Requests
from .points import BEFORE_IT_IS_APPLIED, BEFORE_THE_BYTES, OF_THE_BYTES, OF_THE_RESPONSE, Points, Reason
from .record_damage import FoundRecord, find_record

if TYPE_CHECKING:
    from .request_view import EvaluatedRequest

# Of hunts: the size of a response and a part of what it must have; the first byte of its correlation id, after which a
# client takes no other request's response for this one.
_CUT_BYTES = 6
_CORRELATION_ID_AT = 4
_ALL_BITS = 0xFF
# Within a class with the field `bytes`, the type has another name.
_Frame = bytes
_RESTART = {"restart_after_ms": 300}


class Observe(DeclaredAction, frozen=True, tag="observe"):
    """Only count; later rules still apply to the request."""

    family = Family.OBSERVE


class Error(DeclaredAction, frozen=True, kw_only=True, tag="error"):
    """Respond with an error: at received instead of applying the request, at applied although it was applied.

    error: the name or the code of a Kafka error. NONE at received reports success, although nothing was applied.
    scope: what gets the error. None, the default, is the partition if the rule matches on a batch or a partition, the
    topic if it matches on the topic only, and otherwise the request.
    """

    error: str | numbers.ErrorNumber
    scope: Scope | None = None

    family = Family.REFUSAL
    points = BEFORE_THE_BYTES
    applied = Applied.NEVER
    response = Response.FALSE
    equivalents = (Equivalent("applied", "error", "received", Requests.ASKING),)

    def refusal(self, apis: Apis) -> Refusal | None:
        """Refuse an unknown error, and one that a response cannot have for the scope."""
        return error_refusal(self.error, self.scope, apis)


class Drop(DeclaredAction, frozen=True, tag="drop"):
    """Drop the request at received; drop its response at applied."""

    family = Family.CUT
    points = BEFORE_THE_BYTES
    applied = Applied.NEVER
    response = Response.NONE
    hunted = (
        HuntedFault("dropped request", "received", 4, origin=Origin.PROXY),
        HuntedFault("dropped response", "applied", 4, Requests.CHANGING),
    )
    equivalents = (Equivalent("applied", "drop", "received", Requests.ASKING),)


class _Wait(DeclaredAction, frozen=True, kw_only=True):
    """A wait of a request or its response. Without the fields, later requests are applied and their responses wait."""

    release_order: bool = False
    mute: bool = False

    family = Family.SLOW
    not_at_accepted = ("release_order", "mute")

    def refusal(self, apis: Apis) -> Refusal | None:
        """Refuse the two fields together: a muted connection has no later responses."""
        if self.mute and self.release_order:
            return Refusal("action.mute", True, "false with release_order", "action.mute: release_order is set, too")
        return super().refusal(apis)


class Delay(_Wait, frozen=True, kw_only=True, tag="delay"):
    """Continue after ms of the broker's clock. release_order: later responses of the connection do not wait.

    mute: later requests of the connection wait, too.
    """

    ms: numbers.Milliseconds

    applied = Applied.LATER
    response = Response.LATER
    # A response that comes late is one that does not come: the program has given up by then, or has only waited.
    equivalents = (
        Equivalent("applied", "hang", "applied"),
        Equivalent("answering", "hang", "applied"),
        Equivalent("received", "hang", "applied", Requests.ASKING),
    )


class Hang(_Wait, frozen=True, kw_only=True, tag="hang"):
    """Never continue, and keep the connection open. release_order: later responses do not wait.

    mute: no later request of the connection is applied.
    """

    points = Points(answering=Reason.BYTES_MADE)
    applied = Applied.NEVER
    response = Response.NONE
    hunted = (
        HuntedFault("no response", "applied", 3),
        HuntedFault("hanging request", "received", 4, Requests.CHANGING, {"mute": True}),
    )
    equivalents = (Equivalent("received", "hang", "applied", Requests.ASKING),)


class Hold(_Wait, frozen=True, kw_only=True, tag="hold"):
    """Continue when the request is released. release_order: later responses of the connection do not wait.

    mute: later requests of the connection wait, too.
    """

    points = BEFORE_THE_BYTES
    applied = Applied.LATER
    response = Response.LATER
    equivalents = (Equivalent("received", "delay", "received"), Equivalent("applied", "hang", "applied"))


class HoldMarkers(DeclaredAction, frozen=True, tag="hold_markers"):
    """Apply an EndTxn and respond, and write the markers of its transaction when the request is released."""

    family = Family.SLOW
    points = BEFORE_IT_IS_APPLIED
    only_for = (ApiKey.END_TXN,)


class Close(DeclaredAction, frozen=True, tag="close"):
    """Close the connection (FIN)."""

    family = Family.CUT
    applied = Applied.NEVER
    response = Response.END
    hunted = (
        HuntedFault("lost acknowledgement", "applied", 0, Requests.ACKNOWLEDGING),
        HuntedFault("lost acknowledgement", "applied", 2, Requests.OTHERS),
        HuntedFault("lost request", "received", 1),
    )
    equivalents = (Equivalent("answering", "close", "applied"),)


class Reset(DeclaredAction, frozen=True, tag="reset"):
    """Reset the connection (RST)."""

    family = Family.CUT
    applied = Applied.NEVER
    response = Response.END
    hunted = (HuntedFault("reset after it was applied", "applied", 2),)
    equivalents = (Equivalent("received", "close", "received"), Equivalent("answering", "reset", "applied"))


class Truncate(DeclaredAction, frozen=True, kw_only=True, tag="truncate"):
    """Send only the first bytes of the response, size field included, and close the connection."""

    bytes: numbers.ResponseBytes

    family = Family.DAMAGE
    points = OF_THE_BYTES
    response = Response.END
    hunted = (HuntedFault("response cut short", "answering", 4, Requests.ACKNOWLEDGING, {"bytes": _CUT_BYTES}),)
    equivalents = (Equivalent("answering", "close", "applied"),)


class Corrupt(DeclaredAction, frozen=True, kw_only=True, tag="corrupt"):
    """Flip the bits of bytes of the response from position at on; position 0 is its size field."""

    at: numbers.ResponseBytes
    bytes: numbers.SomeResponseBytes

    family = Family.DAMAGE
    points = OF_THE_BYTES
    response = Response.DAMAGED
    hunted = (
        HuntedFault(
            "changed correlation id",
            "answering",
            4,
            fields={"at": _CORRELATION_ID_AT, "bytes": 1},
            origin=Origin.DEFECTIVE,
        ),
    )

    def damaged(self, response: _Frame) -> _Frame:
        """Return the bytes of a response with the bits flipped."""
        changed = bytes(byte ^ _ALL_BITS for byte in response[self.at : self.at + self.bytes])
        return response[: self.at] + changed + response[self.at + len(changed) :]


class CorruptRecord(DeclaredAction, frozen=True, kw_only=True, tag="corrupt_record"):
    """Change one bit of the value of one record in the response to a Fetch that has the record.

    offset: of the record. nth: counts the records of the response from 1; for a rule without offset. crc: "kept", so
    that the batch does not match it, or "recomputed", so that only a checksum in the value shows the damage.
    """

    offset: numbers.Natural | None = None
    nth: numbers.Ordinal = 1
    crc: Literal["kept", "recomputed"] = "kept"

    family = Family.DAMAGE
    points = OF_THE_RESPONSE
    only_for = (ApiKey.FETCH,)
    response = Response.DAMAGED
    # A client recognises either, and fetches again.
    equivalents = (Equivalent("applied", "corrupt", "answering"),)

    def can_act_on(self, request: EvaluatedRequest, partitions: Partitions) -> bool:
        """Return whether the response has the record, with a value."""
        return self._find_record(request, partitions) is not None

    def damage(self, request: EvaluatedRequest, partitions: Partitions) -> None:
        """Damage the record in the response, on which the action can act."""
        found = self._find_record(request, partitions)
        assert found is not None, "a rule matches only responses with the record"
        found.damage(keeps_crc=self.crc == "kept")

    def _find_record(self, request: EvaluatedRequest, partitions: Partitions) -> FoundRecord | None:
        chosen = [each.fetched for each in request.fetched if not partitions or each[:2] in partitions]
        return find_record(chosen, offset=self.offset, nth=self.nth)

    def refusal(self, apis: Apis) -> Refusal | None:
        """Refuse all requests but Fetch, and a record that is chosen twice."""
        if self.offset is not None and self.nth != 1:
            return Refusal("action.nth", self.nth, "no value beside offset", "action.nth: offset chooses the record")
        return super().refusal(apis)


class Drip(DeclaredAction, frozen=True, kw_only=True, tag="drip"):
    """Send the response in pieces of bytes, one every every_ms; at accepted, every response of the connection."""

    bytes: numbers.SomeResponseBytes
    every_ms: numbers.SomeMilliseconds

    family = Family.SLOW
    points = Points(received=Reason.NO_BYTES_YET, applied=Reason.NO_BYTES_YET)
    response = Response.SLOW
    equivalents = (Equivalent("answering", "hang", "applied"),)


class Throttle(DeclaredAction, frozen=True, kw_only=True, tag="throttle"):
    """Set throttle_time_ms of the response."""

    ms: numbers.ThrottleMilliseconds

    family = Family.SLOW
    points = BEFORE_THE_BYTES

    def refusal(self, apis: Apis) -> Refusal | None:
        """Refuse an API whose responses have no throttle time."""
        return throttle_refusal(apis)


class DeliverTwice(DeclaredAction, frozen=True, tag="deliver_twice"):
    """Apply the request twice, one after the other; the client gets one response."""

    family = Family.TWICE
    points = BEFORE_IT_IS_APPLIED
    applied = Applied.TWICE
    hunted = (HuntedFault("delivered twice", "received", 1, Requests.CHANGING, origin=Origin.PROXY),)


class Crash(DeclaredAction, frozen=True, kw_only=True, tag="crash"):
    """Crash the node as SIGKILL does. restart_after_ms: when it starts again; None for never."""

    restart_after_ms: numbers.Milliseconds | None = None

    family = Family.CUT
    points = BEFORE_THE_BYTES
    applied = Applied.NEVER
    response = Response.END
    hunted = (
        HuntedFault("crash after it was applied", "applied", 2, Requests.CHANGING, _RESTART),
        HuntedFault("crash before it was applied", "received", 2, Requests.CHANGING, _RESTART),
        HuntedFault("crash before it was applied", "received", 4, Requests.ASKING, _RESTART),
    )
    equivalents = (Equivalent("applied", "crash", "received", Requests.ASKING),)


Action = (
    Observe
    | Error
    | Drop
    | Delay
    | Hang
    | Hold
    | HoldMarkers
    | Close
    | Reset
    | Truncate
    | Corrupt
    | CorruptRecord
    | Drip
    | Throttle
    | DeliverTwice
    | Crash
)
ACTION_TYPES: tuple[type[Action], ...] = get_args(Action)


def kind_of(action: DeclaredAction | type[DeclaredAction]) -> str:
    """Return the action's `kind`, as in JSON."""
    kind = action.__struct_config__.tag
    assert isinstance(kind, str), "every action is tagged by its kind"
    return kind
