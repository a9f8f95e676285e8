"""Server-Sent Events of the journal and the state, for `GET /v1/events`.

- Events are made when the client is ready to receive them, from the journal and the state as they are then. Nothing is
  buffered for a stream, so a slow client takes no memory; what it is too late for, it skips with a count.
- A request is sent when it is in the journal, and again when its outcome changes: its response, faults or batches.
- Nothing runs while no stream is open.

docs/admin-api.md has the events and their data.
Source: HTML Living Standard, section 9.2, Server-sent events.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import msgspec

from ..faults.journal.journal import Journal
from ..faults.journal.journal_entries import JournalEntry, find_entry, iterate_entries
from ..faults.journal.marks import Marks
from .operations.mark_operations import MarkInfo, mark_info
from .state_watch import Parts, StateWatch

# How often a stream looks for requests.
POLL_SECONDS = 0.1
# Comments that tell both sides that the connection is alive.
HEARTBEAT_SECONDS = 15.0
# A stream that is further behind skips to the newest ones: as many as a page shows.
BEHIND_MAX = 10_000
# The requests of one event, whose JSON is made in one step of the event loop.
EVENT_REQUESTS_MAX = 100
# A request may have thousands of batches. The one that reaches this number is the last of its event.
EVENT_BATCHES_MAX = 1000
# Requests without a response that a stream watches.
WAITING_MAX = 10_000

WAITING = "waiting"


class Opened(msgspec.Struct, kw_only=True):
    """The data of the event `opened`."""

    broker: str


class Requests(msgspec.Struct, kw_only=True):
    """The data of the event `requests`."""

    items: list[JournalEntry]
    skipped: int


class Cleared(msgspec.Struct, kw_only=True):
    """The data of the event `cleared`."""

    through: int


class NewMarks(msgspec.Struct, kw_only=True):
    """The data of the event `marks`."""

    items: list[MarkInfo]


class EventStream:
    """The events of one client: an asynchronous iterator of encoded events without an end."""

    def __init__(self, journal: Journal, marks: Marks, watch: StateWatch, since: int | None) -> None:
        """since: the id of the newest request that the client has; None sends the newest BEHIND_MAX."""
        self._journal = journal
        self._marks = marks
        self._sent_mark_id = 0
        self._watch = watch
        self._known_id = journal.cleared_id if since is None else since
        self._sent_id = self._known_id
        # A client that continues is told of a clear that it has missed.
        self._cleared_id = min(self._known_id, journal.cleared_id)
        if self._known_id > journal.last_id:
            # What it knows are requests of an earlier process.
            self._sent_id, self._cleared_id = journal.cleared_id, -1
        # A client that continues gets the marks after its newest request again, and compares their ids.
        self._marks_since = max(self._sent_id, journal.cleared_id)
        self._change_count = journal.outcomes.change_count
        self._version = 0
        # Requests that were sent: without a response, and with an outcome that is newer than what was sent.
        self._waiting: set[int] = set()
        self._changed: set[int] = set()

    async def events(self, parts: Parts, ended: asyncio.Future[None]) -> AsyncIterator[bytes]:
        """Yield events until ended. parts: of the state."""
        with self._watch.watching(parts):
            # Changes after the first event of a stream are never missed.
            self._version = await self._watch.seen_version()
            last = time.monotonic()
            yield b"event: opened\ndata: %s\n\n" % msgspec.json.encode(Opened(broker=self._watch.broker))
            while not ended.done():
                event = self._next()
                if event is not None:
                    last = time.monotonic()
                    yield event
                    # The requests of clients come first.
                    await asyncio.sleep(0)
                    continue
                if time.monotonic() - last >= HEARTBEAT_SECONDS:
                    last = time.monotonic()
                    yield b": \n\n"
                await asyncio.wait({ended}, timeout=POLL_SECONDS)

    def _next(self) -> bytes | None:
        """Return the next event; None if nothing has happened."""
        journal = self._journal
        if journal.cleared_id > self._cleared_id:
            self._cleared_id = journal.cleared_id
            self._sent_id = max(self._sent_id, journal.cleared_id)
            self._waiting.clear()
            self._changed.clear()
            return self._event("cleared", Cleared(through=max(journal.cleared_id, self._known_id)))
        if journal.last_id > self._sent_id:
            return self._new_requests()
        changed = self._changed_requests()
        if changed:
            return self._event("requests", Requests(items=changed, skipped=0))
        if self._marks.last_id > self._sent_mark_id:
            found = self._marks.newer_than(self._sent_mark_id)
            self._sent_mark_id = self._marks.last_id
            items = [mark_info(mark) for mark in found if mark.after_id >= self._marks_since]
            if items:
                return self._event("marks", NewMarks(items=items))
        if self._watch.version != self._version:
            changes = self._watch.changed_since(self._version)
            self._version = self._watch.version
            return self._event("changed", changes)
        return None

    def _new_requests(self) -> bytes:
        journal = self._journal
        self._find_changes()
        sent_id = self._sent_id
        first = max(sent_id, journal.last_id - BEHIND_MAX)
        items = _of_one_event(iterate_entries(journal, first))
        self._sent_id = items[-1].id if items else journal.last_id
        self._waiting.update(entry.id for entry in items if entry.answer == WAITING)
        while len(self._waiting) > WAITING_MAX:
            self._waiting.discard(min(self._waiting))
        return self._event("requests", Requests(items=items, skipped=self._sent_id - sent_id - len(items)))

    def _changed_requests(self) -> list[JournalEntry]:
        self._find_changes()
        return _of_one_event(self._changed_entries())

    def _changed_entries(self) -> Iterator[JournalEntry]:
        for request_id in sorted(self._changed):
            self._changed.discard(request_id)
            entry = find_entry(self._journal, request_id)
            if entry is not None:
                yield entry

    def _find_changes(self) -> None:
        """Find the requests that were sent and have changed since; others are sent as they are then."""
        journal = self._journal
        outcomes = journal.outcomes
        written = {request_id for request_id in self._waiting if not journal.is_pending(request_id)}
        self._waiting -= written
        changed = outcomes.changed_since(self._change_count)
        self._change_count = outcomes.change_count
        self._changed.update(written, (request_id for request_id in changed if request_id <= self._sent_id))

    def _event(self, name: str, content: object) -> bytes:
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self._sent_id, name.encode(), msgspec.json.encode(content))


def _of_one_event(entries: Iterator[JournalEntry]) -> list[JournalEntry]:
    """Return the first of the entries. No more are made, because that takes the time of clients."""
    items: list[JournalEntry] = []
    batches = 0
    while len(items) < EVENT_REQUESTS_MAX and batches < EVENT_BATCHES_MAX:
        entry = next(entries, None)
        if entry is None:
            break
        items.append(entry)
        batches += len(entry.batches)
    return items
