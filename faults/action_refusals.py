"""Why requests of an API cannot have an action."""

from __future__ import annotations

from typing import Literal, get_args

from ..protocol.error_codes import ErrorCode
from ..protocol.errors.partial_errors import can_report_error
from ..protocol.errors.response_frames import has_throttle_time
from ..protocol.similar_names import suggestion
from .action_declaration import Apis, Refusal

Scope = Literal["partition", "topic", "request"]
_SCOPES: tuple[Scope, ...] = get_args(Scope)


# What is allowed where the name of an error is expected.
ERROR_NAME = "the name of a Kafka error, such as NOT_LEADER_OR_FOLLOWER"


def unknown_error_text(error: str) -> str:
    """Return the message about a name that no error has."""
    return f"Kafka has no error {error!r}{suggestion(error, ErrorCode.__members__)}"


def error_refusal(error: str | int, scope: Scope | None, apis: Apis) -> Refusal | None:
    """Refuse an unknown error, and one that the responses of an API cannot have for the scope."""
    if isinstance(error, str) and error not in ErrorCode.__members__:
        return Refusal(
            "action.error", error, f"{ERROR_NAME}, or its code", f"action.error: {unknown_error_text(error)}"
        )
    for api in apis:
        if scope is not None and not can_report_error(api, scope):
            allowed = ", ".join(each for each in _SCOPES if can_report_error(api, each))
            message = f"action.scope: responses of {api.name} have no error code for a {scope}"
            return Refusal("action.scope", scope, allowed, message)
    return None


def throttle_refusal(apis: Apis) -> Refusal | None:
    """Refuse an API whose responses have no throttle time."""
    for api in apis:
        if not has_throttle_time(api):
            message = f"action.kind: responses of {api.name} have no throttle_time_ms"
            return Refusal("action.kind", "throttle", "an API whose responses have a throttle_time_ms", message)
    return None
