"""Recipes: functions that return the most frequent fault rules, named for their effect.

Every recipe takes the fields of Match, `times` and `skip` of When, and `name` and `enabled` of the rule, in addition to
its own arguments. Recipes for producing match only Produce requests unless `api` is given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from inspect import signature
from typing import Literal, ParamSpec, TypedDict, Unpack

from msgspec import structs

from ...protocol.similar_names import suggestion
from .. import strict_json
from ..actions import (
    Action,
    Close,
    Corrupt,
    Crash,
    Delay,
    DeliverTwice,
    Drip,
    Drop,
    Error,
    Hang,
    Hold,
    Observe,
    Reset,
    Scope,
    Throttle,
    Truncate,
    kind_of,
)
from ..match_values import AnyBytes, AnyHeader, AnyInteger, AnyName, AnyNatural, AnyText
from ..rule_error import RuleError
from .fault_rules import FaultRule, Point
from .match import Match

Parameters = ParamSpec("Parameters")

PRODUCE = "Produce"

# Long enough for later requests to overtake, short against a client's request timeout.
OVERTAKEN_MS = 500


class MatchFields(TypedDict, total=False):
    """The fields of Match as arguments. key: text or bytes."""

    api: AnyName
    api_version: AnyNatural
    node: AnyNatural
    listener: AnyText
    connection: AnyNatural
    client_id: AnyText
    mechanism: AnyName
    principal: AnyText
    transactional_id: AnyText
    group_id: AnyText
    topic: AnyText
    partition: AnyNatural
    producer_id: AnyInteger
    producer_epoch: AnyInteger
    base_sequence: AnyInteger
    record_count: AnyNatural
    key: AnyBytes
    header: AnyHeader


class RequestSelection(MatchFields, total=False):
    """The requests that a recipe applies to.

    times: the number of hits, 1 by default; None for no limit. skip: the number of matches to skip first.
    name: of the rule, by default that of the recipe. enabled: False adds the rule disabled.
    """

    times: int | None
    skip: int
    name: str
    enabled: bool


class ConnectionSelection(TypedDict, total=False):
    """The new connections that a recipe applies to. times, skip, name, enabled: as in RequestSelection."""

    node: AnyNatural
    listener: AnyText
    connection: AnyNatural
    times: int | None
    skip: int
    name: str
    enabled: bool


def recipe(function: Callable[Parameters, FaultRule]) -> Callable[Parameters, FaultRule]:
    """Check the arguments of a recipe: RuleError for an unknown, a missing and a surplus one."""
    name = function.__name__

    @wraps(function)
    def checked(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> FaultRule:
        own = signature(function)
        names = [each for each in own.parameters if each != _CHOSEN]
        _check_argument_names(name, keywords, [*names, *RequestSelection.__annotations__])
        try:
            own.bind(*arguments, **keywords)
        except TypeError as error:
            allowed = ", ".join(names) or "only arguments with their names"
            raise RuleError(name, None, allowed, f"{name}(): {error}; its own arguments are {allowed}") from None
        return function(*arguments, **keywords)

    return checked


def _check_argument_names(recipe_name: str, given: Collection[str], allowed: Collection[str]) -> None:
    for name in given:
        if name not in allowed:
            listed = f"the arguments {', '.join(allowed)}"
            message = f"{recipe_name}() has no argument {name}; allowed: {listed}{suggestion(name, allowed)}"
            raise RuleError(name, None, listed, message)


@recipe
def lost_ack(how: Literal["close", "reset", "drop"] = "close", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Apply the request and lose its response.

    how: "close" or "reset" the connection instead of responding, so that the client retries at once; "drop" only the
    response, so that the client waits for its request timeout.
    """
    return _rule("lost ack", "applied", _loss(how), chosen, api=PRODUCE)


@recipe
def lost_request(how: Literal["drop", "close", "reset"] = "drop", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Lose the request: it is neither applied nor answered. how: as in lost_ack."""
    return _rule("lost request", "received", _loss(how), chosen, api=PRODUCE)


@recipe
def hang(point: Literal["received", "applied"] = "applied", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Keep the connection open, and never send this response and all later ones."""
    return _rule("hang", point, Hang(), chosen, api=PRODUCE)


@recipe
def slow_answers(ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Apply the request at once and respond ms later; later responses of the connection wait."""
    return _rule("slow answers", "applied", Delay(ms=ms), chosen)


@recipe
def slow_requests(ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Apply the request ms later; later requests of the connection are applied before it."""
    return _rule("slow requests", "received", Delay(ms=ms), chosen)


@recipe
def refuse(error: str | int, scope: Scope | None = None, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Respond with an error and do not apply the request.

    error: Kafka's name or code. scope: the part of the request that fails; by default what the match names.
    """
    return _rule(f"refuse {error}", "received", Error(error=error, scope=scope), chosen)


@recipe
def false_error(error: str | int, scope: Scope | None = None, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Apply the request and respond with an error. error, scope: as in refuse."""
    return _rule(f"false {error}", "applied", Error(error=error, scope=scope), chosen, api=PRODUCE)


@recipe
def false_success(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """Respond with success and do not apply the request."""
    return _rule("false success", "received", Error(error="NONE"), chosen, api=PRODUCE)


@recipe
def overtaken(ms: int = OVERTAKEN_MS, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Apply the request ms late, so that later requests of the connection are applied first."""
    return _rule("overtaken", "received", Delay(ms=ms), chosen, api=PRODUCE)


@recipe
def held(point: Literal["received", "applied"] = "received", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Hold the request until the test releases it. Held requests continue in the order of their release."""
    return _rule("held", point, Hold(), chosen, api=PRODUCE)


@recipe
def delivered_twice(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """Apply the request twice; the client gets one response."""
    return _rule("delivered twice", "received", DeliverTwice(), chosen, api=PRODUCE)


@recipe
def throttled(ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Set throttle_time_ms of the response to ms."""
    return _rule("throttled", "applied", Throttle(ms=ms), chosen, api=PRODUCE)


@recipe
def cut_answers(byte_count: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Send only the first byte_count bytes of the response, size field included, and close the connection."""
    return _rule("cut answers", "answering", Truncate(bytes=byte_count), chosen)


@recipe
def corrupt_answers(at: int, byte_count: int = 1, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Flip the bits of byte_count bytes of the response, from position at on; 0 is the first of the size field."""
    return _rule("corrupt answers", "answering", Corrupt(at=at, bytes=byte_count), chosen)


@recipe
def dripping_answers(byte_count: int, every_ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Send the response in pieces of byte_count bytes, one every every_ms."""
    return _rule("dripping answers", "answering", Drip(bytes=byte_count, every_ms=every_ms), chosen)


@recipe
def closed_connection(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """Close the connection (FIN) instead of handling the request."""
    return _rule("closed connection", "received", Close(), chosen)


@recipe
def reset_connection(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """Reset the connection (RST) instead of handling the request."""
    return _rule("reset connection", "received", Reset(), chosen)


@recipe
def rejected_login(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """Reject the token of a client that authenticates, as that of an unknown user, and close the connection."""
    rejected = Error(error="SASL_AUTHENTICATION_FAILED")
    return _rule("rejected login", "received", rejected, chosen, api="SaslAuthenticate")


@recipe
def refused_connections(**chosen: Unpack[ConnectionSelection]) -> FaultRule:
    """Reset new connections before reading a byte."""
    return _rule("refused connections", "accepted", Reset(), chosen)


@recipe
def hanging_connections(**chosen: Unpack[ConnectionSelection]) -> FaultRule:
    """Accept new connections and never read from them."""
    return _rule("hanging connections", "accepted", Hang(), chosen)


@recipe
def crash_after_append(restart_after_ms: int | None = 0, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Crash the broker, as SIGKILL does, after the request is applied and before its response.

    restart_after_ms: when the broker starts again; None for never.
    """
    return _rule("crash after append", "applied", Crash(restart_after_ms=restart_after_ms), chosen, api=PRODUCE)


@recipe
def crash_before_append(restart_after_ms: int | None = 0, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Crash the broker, as SIGKILL does, before the request is applied. See crash_after_append."""
    return _rule("crash before append", "received", Crash(restart_after_ms=restart_after_ms), chosen, api=PRODUCE)


@recipe
def observed(point: Point = "received", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Only count the requests, so that a test can wait for them."""
    return _rule("observed", point, Observe(), {"times": None, **chosen})


def match_of(**fields: Unpack[MatchFields]) -> Match:
    """Return a Match. Raises RuleError for an unknown field and an invalid value."""
    return strict_json.convert(dict(fields), Match)


def _loss(how: object) -> Action:
    """Return the action of an argument `how`. Raises RuleError."""
    actions: dict[str, Action] = {"close": Close(), "reset": Reset(), "drop": Drop()}
    action = actions.get(how) if isinstance(how, str) else None
    if action is None:
        allowed = ", ".join(actions)
        raise RuleError("how", how, allowed, f"how cannot be {how!r}; allowed: {allowed}{suggestion(how, actions)}")
    return action


def _rule(
    name: str, point: Point, action: Action, chosen: RequestSelection | ConnectionSelection, *, api: str | None = None
) -> FaultRule:
    match: dict[str, object] = {} if api is None else {"api": api}
    when: dict[str, object] = {}
    action_fields = {"kind": kind_of(action), **structs.asdict(action)}
    rule: dict[str, object] = {"name": name, "point": point, "action": action_fields}
    for field, value in chosen.items():
        (when if field in _WHEN_FIELDS else rule if field in _RULE_FIELDS else match)[field] = value
    return strict_json.convert({**rule, "match": match, "when": when}, FaultRule)


_WHEN_FIELDS = frozenset({"times", "skip"})
_RULE_FIELDS = frozenset({"name", "enabled"})
# The parameter of each recipe for the fields of Match, When and the rule.
_CHOSEN = "chosen"
