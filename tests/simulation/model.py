"""The model of a partition: appended batches, producers, and what is on disk."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.producer_state_model import Model as ProducerModel
from .expected_load import Expected, Known


@dataclass(frozen=True, slots=True)
class TakenBatch:
    """A batch of the log. checked: the part that its CRC covers, which is unique."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    checked: bytes

    @property
    def timestamp(self) -> int:
        return int.from_bytes(self.checked[6:14], "big")


@dataclass(slots=True)
class PartitionModel:
    """The expected state of a partition.

    in_doubt: the batch that was being written when the machine stopped; it may be stored or not.
    is_start_in_doubt: whether a deletion of old segments was not finished.
    safe_offset: the batches before it must survive a power loss.
    deleted_offset: the greatest log start so far; loading may restore an earlier one.
    """

    taken: list[TakenBatch] = field(default_factory=list[TakenBatch])
    producers: ProducerModel = field(default_factory=ProducerModel)
    timestamps: dict[int, int] = field(default_factory=dict[int, int])
    log_start_offset: int = 0
    safe_offset: int = 0
    in_doubt: TakenBatch | None = None
    is_start_in_doubt: bool = False
    deleted_offset: int = 0

    @property
    def log_end_offset(self) -> int:
        return self.producers.log_end

    def take(self, batch: TakenBatch) -> None:
        self.taken.append(batch)
        self.in_doubt = None

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        for producer_id in [each for each, time in self.timestamps.items() if now_ms - time >= expiration_ms]:
            del self.timestamps[producer_id], self.producers.producers[producer_id]

    def check_left(self, left: list[TakenBatch], end: int, *, is_power_lost: bool) -> None:
        """Check the log after a crash: all accepted batches, or at least the synced ones, and nothing else."""
        if not is_power_lost:
            doubtful = [self.in_doubt] if self.in_doubt is not None else []
            assert end in {self.log_end_offset, *(batch.last_offset + 1 for batch in doubtful)}, (
                f"after a kill the log ends at {end}, not at {self.log_end_offset}"
            )
        assert end >= self.safe_offset, f"the log ends at {end}, {self.safe_offset} was safe"
        if left:
            possible = self.taken + ([self.in_doubt] if self.in_doubt is not None else [])
            wanted = [batch for batch in possible if left[0].base_offset <= batch.base_offset < end]
            assert left == wanted, f"batches at {_places(left)}, not at {_places(wanted)}"
            assert left[-1].last_offset + 1 == end
        if not self.is_start_in_doubt:
            needed = [batch for batch in self.taken if self.log_start_offset <= batch.last_offset < end]
            assert not needed or (left and left[0].base_offset <= needed[0].base_offset), (
                f"batches at {_places(left)}, and {_places(needed)} have not been deleted"
            )

    def restart(self, left: Expected, *, is_power_lost: bool) -> None:
        """Set the model to the checked state after a crash."""
        if self.in_doubt is not None and left.log_end_offset > self.log_end_offset:
            self.taken.append(self.in_doubt)
        self.in_doubt = None
        self.is_start_in_doubt = False
        self.taken = [batch for batch in self.taken if batch.last_offset < left.log_end_offset]
        self.log_start_offset = left.log_start_offset
        self.producers.log_end = left.log_end_offset
        self.producers.producers = producers_of(left.producers)
        self.timestamps = {producer_id: producer.timestamp for producer_id, producer in left.producers.items()}
        if is_power_lost:
            # Everything loaded is on disk.
            self.safe_offset = left.log_end_offset


def producers_of(known: Known) -> dict[int, tuple[int, list[tuple[int, int, int]]]]:
    """Return the sequences and the first offset of each cached batch, by producer."""
    return {
        producer_id: (producer.epoch, [(first, last, base) for first, last, base, _ in producer.batches])
        for producer_id, producer in known.items()
    }


def _places(batches: list[TakenBatch]) -> list[tuple[int, int]]:
    return [(batch.base_offset, batch.last_offset) for batch in batches]
