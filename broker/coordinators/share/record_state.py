"""One record, or several that are alike, on their way through a share group.

Source: InFlightState and SharePartition.InFlightBatch, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from ....protocol.stored_records.share_state_records import DeliveryState, StateBatch

NOBODY = ""


@dataclass(frozen=True, slots=True)
class RecordState:
    """What became of a record: how often it was delivered, and to whom while it is acquired, by which lock."""

    state: DeliveryState
    delivery_count: int
    member_id: str = NOBODY
    lock: int = 0

    @property
    def is_done(self) -> bool:
        """Whether it is never delivered again."""
        return self.state in (DeliveryState.ACKNOWLEDGED, DeliveryState.ARCHIVED)


class Acquired(NamedTuple):
    """Records that a member gets; last_offset is one of them."""

    first_offset: int
    last_offset: int
    delivery_count: int


@dataclass(slots=True)
class InFlightBatch:
    """Records that were acquired together; they share one state until they are treated differently.

    states: by offset, once they do.
    """

    first_offset: int
    last_offset: int
    state: RecordState
    states: dict[int, RecordState] = field(default_factory=dict[int, RecordState])

    def __len__(self) -> int:
        """Return how many offsets there are."""
        return self.last_offset - self.first_offset + 1

    def of(self, offset: int) -> RecordState:
        """Return the state of one record."""
        return self.states[offset] if self.states else self.state

    def put(self, first_offset: int, last_offset: int, state: RecordState) -> None:
        """Have these records in that state; they are some of the batch."""
        if (first_offset, last_offset) == (self.first_offset, self.last_offset) and not self.states:
            self.state = state
            return
        if not self.states:
            self.states = dict.fromkeys(range(self.first_offset, self.last_offset + 1), self.state)
        for offset in range(first_offset, last_offset + 1):
            self.states[offset] = state

    def runs(self, first_offset: int, last_offset: int) -> list[tuple[int, int, RecordState]]:
        """Return the records of a range that are in the batch, in runs of the same state: first, last, state."""
        first, last = max(first_offset, self.first_offset), min(last_offset, self.last_offset)
        if first > last:
            return []
        if not self.states:
            return [(first, last, self.state)]
        runs: list[tuple[int, int, RecordState]] = []
        for state, offsets in groupby(range(first, last + 1), key=self.of):
            of_run = list(offsets)
            runs.append((of_run[0], of_run[-1], state))
        return runs


def state_batches(runs: list[tuple[int, int, RecordState]]) -> tuple[StateBatch, ...]:
    """Return what is written of runs of records, those that follow one another and are alike as one."""
    batches: list[StateBatch] = []
    for first, last, state in runs:
        batch = StateBatch(first, last, state.state, state.delivery_count)
        before = batches[-1] if batches else None
        if before is not None and before[1:] == (first - 1, *batch[2:]):
            batches[-1] = before._replace(last_offset=last)
        else:
            batches.append(batch)
    return tuple(batches)
