"""The rules that tests ask for most, each by the name of what it causes.

Each returns a FaultRule like any other, to be added to a plan. What every recipe takes beside its own arguments: the
fields of Match, which say what requests it is for, and `times` and `skip`, which say which of these. A recipe that is
about producing is for Produce requests; `api` says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict, Unpack

from msgspec import to_builtins

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
)
from .fault_rules import FaultRule, Point
from .match import AnyBytes, AnyHeader, AnyInteger, AnyName, AnyNatural, AnyText, Match

PRODUCE = "Produce"

# Long enough that whatever came behind the request has overtaken it, short against a client's request timeout.
OVERTAKEN_MS = 500


class MatchFields(TypedDict, total=False):
    """The fields of Match, as arguments; key: bytes, or a text."""

    api: AnyName
    api_version: AnyNatural
    node: AnyNatural
    listener: AnyText
    connection: AnyNatural
    client_id: AnyText
    transactional_id: AnyText
    group_id: AnyText
    topic: AnyText
    partition: AnyNatural
    producer_id: AnyInteger
    producer_epoch: AnyInteger
    base_sequence: AnyInteger
    record_count: AnyNatural
    key: str | AnyBytes
    header: AnyHeader


class RequestSelection(MatchFields, total=False):
    """Which requests a recipe is for: the fields of Match, and the two of When that most rules need.

    times: how many of them are hit, None for all; once by default. skip: so many are let pass before.
    """

    times: int | None
    skip: int


class ConnectionSelection(TypedDict, total=False):
    """Which connections a recipe is for, as they come; see RequestSelection."""

    node: AnyNatural
    listener: AnyText
    connection: AnyNatural
    times: int | None
    skip: int


def lost_ack(how: Literal["close", "reset", "drop"] = "close", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request is applied, and its answer never arrives.

    how: "close" or "reset" the connection in place of the answer, so that the client tries again at once; "drop" only
    the answer, so that it waits for its request timeout.
    """
    actions: dict[str, Action] = {"close": Close(), "reset": Reset(), "drop": Drop()}
    return _rule("lost ack", "applied", actions[how], chosen, api=PRODUCE)


def lost_request(how: Literal["drop", "close", "reset"] = "drop", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request never arrives: nothing is applied, and nothing is answered; see lost_ack."""
    actions: dict[str, Action] = {"close": Close(), "reset": Reset(), "drop": Drop()}
    return _rule("lost request", "received", actions[how], chosen, api=PRODUCE)


def hang(point: Literal["received", "applied"] = "applied", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The connection stays open, and the answer to this request and all behind it never come."""
    return _rule("hang", point, Hang(), chosen, api=PRODUCE)


def slow_answers(ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request is applied at once, and answered ms later; those behind it on its connection wait."""
    return _rule("slow answers", "applied", Delay(ms=ms), chosen)


def slow_requests(ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request is applied ms later; those behind it on its connection are applied before it."""
    return _rule("slow requests", "received", Delay(ms=ms), chosen)


def refuse(error: str | int, scope: Scope | None = None, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request is answered with an error, and nothing of it is applied.

    error: Kafka's name of it or its code. scope: how much of the request is refused; what the match names by default.
    """
    return _rule(f"refuse {error}", "received", Error(error=error, scope=scope), chosen)


def false_error(error: str | int, scope: Scope | None = None, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request is applied, and answered with an error all the same; see refuse."""
    return _rule(f"false {error}", "applied", Error(error=error, scope=scope), chosen, api=PRODUCE)


def false_success(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request is answered as if all had gone well, and nothing of it is applied."""
    return _rule("false success", "received", Error(error="NONE"), chosen, api=PRODUCE)


def overtaken(ms: int = OVERTAKEN_MS, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request is applied ms late, so that those sent behind it on its connection are applied first."""
    return _rule("overtaken", "received", Delay(ms=ms), chosen, api=PRODUCE)


def held(point: Literal["received", "applied"] = "received", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request goes on when the test releases it, in the order in which it releases several."""
    return _rule("held", point, Hold(), chosen, api=PRODUCE)


def delivered_twice(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """The request arrives twice, one time after the other; the client gets one answer."""
    return _rule("delivered twice", "received", DeliverTwice(), chosen, api=PRODUCE)


def throttled(ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The answer tells the client that it was throttled for ms."""
    return _rule("throttled", "applied", Throttle(ms=ms), chosen, api=PRODUCE)


def cut_answers(byte_count: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Of the answer only the first bytes arrive, its size field counted; then the connection is closed."""
    return _rule("cut answers", "answering", Truncate(bytes=byte_count), chosen)


def corrupt_answers(at: int, byte_count: int = 1, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Some bytes of the answer are others than were sent; at: the first of them, 0 is the first of the size field."""
    return _rule("corrupt answers", "answering", Corrupt(at=at, bytes=byte_count), chosen)


def dripping_answers(byte_count: int, every_ms: int, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The answer arrives in pieces of so many bytes, one each every_ms."""
    return _rule("dripping answers", "answering", Drip(bytes=byte_count, every_ms=every_ms), chosen)


def closed_connection(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """The connection is closed (FIN) in place of handling the request."""
    return _rule("closed connection", "received", Close(), chosen)


def reset_connection(**chosen: Unpack[RequestSelection]) -> FaultRule:
    """The connection is reset (RST) in place of handling the request."""
    return _rule("reset connection", "received", Reset(), chosen)


def refused_connections(**chosen: Unpack[ConnectionSelection]) -> FaultRule:
    """Whoever connects is reset before a byte is read."""
    return _rule("refused connections", "accepted", Reset(), chosen)


def hanging_connections(**chosen: Unpack[ConnectionSelection]) -> FaultRule:
    """Whoever connects is never answered."""
    return _rule("hanging connections", "accepted", Hang(), chosen)


def crash_after_append(restart_after_ms: int | None = 0, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The broker dies as by SIGKILL when the request is applied and not answered, and is started again later.

    restart_after_ms: None is not by itself.
    """
    return _rule("crash after append", "applied", Crash(restart_after_ms=restart_after_ms), chosen, api=PRODUCE)


def crash_before_append(restart_after_ms: int | None = 0, **chosen: Unpack[RequestSelection]) -> FaultRule:
    """The broker dies as by SIGKILL when the request has come and nothing of it is applied; see crash_after_append."""
    return _rule("crash before append", "received", Crash(restart_after_ms=restart_after_ms), chosen, api=PRODUCE)


def observed(point: Point = "received", **chosen: Unpack[RequestSelection]) -> FaultRule:
    """Nothing goes wrong, and what matches is counted: a test can wait for it."""
    return _rule("observed", point, Observe(), {"times": None, **chosen})


def match_of(**fields: Unpack[MatchFields]) -> Match:
    """Return what is to be matched; raises RuleError for a field that there is not, or a wrong value."""
    return strict_json.convert(_match_json(fields), Match)


def _match_json(fields: Mapping[str, object]) -> dict[str, object]:
    match = dict(fields)
    if isinstance(match.get("key"), str):
        # In JSON a text is the base64 of bytes; who writes one here means the text.
        match["key"] = {"text": match["key"]}
    return match


def _rule(
    name: str, point: Point, action: Action, chosen: RequestSelection | ConnectionSelection, *, api: str | None = None
) -> FaultRule:
    match: dict[str, object] = {} if api is None else {"api": api}
    when: dict[str, object] = {}
    for field, value in chosen.items():
        (when if field in _WHEN_FIELDS else match)[field] = value
    rule = {
        "name": name,
        "match": _match_json(match),
        "when": when,
        "point": point,
        "action": to_builtins(action),
    }
    return strict_json.convert(rule, FaultRule)


_WHEN_FIELDS = frozenset({"times", "skip"})
