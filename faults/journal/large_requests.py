"""The bytes of the large requests in the journal's ring, so that they have a limit of their own.

A request of the ring takes about 500 bytes. What a large one takes beyond that is counted: its body, its response, its
batches and long names in them. The other requests are limited by their number.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import KafkaError
from .kept_response import size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .journal_record import Decision, RawRecord

# The default of fauxka.journal.bytes.max: 10,000 requests and responses of 4 KiB, the largest that are kept, fit.
BYTES_MAX_DEFAULT = 100 * 1024 * 1024
# A request with no more is not counted.
SMALL_BYTES = 256
# The result of a batch: its tuples and numbers.
BATCH_BYTES = 400

SASL_AUTHENTICATE = int(ApiKey.SASL_AUTHENTICATE)


class LargeRequests:
    """The large requests of a ring, by their ids and bytes."""

    __slots__ = ("_bytes", "_bytes_max", "_requests")

    def __init__(self, bytes_max: int) -> None:
        """bytes_max: of all large requests together."""
        self._bytes = 0
        self._bytes_max = bytes_max
        # A heap: a response is counted when it is complete, maybe after those to newer requests.
        self._requests: list[tuple[int, int]] = []

    def add(self, request_id: int, size: int, first_id: int) -> int:
        """Count a request of that many bytes. Return the newest request that has to leave the ring, 0 for none.

        first_id: the oldest request in the ring.
        """
        requests = self._requests
        while requests and requests[0][0] < first_id:
            self._take_oldest()
        heappush(requests, (request_id, size))
        self._bytes += size
        leaving = 0
        while self._bytes > self._bytes_max:
            leaving = self._take_oldest()
        return leaving

    def clear(self) -> None:
        """Delete all requests."""
        self._requests.clear()
        self._bytes = 0

    def _take_oldest(self) -> int:
        request_id, size = heappop(self._requests)
        self._bytes -= size
        return request_id


def has_small_body(raw: RawRecord) -> bool:
    """Return whether a request without batches is surely small, at once."""
    body, kept = raw[10], raw[11].kept
    size = 0 if body is None else len(body)
    if kept is not None:
        # Nearly all are those of a Fetch, or bytes.
        size += len(kept[5]) if type(kept) is tuple else len(kept) if type(kept) is bytes else size_of(kept)
    return size <= SMALL_BYTES and raw[2] != SASL_AUTHENTICATE


def bytes_of(raw: RawRecord) -> int:
    """Return the bytes of a request that may be large, its small ones not counted exactly."""
    body, batches = raw[10], raw[8]
    size = size_of(raw[11].kept) + (0 if body is None else len(body))
    if raw[2] == SASL_AUTHENTICATE:
        # The connection is kept, with the name that the client gives itself in an unsigned token.
        size += raw[5]
    return size if batches is None else size + _bytes_of_batches(batches)


def _bytes_of_batches(batches: Sequence[Decision]) -> int:
    size = BATCH_BYTES * (len(batches) - 1)
    for topic, _, decision in batches:
        # A request may name topics that cannot exist.
        size += len(topic)
        if isinstance(decision, KafkaError):
            size += len(decision.message)
    return size
