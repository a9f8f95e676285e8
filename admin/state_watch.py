"""Finds what has changed in the state of a cluster, for streams of events.

- Nothing runs while no stream is open.
- The state is compared with that of the last look, a page at a time, with the requests of clients between two pages.
- A look begins LOOK_SECONDS after the last one, or later: looks take at most a share of 1 / SHARE_OF_TIME of the loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
SHARE_OF_TIME = 20
# Kept for streams that read late. A stream that is further behind is told that everything may have changed.
CHANGES_MAX = 1_000
# The names of one event. A part with more characters may have changed as a whole.
NAMES_CHARACTERS_MAX = 256 * 1024

# Names of items, and their states as the admin API returns them.
Page = list[tuple[str, object]]
# The pages of each part of the state, such as "topics".
Parts = Mapping[str, Callable[[], Iterator[Page]]]
Changes = dict[str, list[str] | None]


class _Change(NamedTuple):
    part: str
    name: str


class StateWatch:
    """The changes of the state since a stream was opened.

    broker: random, another one for each start of a broker. version: grows by one with each change.
    """

    def __init__(self) -> None:
        """Watch nothing yet."""
        self.broker = os.urandom(8).hex()
        self.version = 0
        # How many streams are open.
        self.streams = 0
        self._parts: Parts = {}
        self._seen: dict[str, dict[str, int]] = {}
        self._changes: deque[_Change] = deque(maxlen=CHANGES_MAX)
        self._looking: asyncio.Task[None] | None = None
        self._first_look = asyncio.Event()
        # Processor time of the present look.
        self._busy_seconds = 0.0

    @contextmanager
    def watching(self, parts: Parts) -> Generator[None]:
        """Look at the state within the block."""
        self.streams += 1
        if self._looking is None:
            self._parts = parts
            self._looking = asyncio.get_running_loop().create_task(self._look_on())
        try:
            yield
        finally:
            self.streams -= 1
            if not self.streams:
                self._looking.cancel()
                self._looking = None
                self._seen.clear()
                self._first_look.clear()

    async def seen_version(self) -> int:
        """Return the version when the whole state has been seen once."""
        await self._first_look.wait()
        return self.version

    def changed_since(self, version: int) -> Changes:
        """Return the names of what has changed, by part; None for any part if there were too many changes."""
        count = self.version - version
        if count > len(self._changes):
            return dict.fromkeys(self._parts)
        changed: Changes = {}
        for change in list(self._changes)[len(self._changes) - count :]:
            names = changed.setdefault(change.part, [])
            if names is not None and change.name not in names:
                names.append(change.name)
        return {part: _unless_long(names) for part, names in changed.items()}

    async def _look_on(self) -> None:
        while True:
            self._busy_seconds = 0.0
            try:
                await self._look()
            except Exception:
                logger.exception("the state could not be compared")
            self._first_look.set()
            await asyncio.sleep(max(LOOK_SECONDS, SHARE_OF_TIME * self._busy_seconds))

    async def _look(self) -> None:
        for part, pages in self._parts.items():
            found: dict[str, int] = {}
            following = pages()
            while (page := self._next_page(following)) is not None:
                found.update(page)
                # The requests of clients come first.
                await asyncio.sleep(0)
            self._compare(part, found)

    def _next_page(self, pages: Iterator[Page]) -> list[tuple[str, int]] | None:
        """Return the names and states of the next page; None behind the last one."""
        # Processor time: on a machine that does much else, a look takes longer and no more of the loop.
        began = time.thread_time()
        page = next(pages, None)
        hashes = None if page is None else [(name, hash(msgspec.json.encode(item))) for name, item in page]
        self._busy_seconds += time.thread_time() - began
        return hashes

    def _compare(self, part: str, found: dict[str, int]) -> None:
        seen = self._seen.get(part)
        self._seen[part] = found
        if seen is None:
            return
        for name in found.keys() | seen.keys():
            if found.get(name) != seen.get(name):
                self._changes.append(_Change(part, name))
                self.version += 1


def _unless_long(names: list[str] | None) -> list[str] | None:
    return None if names is not None and sum(map(len, names)) > NAMES_CHARACTERS_MAX else names
