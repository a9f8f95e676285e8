"""Pages of lists: `{"items": [...], "next": ...}`, where next is the `since` of the next page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from ..faults.rule_error import InvalidValueError

Item = TypeVar("Item")
Described = TypeVar("Described")

LIMIT_DEFAULT = 100
# A page is built in one step on the event loop.
LIMIT_MAX = 10_000
# The JSON of a page's items; the one that reaches it is the last of its page. Clients may choose names of 32,767
# characters.
PAGE_BYTES_MAX = 4 * 1024 * 1024
# The longest text of the protocol, and so the longest name of an item.
NAME_CHARACTERS_MAX = 32_767
INT64_MAX = 2**63 - 1
_INT64_DIGITS_MAX = 19

Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX, description="The maximum number of items.")]


class NumberPage(Struct, kw_only=True, forbid_unknown_fields=True):
    """A page of a list whose items have numbers."""

    since: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Only items with a greater number.")] = 0
    limit: Limit = LIMIT_DEFAULT


class NamePage(Struct, kw_only=True, forbid_unknown_fields=True):
    """A page of a list that is sorted by name."""

    since: Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX, description="Only items after this name.")] = ""
    limit: Limit = LIMIT_DEFAULT


def page_of(
    items: Iterable[Item], limit: int, describe: Callable[[Item], Described], token_of: Callable[[Item], str]
) -> tuple[list[Described], str | None]:
    """Return the first limit items, each described, and the token of the next page, None at the end.

    The page ends earlier with the item that reaches PAGE_BYTES_MAX.
    """
    shown: list[Described] = []
    size = 0
    last: Item | None = None
    for item in items:
        if last is not None and (len(shown) >= limit or size >= PAGE_BYTES_MAX):
            return shown, token_of(last)
        described = describe(item)
        shown.append(described)
        size += len(msgspec.json.encode(described))
        last = item
    return shown, None


def make_token(*parts: str | int) -> str:
    """Return the token of a page: the place of its last item. The parts must not contain a slash."""
    return "/".join(map(str, parts))


def split_token(token: str, *, names: int, numbers: int) -> list[str]:
    """Return the parts of a token: names, then decimal numbers of at most 19 digits. Raises InvalidValueError."""
    parts = token.split("/")
    if len(parts) != names + numbers or not all(map(_is_number, parts[names:])):
        raise InvalidValueError("since", token, "the `next` of another page", f"since cannot be {token!r}")
    return parts


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _INT64_DIGITS_MAX
