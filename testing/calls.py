"""Call interfaces for the broker's thread, the only one that may access the broker's state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct, structs, to_builtins

from ..admin.paging import LIMIT_MAX, NamePage
from ..faults.strict_json import convert

if TYPE_CHECKING:
    from ..admin.client.admin_client import JsonObject
    from ..admin.control import Control

Result = TypeVar("Result")
Item = TypeVar("Item")
Query = TypeVar("Query")
Item_co = TypeVar("Item_co", covariant=True)

# The default wait of a test. Events that happen at all happen within milliseconds.
AWAIT_TIMEOUT_MS = 5_000


class Call(Protocol):
    """Runs a function on the broker's thread."""

    def __call__(self, function: Callable[[], Result], /) -> Result:
        """Return the result of function, or raise its exception."""
        ...


class ControlCall(Protocol):
    """Runs a function with the broker's Control on the broker's thread."""

    def __call__(self, function: Callable[[Control], Result], /) -> Result:
        """Return the result of function, or raise its exception."""
        ...


class Perform(Protocol):
    """Performs an operation that waits, on the broker's event loop."""

    def __call__(self, operation: Callable[[Control], Coroutine[object, object, Result]], /) -> Result:
        """Return the result of the operation, or raise its exception."""
        ...


class AsyncPerform(Protocol):
    """Performs an operation that waits, on the running event loop."""

    def __call__(self, operation: Callable[[Control], Coroutine[object, object, Result]], /) -> Awaitable[Result]:
        """Return the result of the operation, or raise its exception."""
        ...


class RemoteCall(Protocol):
    """Sends a call of the admin API."""

    def __call__(
        self, method: str, path: str, body: Struct | Mapping[str, object] | None = None, **query: object
    ) -> JsonObject:
        """Return the body of the response. Raises CallError and Unreachable."""
        ...


class Page(Protocol[Item_co]):
    """A page of a list of the admin API."""

    @property
    def items(self) -> Sequence[Item_co]:
        """The items."""
        ...

    @property
    def next(self) -> str | None:
        """The `since` of the next page; None at the end."""
        ...


def all_named(call: ControlCall, list_page: Callable[[Control, NamePage], Page[Item]]) -> list[Item]:
    """Return the items of all pages of an operation that lists by name."""
    return call(lambda control: all_items(lambda since: list_page(control, NamePage(since=since, limit=LIMIT_MAX))))


def all_numbered(
    call: ControlCall,
    list_page: Callable[[Control, Query], Page[Item]],
    query_type: Callable[..., Query],
    match: Struct,
) -> list[Item]:
    """Return the items of all pages of an operation that lists by number. match: the query without since and limit."""
    fields = structs.asdict(match)
    return call(
        lambda control: all_items(
            lambda since: list_page(control, query_type(**fields, since=int(since or 0), limit=LIMIT_MAX))
        )
    )


def all_remote(call: RemoteCall, path: str, page_type: type[Page[Item]], **query: object) -> list[Item]:
    """Return the items of all pages of a list of the admin API. query: its parameters, None for none."""
    return all_items(
        lambda since: convert(call("GET", path, None, **query, since=since or None, limit=LIMIT_MAX), page_type)
    )


def parameters_of(match: Struct) -> dict[str, object]:
    """Return the fields of a model as parameters of a URL."""
    fields: dict[str, object] = to_builtins(match)
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in fields.items()}


def all_items(read: Callable[[str], Page[Item]]) -> list[Item]:
    """Return the items of all pages. read: returns the page after a token; the first token is ""."""
    items: list[Item] = []
    token: str | None = ""
    while token is not None:
        page = read(token)
        items += page.items
        token = page.next
    return items
