"""What can be wrong with a call, and how it is told: one shape for every error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from ..faults.rule_error import RuleError


class ErrorDetail(msgspec.Struct, kw_only=True):
    """What was wrong: which field had which value, what it may have instead, and all of that in a sentence.

    field: by its path in the body ("match.partition"), the name of a parameter, or null where it is none of them.
    """

    field: str | None
    value: Any
    allowed: str | None
    message: str


class ErrorAnswer(msgspec.Struct, kw_only=True):
    """The answer to a call that cannot be done."""

    error: ErrorDetail


class WaitTimedOut(msgspec.Struct, kw_only=True):
    """The answer to a call that waited for hits that did not come in time."""

    error: ErrorDetail
    hits: int


class CallError(Exception):
    """A call that cannot be done: the HTTP status, and what its answer says."""

    def __init__(
        self, status: int, message: str, *, field: str | None = None, value: object = None, allowed: str | None = None
    ) -> None:
        """Describe it; see ErrorDetail."""
        super().__init__(message)
        self.status = status
        self.detail = ErrorDetail(field=field, value=value, allowed=allowed, message=message)

    def answer(self) -> msgspec.Struct:
        """Return what the answer's body holds."""
        return ErrorAnswer(error=self.detail)


class WaitTimeoutError(CallError):
    """Hits that did not come in time; 408 with those that did."""

    def __init__(self, message: str, hits: int) -> None:
        """hits: so far."""
        super().__init__(408, message)
        self.hits = hits

    def answer(self) -> msgspec.Struct:
        """Return the error with the hits."""
        return WaitTimedOut(error=self.detail, hits=self.hits)


def unknown(kind: str, value: object, *, field: str = "id") -> CallError:
    """Return the error of a call for something that is not there, such as a "rule" that was removed."""
    return CallError(404, f"there is no {kind} {value}", field=field, value=value, allowed=f"the {field} of a {kind}")


def conflict(message: str, *, field: str | None = None, value: object = None) -> CallError:
    """Return the error of a call that is well formed, and cannot be done as the broker is now."""
    return CallError(409, message, field=field, value=value)


def of_rule_error(error: RuleError) -> CallError:
    """Return the error of a body whose values are impossible."""
    return CallError(400, error.message, field=error.field, value=error.value, allowed=error.allowed)
