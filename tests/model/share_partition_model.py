"""Model of a share partition: the state of each record that was ever acquired."""

from __future__ import annotations

from dataclasses import dataclass, field

AVAILABLE, ACQUIRED, DONE = "available", "acquired", "done"


@dataclass
class RecordModel:
    """One record. lock_ends_ms: the end of its lock while it is acquired."""

    state: str = AVAILABLE
    deliveries: int = 0
    member: str = ""
    lock_ends_ms: int = 0


@dataclass
class ShareModel:
    """The records by offset."""

    deliveries_max: int
    lock_ms: int
    records: dict[int, RecordModel] = field(default_factory=dict[int, RecordModel])

    def acquired(self, offset: int, member: str, count: int, now_ms: int) -> None:
        """Check that the member may acquire the record, and apply it."""
        record = self.records.setdefault(offset, RecordModel())
        assert record.state == AVAILABLE, f"{offset} is {record.state}"
        assert count == record.deliveries + 1, f"{offset} was delivered {record.deliveries} times"
        assert count <= self.deliveries_max
        self.records[offset] = RecordModel(ACQUIRED, count, member, now_ms + self.lock_ms)

    def owns(self, member: str, first: int, last: int) -> bool:
        """Whether the member has acquired all records of a range."""
        found = (self.records.get(offset) for offset in range(first, last + 1))
        return all(each is not None and each.state == ACQUIRED and each.member == member for each in found)

    def done(self, first: int, last: int) -> None:
        for offset in range(first, last + 1):
            self.records[offset].state = DONE

    def released(self, first: int, last: int) -> None:
        for offset in range(first, last + 1):
            record = self.records[offset]
            record.state = DONE if record.deliveries >= self.deliveries_max else AVAILABLE

    def renewed(self, first: int, last: int, now_ms: int) -> None:
        for offset in range(first, last + 1):
            self.records[offset].lock_ends_ms = now_ms + self.lock_ms

    def passed(self, now_ms: int) -> None:
        """Release the records whose lock has ended."""
        for offset, record in self.records.items():
            if record.state == ACQUIRED and record.lock_ends_ms <= now_ms:
                self.released(offset, offset)

    def crashed(self, last_counts: dict[int, int]) -> None:
        """Make acquired records available with the delivery count that was last written."""
        for offset, record in self.records.items():
            if record.state == ACQUIRED:
                self.records[offset] = RecordModel(deliveries=last_counts.get(offset, 0))

    def start_offset(self) -> int:
        """Return the first offset that is not done."""
        offset = 0
        while offset in self.records and self.records[offset].state == DONE:
            offset += 1
        return offset
