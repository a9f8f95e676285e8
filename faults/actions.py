"""Actions of fault rules: one class an action, tagged by `kind` in JSON.

A rule has one action. It is validated once, when the rule is read; the fault injector matches on its class.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

INT64_MAX = 2**63 - 1
# The size of a frame, and so of a response, is a Java int.
_RESPONSE_BYTES_MAX = 2**31 - 1
# An error code is a Java short.
_ERROR_CODE_MIN = -(2**15)
_ERROR_CODE_MAX = 2**15 - 1

Milliseconds = Annotated[int, Meta(ge=0, le=INT64_MAX)]
SomeMilliseconds = Annotated[int, Meta(ge=1, le=INT64_MAX)]
ResponseBytes = Annotated[int, Meta(ge=0, le=_RESPONSE_BYTES_MAX)]
SomeResponseBytes = Annotated[int, Meta(ge=1, le=_RESPONSE_BYTES_MAX)]
Scope = Literal["partition", "topic", "request"]


class Observe(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="observe"):
    """Only count; later rules still apply to the request."""


class Error(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="error"):
    """Respond with an error: at received instead of applying the request, at applied although it was applied.

    error: the name or the code of a Kafka error. NONE at received reports success, although nothing was applied.
    scope: what gets the error. None, the default, is the partition if the rule matches on a batch or a partition, the
    topic if it matches on the topic only, and otherwise the request.
    """

    error: str | Annotated[int, Meta(ge=_ERROR_CODE_MIN, le=_ERROR_CODE_MAX)]
    scope: Scope | None = None


class Drop(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="drop"):
    """Drop the request at received; drop its response at applied."""


class Delay(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="delay"):
    """Continue after ms of the broker's clock. release_order: later responses of the connection do not wait."""

    ms: Milliseconds
    release_order: bool = False


class Hang(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="hang"):
    """Never continue, and keep the connection open. release_order: later responses do not wait."""

    release_order: bool = False


class Hold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="hold"):
    """Continue when the request is released. release_order: later responses of the connection do not wait."""

    release_order: bool = False


class Close(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="close"):
    """Close the connection (FIN)."""


class Reset(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="reset"):
    """Reset the connection (RST)."""


class Truncate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="truncate"):
    """Send only the first bytes of the response, size field included, and close the connection."""

    bytes: ResponseBytes


class Corrupt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="corrupt"):
    """Flip the bits of bytes of the response from position at on; position 0 is its size field."""

    at: ResponseBytes
    bytes: SomeResponseBytes


class Drip(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="drip"):
    """Send the response in pieces of bytes, one every every_ms; at accepted, every response of the connection."""

    bytes: SomeResponseBytes
    every_ms: SomeMilliseconds


class Throttle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="throttle"):
    """Set throttle_time_ms of the response (a Java int)."""

    ms: Annotated[int, Meta(ge=0, le=2**31 - 1)]


class DeliverTwice(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="deliver_twice"):
    """Apply the request twice, one after the other; the client gets one response."""


class Crash(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="crash"):
    """Crash the node as SIGKILL does. restart_after_ms: when it starts again; None for never."""

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


def kind_of(action: Action) -> str:
    """Return the action's `kind`, as in JSON."""
    kind = action.__struct_config__.tag
    assert isinstance(kind, str), "every action is tagged by its kind"
    return kind
