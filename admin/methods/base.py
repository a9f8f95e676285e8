"""How a method of the admin interface performs its operation.

A class of methods knows operations and their models, and nothing of where the broker is: it gets a `Send`, which
performs an operation by the thread of a broker in this process, or over HTTP. admin/async_methods has the same classes
for an event loop; tools/async_methods.py makes them of these.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from msgspec import Struct, structs

from ..paging import LIMIT_MAX

if TYPE_CHECKING:
    from ..control import Control

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Item = TypeVar("Item")
Made = TypeVar("Made")
Item_co = TypeVar("Item_co", covariant=True)

AnyOperation = Callable[..., object]


class Send(Protocol):
    """Performs an operation on a broker."""

    def __call__(self, operation: AnyOperation, arguments: Mapping[str, object], /) -> Any:
        """Return the result. operation: its function. arguments: path, query and body.

        Raises CallError and InvalidValueError as the operation does, and Unreachable if there is no broker.
        """
        ...


class Page(Protocol[Item_co]):
    """A page of a list."""

    @property
    def items(self) -> Sequence[Item_co]:
        """The items."""
        ...

    @property
    def next(self) -> str | None:
        """The `since` of the next page; None at the end."""
        ...


class Methods:
    """Methods that perform operations of the admin API."""

    def __init__(self, send: Send) -> None:
        """send: performs an operation on the broker."""
        self._send = send

    @overload
    def _perform(
        self,
        operation: Callable[Concatenate[Control, Parameters], Coroutine[object, object, Result]],
        /,
        *no_others: Parameters.args,
        **arguments: Parameters.kwargs,
    ) -> Result: ...

    @overload
    def _perform(
        self,
        operation: Callable[Concatenate[Control, Parameters], Result],
        /,
        *no_others: Parameters.args,
        **arguments: Parameters.kwargs,
    ) -> Result: ...

    def _perform(self, operation: AnyOperation, /, *no_others: object, **arguments: object) -> Any:
        """Return the result of an operation. arguments: path, query and body, those that it has."""
        return self._send(operation, arguments)

    def _all(
        self,
        operation: Callable[..., Page[Item]] | Callable[..., Coroutine[object, object, Page[Item]]],
        query: Struct,
        most: int | None = None,
        **path: Struct,
    ) -> list[Item]:
        """Return the items of all pages of a list. query: of the first page. most: at most so many; None for all."""
        return self._all_made(operation, query, same, most, **path)

    def _all_made(
        self,
        operation: Callable[..., Page[Item]] | Callable[..., Coroutine[object, object, Page[Item]]],
        query: Struct,
        make: Callable[[Item], Made],
        most: int | None = None,
        **path: Struct,
    ) -> list[Made]:
        """Return what make returns of the items of all pages. It is called page by page, so that others can run."""
        made: list[Made] = []
        while True:
            limit = LIMIT_MAX if most is None else min(LIMIT_MAX, most - len(made))
            page = self._send(operation, {**path, "query": structs.replace(query, limit=limit)})
            made += map(make, page.items)
            if page.next is None or (most is not None and len(made) >= most):
                return made
            query = next_page(query, page.next)


def wait_seconds(arguments: Mapping[str, object]) -> float:
    """Return how long an operation may wait that has a timeout; 0 for others."""
    timeout_ms: int = getattr(arguments.get("query"), "timeout_ms", 0)
    return timeout_ms / 1000


def next_page(query: Struct, token: str) -> Struct:
    """Return the query of the page after a token; the items of some lists have numbers."""
    is_number = isinstance(structs.asdict(query)["since"], int)
    return structs.replace(query, since=int(token) if is_number else token)


def same(item: Item) -> Item:
    """Return the item."""
    return item
