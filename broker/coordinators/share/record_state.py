"""The delivery state of records of a share group, and batches of records that were acquired together.

Source: InFlightState and SharePartition.InFlightBatch, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from ....protocol.stored_records.share_state_records import DeliveryState, StateBatch

NO_MEMBER = ""


@dataclass(frozen=True, slots=True)
class RecordState:
    """The state of a record. member_id and lock are set while it is acquired."""

    state: DeliveryState
    delivery_count: int
    member_id: str = NO_MEMBER
    lock: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the record is never delivered again."""
        return self.state in (DeliveryState.ACKNOWLEDGED, DeliveryState.ARCHIVED)


# Records with the same state: first offset, last offset, state.
Run = tuple[int, int, RecordState]


class AcquiredRecords(NamedTuple):
    """A range of records that a member has acquired, last_offset included."""

    first_offset: int
    last_offset: int
    delivery_count: int

    @property
    def record_count(self) -> int:
        """The number of offsets."""
        return self.last_offset - self.first_offset + 1


@dataclass(slots=True)
class InFlightBatch:
    """Records that were acquired together. They share one state until a part of them changes.

    states: the state of each offset after that, else empty.
    """

    first_offset: int
    last_offset: int
    state: RecordState
    states: dict[int, RecordState] = field(default_factory=dict[int, RecordState])

    def set_state(self, first_offset: int, last_offset: int, state: RecordState) -> None:
        """Set the state of a range of the batch."""
        if (first_offset, last_offset) == (self.first_offset, self.last_offset) and not self.states:
            self.state = state
            return
        if not self.states:
            self.states = dict.fromkeys(range(self.first_offset, self.last_offset + 1), self.state)
        for offset in range(first_offset, last_offset + 1):
            self.states[offset] = state

    def runs(self, first_offset: int, last_offset: int) -> list[Run]:
        """Return the records of a range that are in the batch, as runs with the same state."""
        first, last = max(first_offset, self.first_offset), min(last_offset, self.last_offset)
        if first > last:
            return []
        if not self.states:
            return [(first, last, self.state)]
        runs: list[Run] = []
        for state, offsets in groupby(range(first, last + 1), key=self.states.__getitem__):
            of_run = list(offsets)
            runs.append((of_run[0], of_run[-1], state))
        return runs


def state_batches(runs: list[Run]) -> tuple[StateBatch, ...]:
    """Return the batches to write for the runs. Adjacent runs with equal state and delivery count are joined."""
    batches: list[StateBatch] = []
    for first, last, state in runs:
        batch = StateBatch(first, last, state.state, state.delivery_count)
        before = batches[-1] if batches else None
        if before is not None and before[1:] == (first - 1, *batch[2:]):
            batches[-1] = before._replace(last_offset=last)
        else:
            batches.append(batch)
    return tuple(batches)


def fill_gaps(start_offset: int, batches: Sequence[StateBatch]) -> list[InFlightBatch]:
    """Return the batches with available ones in the gaps, whose records were acquired and never acknowledged."""
    filled: list[InFlightBatch] = []
    next_offset = start_offset
    for first, last, state, count in batches:
        if first > next_offset:
            filled.append(InFlightBatch(next_offset, first - 1, RecordState(DeliveryState.AVAILABLE, 0)))
        filled.append(InFlightBatch(first, last, RecordState(state, count)))
        next_offset = last + 1
    return filled


def count_done(runs: Sequence[Run]) -> int:
    """Return the number of records that are never delivered again."""
    return sum(last - first + 1 for first, last, state in runs if state.is_done)
