"""Pages: how many items they have, and how many bytes; and the pieces of a page that is streamed."""

import asyncio
import json
from collections.abc import Iterator
from itertools import count

import pytest
from msgspec import Struct

from fauxka.admin import page_stream
from fauxka.admin.page_stream import PIECE_BYTES_MAX, stream_page
from fauxka.admin.paging import PAGE_BYTES_MAX, page_of


class Named(Struct):
    id: int
    name: str


def named(characters: int, items: int) -> list[Named]:
    return [Named(each, "a" * characters) for each in range(items)]


def token_of(item: Named) -> str:
    return str(item.id)


def test_page_ends_with_the_item_that_reaches_its_bytes() -> None:
    items = named(PAGE_BYTES_MAX // 4, 10)

    pages: list[list[Named]] = []
    token: str | None = "-1"
    while token is not None:
        page, token = page_of(items[int(token) + 1 :], 100, lambda item: item, token_of)
        pages.append(page)

    assert [len(page) for page in pages] == [4, 4, 2]
    assert [item for page in pages for item in page] == items


def test_page_has_one_item_however_large_it_is() -> None:
    items = named(2 * PAGE_BYTES_MAX, 2)

    assert page_of(items, 100, lambda item: item, token_of) == (items[:1], "0")
    assert page_of(items[1:], 100, lambda item: item, token_of) == (items[1:], None)


@pytest.mark.parametrize(("limit", "following"), [(1, "0"), (3, "2"), (4, None), (5, None)])
def test_page_has_at_most_its_limit_of_items(limit: int, following: str | None) -> None:
    items = named(1, 4)

    assert page_of(items, limit, lambda item: item, token_of) == (items[:limit], following)
    pieces, page = asyncio.run(streamed(iter(items), limit))
    assert page == {"items": [{"id": each, "name": "a"} for each in range(min(limit, 4))], "next": following, "more": 1}
    assert len(pieces) == 1


async def streamed(found: Iterator[Named | None], limit: int) -> tuple[list[bytes], object]:
    pieces = [piece async for piece in stream_page(found, limit, token_of, {"more": 1})]
    return pieces, json.loads(b"".join(pieces))


def test_streamed_page_is_never_in_memory_as_a_whole() -> None:
    made = count()
    items = (Named(next(made), "a" * 1000) for _ in range(10_000))

    async def first_piece() -> tuple[int, int]:
        pieces = stream_page(items, 10_000, token_of, {})
        piece = await anext(pieces)
        await pieces.aclose()
        return len(piece), next(made)

    size, made_of_it = asyncio.run(first_piece())
    assert PIECE_BYTES_MAX <= size < PIECE_BYTES_MAX + 2000
    assert made_of_it <= PIECE_BYTES_MAX // 1000 + 1


def test_search_without_a_result_lets_other_requests_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_stream, "SLICE_SECONDS", 0.0)
    turns = 0

    async def search() -> object:
        async def run_beside() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(run_beside())
        _, page = await streamed(iter([None] * 100), 10)
        beside.cancel()
        return page

    assert asyncio.run(search()) == {"items": [], "next": None, "more": 1}
    assert turns >= 100
