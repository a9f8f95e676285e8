"""The ring of the newest requests: a maximum of requests, and one of the bytes of the large ones.

The ids of its requests are consecutive. The newest one is last_id, which the journal counts and passes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from ..plain_append import PlainAppend
from .journal_record import RawRecord
from .large_requests import SMALL_BYTES, LargeRequests


class RequestRing:
    """The newest requests. requests: oldest first; the journal appends to it."""

    __slots__ = ("_large", "requests")

    def __init__(self, capacity: int, bytes_max: int) -> None:
        """Start empty. capacity: of requests. bytes_max: of the large ones together."""
        self.requests: deque[RawRecord | PlainAppend] = deque(maxlen=capacity)
        self._large = LargeRequests(bytes_max)

    def add_large(self, request_id: int, size: int, last_id: int) -> None:
        """Count bytes of a request, and remove the oldest if the large ones take too many bytes."""
        first_id = last_id - len(self.requests) + 1
        if size <= SMALL_BYTES or request_id < first_id:
            return
        for _ in range(first_id, self._large.add(request_id, size, first_id) + 1):
            self.requests.popleft()

    def find(self, request_id: int, last_id: int) -> RawRecord | PlainAppend | None:
        """Return a request; None if it left the ring."""
        position = request_id - last_id + len(self.requests) - 1
        return self.requests[position] if 0 <= position < len(self.requests) else None

    def newer_than(
        self, since: int, last_id: int, before: int | None = None
    ) -> Iterator[tuple[int, RawRecord | PlainAppend]]:
        """Yield the id and the request for each id greater than since, oldest first.

        before: only smaller ids, newest first.
        """
        first_id = last_id - len(self.requests) + 1
        skipped = max(0, since + 1 - first_id)
        end = None if before is None else max(skipped, before - first_id)
        # A copy: new requests may arrive while the caller iterates.
        kept = list(islice(self.requests, skipped, end))
        first_id += skipped
        if before is None:
            yield from enumerate(kept, first_id)
        else:
            yield from zip(range(first_id + len(kept) - 1, first_id - 1, -1), reversed(kept), strict=True)

    def clear(self) -> None:
        """Delete all requests."""
        self.requests.clear()
        self._large.clear()
