"""The recipes: methods that make the most frequent rules, each declared once. See recipe.py."""

from __future__ import annotations

from typing import Literal, Unpack

from .action_refusals import Scope
from .actions import (
    Close,
    Corrupt,
    CorruptRecord,
    Crash,
    Delay,
    DeliverTwice,
    Drip,
    Drop,
    Error,
    Hang,
    Hold,
    HoldMarkers,
    Observe,
    Reset,
    Throttle,
    Truncate,
)
from .points import Point
from .recipe import At, ConnectionSelection, Group, Handle, Recipe, RecipeUser, RequestSelection, recipe

_OfRequest = Literal["received", "applied"]
_Crc = Literal["kept", "recomputed"]
_Loss = Literal["close", "reset", "drop"]
_LOSSES: dict[_Loss, Close | Reset | Drop] = {"close": Close(), "reset": Reset(), "drop": Drop()}
# Long enough for later requests to overtake, short against a client's request timeout.
_OVERTAKEN_MS = 500
_PRODUCE = "Produce"
# The version of ApiVersions in which a client names the cluster and the node that it expects.
_FIRST_WITH_CLUSTER_ID = 5


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

    @recipe(Group.DELAYS, "Hold the markers of a transaction", api="EndTxn")
    def held_markers(self, **chosen: Unpack[RequestSelection]) -> At:
        """Respond to an EndTxn, and write the markers of its transaction when the request is released."""
        return "received", HoldMarkers()

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

    @recipe(Group.ERRORS, "Misroute the next connection", api="ApiVersions", api_version=_FIRST_WITH_CLUSTER_ID)
    def misrouted(self, **chosen: Unpack[RequestSelection]) -> At:
        """Respond with REBOOTSTRAP_REQUIRED to a client of Kafka 4.4, as a node of another cluster does (KIP-1242)."""
        return "received", Error(error="REBOOTSTRAP_REQUIRED")

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

    @recipe(Group.BYTES, "Corrupt a record", api="Fetch")
    def corrupt_record(
        self, offset: int | None = None, nth: int = 1, crc: _Crc = "kept", **chosen: Unpack[RequestSelection]
    ) -> At:
        """Change one bit of the value of one record in the response.

        offset, or nth of the response: the record. crc: "kept", so that clients find a wrong CRC, or "recomputed".
        """
        return "applied", CorruptRecord(offset=offset, nth=nth, crc=crc)

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
