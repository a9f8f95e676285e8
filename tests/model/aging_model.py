"""Which batches of a log retention.ms keeps while the broker's clock is moved: a plain model."""

from __future__ import annotations

from dataclasses import dataclass, field

BATCHES_PER_SEGMENT = 2


@dataclass
class AgingModel:
    """Each batch is as old as the time that has passed on the broker's clock since its timestamp.

    real_ms: the clients' clock. broker_ms: the broker's. Segments are lists of (offset, timestamp, ahead_ms).
    """

    segment_ms: int
    retention_ms: int
    real_ms: int
    broker_ms: int
    most_ahead_ms: int = 0
    next_offset: int = 0
    segments: list[list[tuple[int, int, int]]] = field(default_factory=list[list[tuple[int, int, int]]])

    @property
    def ahead_ms(self) -> int:
        return self.broker_ms - self.real_ms

    def advance(self, by_ms: int) -> None:
        self.broker_ms += by_ms
        self.most_ahead_ms = max(self.most_ahead_ms, self.ahead_ms)

    def append(self, timestamp: int) -> None:
        if not self.segments or self.must_roll(timestamp):
            self.segments.append([])
        self.segments[-1].append((self.next_offset, timestamp, self.ahead_ms))
        self.next_offset += 1

    def must_roll(self, timestamp: int) -> bool:
        _, first_timestamp, first_ahead_ms = self.segments[-1][0]
        waited_ms = timestamp + self.ahead_ms - (first_timestamp + first_ahead_ms)
        return waited_ms > self.segment_ms or len(self.segments[-1]) == BATCHES_PER_SEGMENT

    def enforce_retention(self) -> None:
        while self.segments:
            newest = max(timestamp + ahead_ms for _, timestamp, ahead_ms in self.segments[0])
            if self.broker_ms - newest <= self.retention_ms:
                return
            del self.segments[0]

    def load(self) -> None:
        """The files do not tell how far the clock was ahead."""
        self.segments = [
            [(offset, timestamp, self.most_ahead_ms) for offset, timestamp, _ in segment] for segment in self.segments
        ]

    def offsets(self) -> list[int]:
        return [offset for segment in self.segments for offset, _, _ in segment]
