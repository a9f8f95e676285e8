"""Operation: one method and path of the admin API, the source of its route and of its entry in /openapi.json."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, cast, get_type_hints

from msgspec import Struct

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
EVENT_STREAM = "text/event-stream"
# Errors of any call, before its operation is looked up: a browser's request, an unfinished request, too many headers,
# too many connections.
ERRORS_OF_ANY_CALL = (403, 408, 431, 503)


class NoParameters(Struct, forbid_unknown_fields=True):
    """The model of a query without parameters."""


class Caller(Protocol):
    """The client of a call."""

    async def disconnected(self) -> None:
        """Return when the client disconnects or the broker stops."""
        ...


class _Patient:
    """A caller that waits for the response."""

    async def disconnected(self) -> None:
        await asyncio.Event().wait()


# The caller of an operation that is not called over HTTP.
PATIENT: Caller = _Patient()


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A method and a path, and the function that implements them.

    perform: called with the Control and, as keywords, its parameters `path`, `query`, and `body` or `form` (msgspec
    Structs that validate the call), `caller` and `headers` (those of the call, by names in lower case). Returns the
    response body. May be a coroutine function. Its docstring is the summary and description of the operation.
    errors: error statuses other than those that follow from the parameters.
    is_public: no token is needed.
    ignored: fields that responses add to the body; they are skipped, so that a response can be posted again.
    media_type: of the response; if it is not JSON, perform returns bytes, or an asynchronous generator of bytes, each
    sent as it comes.
    stream: returns the JSON of the same response in pieces, as an asynchronous generator of bytes; for HTTP.
    error_type: the model of the bodies of 400 and 401, beside the one of all operations; None for that one only.
    headers: of the response. has_secret: errors about the call have no values.
    """

    method: str
    path: str
    perform: Callable[..., object]
    tag: str
    status: int = 200
    errors: tuple[int, ...] = ()
    is_public: bool = False
    ignored: frozenset[str] = frozenset()
    media_type: str = JSON
    stream: Callable[..., object] | None = None
    error_type: type[Struct] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    has_secret: bool = False

    @cached_property
    def _hints(self) -> dict[str, object]:
        return dict(get_type_hints(self.perform, include_extras=True))

    @property
    def path_type(self) -> type[Struct] | None:
        """The model of the parameters in the path."""
        return cast("type[Struct] | None", self._hints.get("path"))

    @property
    def query_type(self) -> type[Struct] | None:
        """The model of the query parameters."""
        return cast("type[Struct] | None", self._hints.get("query"))

    @property
    def body_type(self) -> object | None:
        """The model of the request body; None for no body."""
        return self._hints.get("body")

    @property
    def form_type(self) -> type[Struct] | None:
        """The model of a request body that is a form."""
        return cast("type[Struct] | None", self._hints.get("form"))

    @property
    def result_type(self) -> object | None:
        """The model of the response body; None for no body and for one that is not JSON."""
        result = self._hints.get("return")
        return None if result is type(None) or self.media_type != JSON else result

    @property
    def wants_caller(self) -> bool:
        """Whether perform takes the caller, to stop waiting when it disconnects."""
        return "caller" in self._hints

    @property
    def wants_headers(self) -> bool:
        """Whether perform takes the headers of the call."""
        return "headers" in self._hints

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.perform) or "").partition("\n")[0]

    @property
    def description(self) -> str:
        """The rest of the docstring."""
        return (inspect.getdoc(self.perform) or "").partition("\n")[2].strip()

    @property
    def statuses(self) -> Sequence[int]:
        """All error statuses."""
        has_parameters = self.path_type or self.query_type or self.body_type or self.form_type
        of_parameters = [400] if has_parameters else []
        of_token = [] if self.is_public else [401]
        of_body = [413] if self.method in {"POST", "PUT", "PATCH"} else []
        return sorted({*of_parameters, *of_token, *of_body, *ERRORS_OF_ANY_CALL, *self.errors})
