"""What really happened to the batches of a partition, as plain lists: sent, stored and acknowledged batches.

The model knows each batch by a name that the broker never sees, so that it needs no comparing of records.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Copy:
    """A place in the log; told: whether an answer said so, of the batch itself or of a duplicate."""

    offset: int
    count: int
    told: bool = False


@dataclass
class Arrival:
    """A batch that came and was kept from the log; overtaken_by: the offset of what its connection sent next."""

    name: int
    connection: int
    producer: int
    log_end: int
    overtaken_by: int | None = None
    own_offset: int | None = None


@dataclass
class VerdictModel:
    copies: dict[int, list[Copy]] = field(default_factory=dict[int, list[Copy]])
    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    refused: int = 0
    duplicates: int = 0
    lost: int = 0

    def appended(self, name: int, offset: int, count: int, *, connection: int, producer: int) -> Copy:
        """Note that a batch was appended, over the connection on which it or another one may have been kept back."""
        copy = Copy(offset, count)
        self.copies.setdefault(name, []).append(copy)
        for arrival in self.arrivals:
            is_same = (arrival.connection, arrival.producer) == (connection, producer)
            if is_same and arrival.overtaken_by is None and arrival.own_offset is None:
                arrival.overtaken_by = offset
        return copy

    def recognised(self, name: int, offset: int) -> Copy:
        self.duplicates += 1
        return next(copy for copy in self.copies[name] if copy.offset == offset)

    def crashed(self, log_end: int) -> None:
        """Note that the log ends earlier; no connection outlives that."""
        for name, copies in self.copies.items():
            self.lost += sum(copy.told for copy in copies if copy.offset >= log_end)
            self.copies[name] = [copy for copy in copies if copy.offset < log_end]
        for arrival in self.arrivals:
            arrival.connection = -1
            arrival.log_end = min(arrival.log_end, log_end)
            if arrival.overtaken_by is not None and arrival.overtaken_by >= log_end:
                arrival.overtaken_by = None

    def is_reordered(self, arrival: Arrival) -> bool:
        offsets = [copy.offset for copy in self.copies.get(arrival.name, []) if copy.offset >= arrival.log_end]
        if arrival.overtaken_by is None or not offsets:
            return False
        return min(offsets) > arrival.overtaken_by

    def expected(self) -> dict[str, int]:
        stored = [copies for copies in self.copies.values() if copies]
        return {
            "appended_once": sum(len(copies) == 1 for copies in stored),
            "appended_twice": sum(len(copies) > 1 for copies in stored),
            "refused": self.refused,
            "duplicates_recognised": self.duplicates,
            "acknowledged_lost": self.lost,
            "stored_unacknowledged": sum(not any(copy.told for copy in copies) for copies in stored),
            "reordered": sum(self.is_reordered(arrival) for arrival in self.arrivals),
        }

    def expected_duplicates(self) -> int:
        return sum(sum(copy.count for copy in copies[1:]) for copies in self.copies.values())
