"""How a method of the admin interface performs its operation on an event loop; as admin/methods/base.py."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from msgspec import Struct, structs

from ..methods.base import AnyOperation as AnyOperation
from ..methods.base import Page as Page
from ..methods.base import next_page, same
from ..paging import LIMIT_MAX

if TYPE_CHECKING:
    from ..control import Control

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Item = TypeVar("Item")
Made = TypeVar("Made")


class AsyncSend(Protocol):
    """Performs an operation on a broker."""

    async def __call__(self, operation: AnyOperation, arguments: Mapping[str, object], /) -> Any:
        """Return the result; as Send."""
        ...


class AsyncMethods:
    """Methods that perform operations of the admin API."""

    def __init__(self, send: AsyncSend) -> None:
        """send: performs an operation on the broker."""
        self._send = send

    @overload
    async def _perform(
        self,
        operation: Callable[Concatenate[Control, Parameters], Coroutine[object, object, Result]],
        /,
        *no_others: Parameters.args,
        **arguments: Parameters.kwargs,
    ) -> Result: ...

    @overload
    async def _perform(
        self,
        operation: Callable[Concatenate[Control, Parameters], Result],
        /,
        *no_others: Parameters.args,
        **arguments: Parameters.kwargs,
    ) -> Result: ...

    async def _perform(self, operation: AnyOperation, /, *no_others: object, **arguments: object) -> Any:
        """Return the result of an operation. arguments: path, query and body, those that it has."""
        return await self._send(operation, arguments)

    async def _all(
        self,
        operation: Callable[..., Page[Item]] | Callable[..., Coroutine[object, object, Page[Item]]],
        query: Struct,
        most: int | None = None,
        **path: Struct,
    ) -> list[Item]:
        """Return the items of all pages of a list. query: of the first page. most: at most so many; None for all."""
        return await self._all_made(operation, query, same, most, **path)

    async def _all_made(
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
            page = await self._send(operation, {**path, "query": structs.replace(query, limit=limit)})
            made += map(make, page.items)
            if page.next is None or (most is not None and len(made) >= most):
                return made
            query = next_page(query, page.next)
