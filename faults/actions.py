"""Actions of fault rules: one class an action, tagged by `kind` in JSON, with all that the product knows of it.

A rule has one action. It is validated once, when the rule is read; the fault injector matches on its class. A class has
the fields of the action with their types, units and bounds, and declares the rest: see DeclaredAction.
"""

from __future__ import annotations

from typing import Literal, Unpack, get_args

from . import numbers
from .action_declaration import Apis, Applied, DeclaredAction, Refusal, Response
from .action_refusals import Scope as Scope
from .action_refusals import error_refusal, throttle_refusal
from .family import Family
from .hunted_faults import Equivalent, HuntedFault, Requests
from .points import BEFORE_THE_BYTES, OF_THE_BYTES, Point, Points, Reason
from .recipe import At, ConnectionSelection, Group, Handle, Recipe, RecipeUser, RequestSelection, recipe

# Of hunts: the size of a response and a part of what it must have; the first byte of its correlation id, after which a
# client takes no other request's response for this one.
_CUT_BYTES = 6
_CORRELATION_ID_AT = 4
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
        HuntedFault("dropped request", "received", 4),
        HuntedFault("dropped response", "applied", 4, Requests.CHANGING),
    )
    equivalents = (Equivalent("applied", "drop", "received", Requests.ASKING),)


class Delay(DeclaredAction, frozen=True, kw_only=True, tag="delay"):
    """Continue after ms of the broker's clock. release_order: later responses of the connection do not wait."""

    ms: numbers.Milliseconds
    release_order: bool = False

    family = Family.SLOW
    applied = Applied.LATER
    response = Response.LATER
    # A response that comes late is one that does not come: the program has given up by then, or has only waited.
    equivalents = (
        Equivalent("applied", "hang", "applied"),
        Equivalent("answering", "hang", "applied"),
        Equivalent("received", "hang", "applied", Requests.ASKING),
    )
    not_at_accepted = ("release_order",)


class Hang(DeclaredAction, frozen=True, kw_only=True, tag="hang"):
    """Never continue, and keep the connection open. release_order: later responses do not wait."""

    release_order: bool = False

    family = Family.SLOW
    points = Points(answering=Reason.BYTES_MADE)
    applied = Applied.NEVER
    response = Response.NONE
    hunted = (
        HuntedFault("no response", "applied", 3),
        HuntedFault("hanging request", "received", 4, Requests.CHANGING),
    )
    equivalents = (Equivalent("received", "hang", "applied", Requests.ASKING),)
    not_at_accepted = ("release_order",)


class Hold(DeclaredAction, frozen=True, kw_only=True, tag="hold"):
    """Continue when the request is released. release_order: later responses of the connection do not wait."""

    release_order: bool = False

    family = Family.SLOW
    points = BEFORE_THE_BYTES
    applied = Applied.LATER
    response = Response.LATER
    equivalents = (Equivalent("received", "delay", "received"), Equivalent("applied", "hang", "applied"))


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
    hunted = (HuntedFault("changed correlation id", "answering", 4, fields={"at": _CORRELATION_ID_AT, "bytes": 1}),)


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
    points = Points(accepted=Reason.NO_REQUEST_YET, applied=Reason.APPLIED_ALREADY, answering=Reason.APPLIED_ALREADY)
    applied = Applied.TWICE
    hunted = (HuntedFault("delivered twice", "received", 1, Requests.CHANGING),)


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
    | Close
    | Reset
    | Truncate
    | Corrupt
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


_OfRequest = Literal["received", "applied"]
_Loss = Literal["close", "reset", "drop"]
_LOSSES: dict[_Loss, Close | Reset | Drop] = {"close": Close(), "reset": Reset(), "drop": Drop()}
# Long enough for later requests to overtake, short against a client's request timeout.
_OVERTAKEN_MS = 500
_PRODUCE = "Produce"


class Recipes(RecipeUser[Handle]):
    """The recipes (recipe.py). Those for producing match only Produce requests unless `api` is given."""

    @recipe(Group.LOSSES, "Lose the next acknowledgement", api=_PRODUCE)
    def lost_ack(self, how: _Loss = "close", **chosen: Unpack[RequestSelection]) -> At:
        """Apply the request and lose its response.

        how: "close" or "reset" the connection instead of responding, so that the client retries at once; "drop" only
        the response, so that the client waits for its request timeout.
        """
        return "applied", _LOSSES[how]

    @recipe(Group.LOSSES, "Lose the next request", api=_PRODUCE)
    def lost_request(self, how: _Loss = "drop", **chosen: Unpack[RequestSelection]) -> At:
        """Lose the request: it is neither applied nor answered. how: as in lost_ack."""
        return "received", _LOSSES[how]

    @recipe(Group.LOSSES, "Hang", api=_PRODUCE)
    def hang(self, point: _OfRequest = "applied", **chosen: Unpack[RequestSelection]) -> At:
        """Keep the connection open, and never send this response and all later ones."""
        return point, Hang()

    @recipe(Group.LOSSES, "Close the connection")
    def closed_connection(self, **chosen: Unpack[RequestSelection]) -> At:
        """Close the connection (FIN) instead of handling the request."""
        return "received", Close()

    @recipe(Group.LOSSES, "Reset the connection")
    def reset_connection(self, **chosen: Unpack[RequestSelection]) -> At:
        """Reset the connection (RST) instead of handling the request."""
        return "received", Reset()

    @recipe(Group.ORDER, "Deliver twice", api=_PRODUCE)
    def delivered_twice(self, **chosen: Unpack[RequestSelection]) -> At:
        """Apply the request twice; the client gets one response."""
        return "received", DeliverTwice()

    @recipe(Group.ORDER, "Let later requests overtake", api=_PRODUCE)
    def overtaken(self, ms: int = _OVERTAKEN_MS, **chosen: Unpack[RequestSelection]) -> At:
        """Apply the request ms late, so that later requests of the connection are applied first."""
        return "received", Delay(ms=ms)

    @recipe(Group.ORDER, "Hold", api=_PRODUCE)
    def held(self, point: _OfRequest = "received", **chosen: Unpack[RequestSelection]) -> At:
        """Hold the request until it is released. Held requests continue in the order of their release."""
        return point, Hold()

    @recipe(Group.DELAYS, "Delay the response", ms=500)
    def slow_answers(self, ms: int, **chosen: Unpack[RequestSelection]) -> At:
        """Apply the request at once and respond ms later; later responses of the connection wait."""
        return "applied", Delay(ms=ms)

    @recipe(Group.DELAYS, "Delay the request", ms=500)
    def slow_requests(self, ms: int, **chosen: Unpack[RequestSelection]) -> At:
        """Apply the request ms later; later requests of the connection are applied before it."""
        return "received", Delay(ms=ms)

    @recipe(Group.DELAYS, "Throttle", api=_PRODUCE, ms=1000)
    def throttled(self, ms: int, **chosen: Unpack[RequestSelection]) -> At:
        """Set throttle_time_ms of the response to ms."""
        return "applied", Throttle(ms=ms)

    @recipe(Group.ERRORS, "Respond with an error", error="NOT_LEADER_OR_FOLLOWER")
    def refuse(self, error: str | int, scope: Scope | None = None, **chosen: Unpack[RequestSelection]) -> At:
        """Respond with an error and do not apply the request.

        error: Kafka's name or code. scope: the part of the request that fails; by default what the match names.
        """
        return "received", Error(error=error, scope=scope)

    @recipe(Group.ERRORS, "Apply, and respond with an error", api=_PRODUCE, error="REQUEST_TIMED_OUT")
    def false_error(self, error: str | int, scope: Scope | None = None, **chosen: Unpack[RequestSelection]) -> At:
        """Apply the request and respond with an error. error, scope: as in refuse."""
        return "applied", Error(error=error, scope=scope)

    @recipe(Group.ERRORS, "Respond with a false success", api=_PRODUCE)
    def false_success(self, **chosen: Unpack[RequestSelection]) -> At:
        """Respond with success and do not apply the request."""
        return "received", Error(error="NONE")

    @recipe(Group.ERRORS, "Reject a login", api="SaslAuthenticate")
    def rejected_login(self, **chosen: Unpack[RequestSelection]) -> At:
        """Reject the token of a client that authenticates, as that of an unknown user, and close the connection."""
        return "received", Error(error="SASL_AUTHENTICATION_FAILED")

    @recipe(Group.CRASHES, "Crash after the append", api=_PRODUCE)
    def crash_after_append(self, restart_after_ms: int | None = 0, **chosen: Unpack[RequestSelection]) -> At:
        """Crash the broker, as SIGKILL does, after the request is applied and before its response.

        restart_after_ms: when the broker starts again; None for never.
        """
        return "applied", Crash(restart_after_ms=restart_after_ms)

    @recipe(Group.CRASHES, "Crash before the append", api=_PRODUCE)
    def crash_before_append(self, restart_after_ms: int | None = 0, **chosen: Unpack[RequestSelection]) -> At:
        """Crash the broker, as SIGKILL does, before the request is applied. See crash_after_append."""
        return "received", Crash(restart_after_ms=restart_after_ms)

    @recipe(Group.BYTES, "Cut the response", byte_count=10)
    def cut_answers(self, byte_count: int, **chosen: Unpack[RequestSelection]) -> At:
        """Send only the first bytes of the response, size field included, and close the connection."""
        return "answering", Truncate(bytes=byte_count)

    @recipe(Group.BYTES, "Corrupt the response", at=8)
    def corrupt_answers(self, at: int, byte_count: int = 1, **chosen: Unpack[RequestSelection]) -> At:
        """Flip the bits of bytes of the response from position `at` on; position 0 is its size field."""
        return "answering", Corrupt(at=at, bytes=byte_count)

    @recipe(Group.BYTES, "Drip the response", byte_count=10, every_ms=100)
    def dripping_answers(self, byte_count: int, every_ms: int, **chosen: Unpack[RequestSelection]) -> At:
        """Send the response in pieces, one every every_ms."""
        return "answering", Drip(bytes=byte_count, every_ms=every_ms)

    @recipe(Group.CONNECTIONS, "Refuse the next connection")
    def refused_connections(self, **chosen: Unpack[ConnectionSelection]) -> At:
        """Reset new connections before reading a byte."""
        return "accepted", Reset()

    @recipe(Group.CONNECTIONS, "Let the next connection hang")
    def hanging_connections(self, **chosen: Unpack[ConnectionSelection]) -> At:
        """Accept new connections and never read from them."""
        return "accepted", Hang()

    @recipe(Group.CONNECTIONS, "Only count", times=None)
    def observed(self, point: Point = "received", **chosen: Unpack[RequestSelection]) -> At:
        """Only count the requests, so that a test can wait for them."""
        return point, Observe()


# By name, in the order of the command line and the page.
RECIPES: dict[str, Recipe[...]] = {name: each for name, each in vars(Recipes).items() if isinstance(each, Recipe)}
