"""One operation of the admin API: the one description from which both its route and its place in /openapi.json come."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast, get_type_hints

from msgspec import Struct

JSON = "application/json"


class Caller(Protocol):
    """Who waits for an answer."""

    async def disconnected(self) -> None:
        """Return when nobody waits any more: the client has left, or the broker stops."""
        ...


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A method and a path, and what is done for them.

    perform: called with the Control, and by name with what its parameters are called: `path`, `query` and `body`, each
    a msgspec Struct that the call is checked against, and `caller`. Its first line of documentation is the summary;
    what it returns is the answer. It may be a coroutine function where it waits.
    errors: the statuses it may answer beside those that follow from its parameters.
    is_public: whether it is answered without a token.
    ignored: fields of a body that answers have beside what was asked for, so that these can be posted again.
    media_type: of the answer; anything but JSON is returned as bytes.
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

    @cached_property
    def _hints(self) -> dict[str, object]:
        return dict(get_type_hints(self.perform, include_extras=True))

    @property
    def path_type(self) -> type[Struct] | None:
        """The Struct of what the path holds in braces."""
        return cast("type[Struct] | None", self._hints.get("path"))

    @property
    def query_type(self) -> type[Struct] | None:
        """The Struct of the parameters behind the path."""
        return cast("type[Struct] | None", self._hints.get("query"))

    @property
    def body_type(self) -> object | None:
        """What the body is decoded as; None where there is none."""
        return self._hints.get("body")

    @property
    def answer_type(self) -> object | None:
        """What the answer's body is; None where it has none."""
        answer = self._hints.get("return")
        return None if answer is type(None) else answer

    @property
    def wants_caller(self) -> bool:
        """Whether it waits, and must know when nobody waits for it."""
        return "caller" in self._hints

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (inspect.getdoc(self.perform) or "").partition("\n")[0]

    @property
    def description(self) -> str:
        """What there is to know beside that."""
        return (inspect.getdoc(self.perform) or "").partition("\n")[2].strip()

    @property
    def statuses(self) -> Sequence[int]:
        """The errors that it may answer."""
        of_parameters = [400] if self.path_type or self.query_type or self.body_type else []
        of_token = [] if self.is_public else [401]
        of_body = [413] if self.method in {"POST", "PUT"} else []
        return sorted({*of_parameters, *of_token, 403, *of_body, *self.errors})
