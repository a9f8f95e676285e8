"""Errors of calls: one JSON form for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .. import FauxkaError
from ..faults.rules.near_misses import NearMiss

if TYPE_CHECKING:
    from ..faults.rule_error import InvalidValueError


# The header of an error response with the exception of a caller in process.
KIND_HEADER = "Fauxka-Error"


class ErrorDetail(msgspec.Struct, kw_only=True):
    """An invalid value: its field, what is allowed instead, and a sentence.

    field: the path in the body ("match.partition"), the name of a parameter, or null.
    """

    field: str | None
    value: Any
    allowed: str | None
    message: str


class ErrorBody(msgspec.Struct, kw_only=True):
    """The body of an error response."""

    error: ErrorDetail


class WaitTimedOut(msgspec.Struct, kw_only=True):
    """The body of a 408 response: fewer hits than expected within the timeout.

    hits: so far; of other waits the number of records, or of the members of a group.
    near_misses: why other requests did not match, the nearest first.
    """

    error: ErrorDetail
    hits: int
    near_misses: list[NearMiss]


class CallError(FauxkaError):
    """An error response: the HTTP status and its body.

    challenge: the WWW-Authenticate of a 401. kind: the exception of a caller in process.
    """

    challenge = "Bearer"
    kind = "CallError"

    def __init__(
        self, status: int, message: str, *, field: str | None = None, value: object = None, allowed: str | None = None
    ) -> None:
        """Create the error. field, value, allowed: as in ErrorDetail."""
        super().__init__(message)
        self.status = status
        self.detail = ErrorDetail(field=field, value=value, allowed=allowed, message=message)

    def body(self) -> msgspec.Struct:
        """Return the body of the response."""
        return ErrorBody(error=self.detail)


class WaitTimeoutError(CallError, TimeoutError):
    """Fewer hits than expected within the timeout: 408 with the hits so far and the near misses of the rule."""

    def __init__(self, message: str, hits: int, near_misses: list[NearMiss]) -> None:
        """Create the error. hits: as in WaitTimedOut."""
        super().__init__(408, message)
        self.hits = hits
        self.near_misses = near_misses

    def body(self) -> msgspec.Struct:
        """Return the body of the response."""
        return WaitTimedOut(error=self.detail, hits=self.hits, near_misses=self.near_misses)


class BrokerStateError(FauxkaError, RuntimeError):
    """A call that needs a running broker, before its start or after its stop; or a second start."""


class Unreachable(Exception):
    """There is no broker, or it does not respond as one. The message is one line for the user."""


def unknown(kind: str, value: object, *, field: str = "id") -> CallError:
    """Return the 404 for an unknown id. kind: such as "rule"."""
    return CallError(404, f"there is no {kind} {value}", field=field, value=value, allowed=f"the {field} of a {kind}")


def conflict(message: str, *, field: str | None = None, value: object = None) -> CallError:
    """Return the 409 for a valid call that the current state of the broker does not allow."""
    return CallError(409, message, field=field, value=value)


def missing_token() -> CallError:
    """Return the 401 for a call without the token."""
    return CallError(401, "expected the token: Authorization: Bearer TOKEN", field="Authorization")


def too_large(size: int, size_max: int) -> CallError:
    """Return the 413 for a body of more than size_max bytes."""
    message = f"the body has {size} bytes; at most {size_max} are allowed"
    return CallError(413, message, value=size, allowed=f"up to {size_max} bytes")


def unfinished_request(seconds: float) -> CallError:
    """Return the 408 for a request that is not complete after this time."""
    return CallError(408, f"the request was not complete after {seconds:.0f} s")


def too_many_connections(connections_max: int) -> CallError:
    """Return the 503 for a connection beyond the limit."""
    return CallError(503, f"the admin API has {connections_max} connections and accepts no more")


def of_invalid_value(error: InvalidValueError) -> CallError:
    """Return the 400 for an invalid value."""
    refusal = CallError(400, error.message, field=error.field, value=error.value, allowed=error.allowed)
    refusal.kind = type(error).__name__
    return refusal
