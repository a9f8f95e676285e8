"""What goes wrong on purpose, as data: which requests, when, at which point, and what is done to them.

The models say what each field may be; rule_checks says which of them go together. What is printed of a rule, with all
defaults filled in, is a rule again.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from .match import INT64_MAX, Match, Natural

# More is not asked for by any test: the broker's clock is in ms, and this is 292 million years of it.
_DURATION_MS_MAX = INT64_MAX
# What a frame, and so an answer, has at most: its size is a Java int.
_ANSWER_BYTES_MAX = 2**31 - 1
# Java's short, as every error code is on the wire.
_ERROR_CODE_MIN = -(2**15)
_ERROR_CODE_MAX = 2**15 - 1
_NAME_CHARACTERS_MAX = 1000

Count = Annotated[int, Meta(ge=1, le=INT64_MAX)]
Milliseconds = Annotated[int, Meta(ge=0, le=_DURATION_MS_MAX)]
SomeMilliseconds = Annotated[int, Meta(ge=1, le=_DURATION_MS_MAX)]
AnswerBytes = Annotated[int, Meta(ge=0, le=_ANSWER_BYTES_MAX)]
SomeAnswerBytes = Annotated[int, Meta(ge=1, le=_ANSWER_BYTES_MAX)]
Point = Literal["accepted", "received", "applied", "answering"]
Scope = Literal["partition", "topic", "request"]


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the requests that match are hit.

    after_ms, until_ms: only those that come so long after the rule was added on the broker's clock, from after_ms on
    and before until_ms; others are not counted by what follows.
    skip: the first so many are let pass. every: of the rest the first is hit and then each so-many-th.
    probability: of those, so large a part is hit, drawn from a generator of the rule's own that starts at seed.
    times: after so many hits the rule is spent; None is for ever.
    """

    skip: Natural = 0
    times: Count | None = 1
    every: Count = 1
    probability: Annotated[float, Meta(ge=0, le=1)] = 1.0
    seed: Annotated[int, Meta(ge=-INT64_MAX, le=INT64_MAX)] = 0
    after_ms: Milliseconds = 0
    until_ms: SomeMilliseconds | None = None


class Observe(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="observe"):
    """Only count; the rules behind it are asked too."""


class Error(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="error"):
    """Answer an error: at received instead of applying the request, at applied although it was applied.

    error: Kafka's name of it or its code; NONE at received says that all went well, though nothing was done.
    scope: how much of the request gets it; None, the default, is the partition where the rule asks for something of a
    batch or a partition, the topic where it asks for the topic only, and else the request.
    """

    error: str | Annotated[int, Meta(ge=_ERROR_CODE_MIN, le=_ERROR_CODE_MAX)]
    scope: Scope | None = None


class Drop(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="drop"):
    """At received swallow the request, which is then owed no answer; at applied its answer."""


class Delay(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="delay"):
    """Go on after so long on the broker's clock; release_order: later answers of the connection need not wait."""

    ms: Milliseconds
    release_order: bool = False


class Hang(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="hang"):
    """Never go on, and leave the connection open; release_order: later answers of the connection need not wait."""

    release_order: bool = False


class Hold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="hold"):
    """Go on when it is released; release_order: later answers of the connection need not wait."""

    release_order: bool = False


class Close(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="close"):
    """End the connection as a peer that is done does (FIN)."""


class Reset(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="reset"):
    """Break the connection off (RST)."""


class Truncate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="truncate"):
    """Send only the first so many bytes of the answer, its size field counted, and close the connection."""

    bytes: AnswerBytes


class Corrupt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="corrupt"):
    """Change so many bytes of the answer from position at on; 0 is the first byte of its size field."""

    at: AnswerBytes
    bytes: SomeAnswerBytes


class Drip(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="drip"):
    """Send the answer, at accepted every answer of the connection, in pieces of so many bytes, one each every_ms."""

    bytes: SomeAnswerBytes
    every_ms: SomeMilliseconds


class Throttle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="throttle"):
    """Say in the answer that the client was throttled for so long (throttle_time_ms, a Java int)."""

    ms: Annotated[int, Meta(ge=0, le=2**31 - 1)]


class DeliverTwice(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="deliver_twice"):
    """Apply the request twice, one time after the other; the client gets one answer."""


class Crash(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="crash"):
    """Stop the node as a SIGKILL would, and start it again after so long; None is not by itself."""

    restart_after_ms: Milliseconds | None = None


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


class FaultRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule: at this point, do this to the requests that match, when it is their turn."""

    name: Annotated[str, Meta(max_length=_NAME_CHARACTERS_MAX)] = ""
    match: Match = field(default_factory=Match)
    when: When = field(default_factory=When)
    point: Point
    action: Action


def kind_of(action: Action) -> str:
    """Return the action's kind, as JSON names it."""
    kind = action.__struct_config__.tag
    assert isinstance(kind, str), "every action has its kind as its tag"
    return kind
