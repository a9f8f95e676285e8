"""Timestamps of clients on a broker's clock that a test has moved.

A client sets the timestamps of its records by the machine's clock. By a broker's clock that is ahead_ms ahead of
that, a new record would be old, and be deleted. So the timestamps of a batch count as ahead_ms later, with the
ahead_ms of its append: its age is the time that has passed on the broker's clock since it was written. ahead_ms is
negative if the broker's clock is behind, and 0 unless a test has moved it. This applies to retention.ms, segment.ms,
the compaction lags, the expiry of producers and the bounds of timestamps. Batches of coordinators, and LogAppendTime,
are on the broker's clock already: their ahead_ms is 0.
"""

from __future__ import annotations

from dataclasses import dataclass


def on_brokers_clock(timestamp: int, ahead_ms: int) -> int:
    """Return a client's timestamp on the broker's clock, which is ahead_ms ahead of the client's; -1 (none) stays."""
    return timestamp + ahead_ms if timestamp >= 0 else timestamp


@dataclass(frozen=True, slots=True)
class MovedTimestamps:
    """The timestamps of a segment's batches of which at least one was appended with an ahead_ms other than 0.

    ahead_ms: the greatest of the batches. largest_timestamp: on the broker's clock.
    """

    ahead_ms: int
    largest_timestamp: int

    def after(self, timestamp: int, ahead_ms: int) -> MovedTimestamps:
        """Return the timestamps after another batch. timestamp: the greatest of its records."""
        largest_timestamp = max(self.largest_timestamp, on_brokers_clock(timestamp, ahead_ms))
        return MovedTimestamps(max(self.ahead_ms, ahead_ms), largest_timestamp)
