"""Pages of lists: `{"items": [...], "next": ...}`, where next is the `since` of the next page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

Item = TypeVar("Item")
Described = TypeVar("Described")

LIMIT_DEFAULT = 100
# A page is built in one step on the event loop.
LIMIT_MAX = 10_000
INT64_MAX = 2**63 - 1

Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX, description="The maximum number of items.")]


class NumberPage(Struct, kw_only=True, forbid_unknown_fields=True):
    """A page of a list whose items have numbers."""

    since: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Only items with a greater number.")] = 0
    limit: Limit = LIMIT_DEFAULT


class NamePage(Struct, kw_only=True, forbid_unknown_fields=True):
    """A page of a list that is sorted by name."""

    since: Annotated[str, Meta(max_length=1000, description="Only items after this name.")] = ""
    limit: Limit = LIMIT_DEFAULT


def page_of(
    items: Iterable[Item], limit: int, describe: Callable[[Item], Described], token_of: Callable[[Item], str]
) -> tuple[list[Described], str | None]:
    """Return the first limit items, each described, and the token of the next page, None at the end."""
    found = list(islice(items, limit + 1))
    shown = found[:limit]
    return [describe(item) for item in shown], token_of(shown[-1]) if len(found) > limit else None
