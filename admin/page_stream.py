"""A page of a long list, made in slices; for HTTP as pieces of its JSON, so that it is never in memory as a whole.

The list is searched and encoded in slices: after PIECE_BYTES_MAX bytes the piece is sent, and after SLICE_SECONDS the
requests of clients come first, also where no item is found.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from time import perf_counter
from typing import TypeVar

import msgspec

from ..broker.runtime.long_work import SLICE_SECONDS

Item = TypeVar("Item", bound=msgspec.Struct)

# A piece ends with the item that reaches it. The client's socket buffer takes a few of them.
PIECE_BYTES_MAX = 64 * 1024


async def collect_page(
    found: Iterable[Item | None], limit: int, token_of: Callable[[Item], str]
) -> tuple[list[Item], str | None]:
    """Return the items of a page and its token, for a caller in this process. found, token_of: as in stream_page."""
    items: list[Item] = []
    until = perf_counter() + SLICE_SECONDS
    for item in found:
        if item is not None:
            if len(items) == limit:
                return items, token_of(items[-1])
            items.append(item)
        if perf_counter() >= until:
            await asyncio.sleep(0)
            until = perf_counter() + SLICE_SECONDS
    return items, None


async def stream_page(
    found: Iterable[Item | None], limit: int, token_of: Callable[[Item], str], rest: dict[str, object]
) -> AsyncGenerator[bytes]:
    """Yield the pieces of a page: `{"items": [...], "next": ...}` and the fields of rest.

    found: the items, and None for each element of the list that is none. token_of: of the last item of the page.
    """
    piece = bytearray(b'{"items":[')
    count = 0
    last = token = None
    until = perf_counter() + SLICE_SECONDS
    for item in found:
        if item is not None:
            if last is not None and count == limit:
                token = token_of(last)
                break
            if count:
                piece += b","
            piece += msgspec.json.encode(item)
            last = item
            count += 1
        is_full = len(piece) >= PIECE_BYTES_MAX
        if is_full:
            yield bytes(piece)
            piece.clear()
        if is_full or perf_counter() >= until:
            await asyncio.sleep(0)
            until = perf_counter() + SLICE_SECONDS
    # The fields after the items, without the brace before them.
    yield bytes(piece) + b"]," + msgspec.json.encode({"next": token, **rest})[1:]
