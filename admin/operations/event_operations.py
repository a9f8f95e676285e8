"""The stream of events: what happens in the broker, as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from ...faults.numbers import INT64_MAX
from ...faults.rule_error import InvalidValueError
from ..control import Control
from ..errors import CallError
from ..event_stream import EventStream
from ..operation import EVENT_STREAM, Caller, Operation
from .watched_parts import watched_parts

TAG = "truth"

LAST_EVENT_ID = "last-event-id"
# Each takes a share of the event loop. A person has a few pages open.
STREAMS_MAX = 32
ID_DIGITS_MAX = 19
DAY_MS = 24 * 3600 * 1000

NO_CACHE = {"Cache-Control": "no-store"}


class EventQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Where the stream begins, and how long it takes."""

    since: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Only requests with a greater id.")] | None = None
    timeout_ms: Annotated[int, Meta(ge=0, le=DAY_MS, description="End the stream after this real time.")] | None = None


async def stream_events(
    control: Control, query: EventQuery, headers: Mapping[str, str], caller: Caller
) -> AsyncIterator[bytes]:
    """Send requests and changes of the state as Server-Sent Events, until the client disconnects.

    The event `requests` has requests as in the journal, again when an outcome changes, and how many were skipped;
    `cleared` the id up to which the journal was cleared; `changed` the names of topics, groups, transactions, rules,
    files, held requests and nodes that changed, and `clock`;
    `marks` what happened to the cluster between the requests. A client continues by `since` or by Last-Event-ID.
    """
    since = _last_event_id(headers) if LAST_EVENT_ID in headers else query.since
    if control.watch.streams >= STREAMS_MAX:
        raise CallError(503, f"there are {STREAMS_MAX} streams of events, and no more are accepted")
    return _events(control, EventStream(control.journal, control.marks, control.watch, since), query.timeout_ms, caller)


async def _events(
    control: Control, stream: EventStream, timeout_ms: int | None, caller: Caller
) -> AsyncIterator[bytes]:
    timeout = None if timeout_ms is None else timeout_ms / 1000
    ended = asyncio.ensure_future(asyncio.wait_for(caller.disconnected(), timeout))
    try:
        async for event in stream.events(watched_parts(control), ended):
            yield event
    finally:
        ended.cancel()
        await asyncio.gather(ended, return_exceptions=True)


def _last_event_id(headers: Mapping[str, str]) -> int:
    text = headers[LAST_EVENT_ID]
    if not (text.isascii() and text.isdecimal() and len(text) <= ID_DIGITS_MAX and int(text) <= INT64_MAX):
        raise InvalidValueError("Last-Event-ID", text, "the id of an event", f"Last-Event-ID cannot be {text!r}")
    return int(text)


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/events",
        perform=stream_events,
        tag=TAG,
        errors=(400,),
        media_type=EVENT_STREAM,
        headers=NO_CACHE,
    ),
)
