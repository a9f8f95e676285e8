"""Pages of lists: `{"items": [...], "next": ...}`, where next is the `since` of the next page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from ..faults.rule_error import RuleError

Item = TypeVar("Item")
Described = TypeVar("Described")

LIMIT_DEFAULT = 100
# A page is built in one step on the event loop.
LIMIT_MAX = 10_000
INT64_MAX = 2**63 - 1
_INT64_DIGITS_MAX = 19

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


def make_token(*parts: str | int) -> str:
    """Return the token of a page: the place of its last item. The parts must not contain a slash."""
    return "/".join(map(str, parts))


def split_token(token: str, *, names: int, numbers: int) -> list[str]:
    """Return the parts of a token: names, then decimal numbers of at most 19 digits. Raises RuleError for `since`."""
    parts = token.split("/")
    if len(parts) != names + numbers or not all(map(_is_number, parts[names:])):
        raise RuleError("since", token, "the `next` of another page", f"since cannot be {token!r}")
    return parts


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _INT64_DIGITS_MAX
