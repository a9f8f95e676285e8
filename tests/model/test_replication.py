"""A follower that appends its leader's batches has the same log: bytes, producers, transactions, epochs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.batches.record_batch import TRANSACTIONAL_BIT, TimestampType
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.coordinator_batch import TransactionMarker
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.partition_log import PartitionLog

from ..protocol.batch_bytes import NOW_MS, batch, records
from ..storage.logs import append, batches_in, new_log, read_all

PRODUCERS: tuple[int, ...] = (7, 8)
# Small segments, so that logs of some ten batches roll; both kinds of timestamps.
CONFIGS = [
    LogConfig(segment_bytes=400),
    LogConfig(segment_bytes=400, message_timestamp_type=TimestampType.LOG_APPEND_TIME),
]


@dataclass(frozen=True)
class Produced:
    """A batch of a producer, or of none."""

    producer_id: int | None
    count: int
    is_transactional: bool


@dataclass(frozen=True)
class Ended:
    """The end of a producer's transaction."""

    producer_id: int
    is_commit: bool


class NewLeader:
    """A new leader epoch."""


Step = Produced | Ended | NewLeader
STEPS = st.lists(
    st.builds(Produced, st.sampled_from([None, *PRODUCERS]), st.integers(1, 3), st.booleans())
    | st.builds(Ended, st.sampled_from(PRODUCERS), st.booleans())
    | st.builds(NewLeader),
    max_size=40,
)


class Replicated:
    """A leader's log and a follower's. Steps that the leader refuses change neither."""

    def __init__(self, config: LogConfig) -> None:
        self.config = config
        self.leader_files, self.follower_files = MemoryFileSystem(), MemoryFileSystem()
        self.leader = new_log(config, file_system=self.leader_files)
        self.follower = new_log(config, file_system=self.follower_files)
        self._epoch = 0
        self._sequences: dict[int, int] = dict.fromkeys(PRODUCERS, 0)

    def take(self, step: Step, now_ms: int) -> None:
        before = self.leader.log_end_offset
        try:
            self._perform(step, now_ms)
        except AppendRefused:
            assert self.leader.log_end_offset == before
        for stored in batches_in(read_all(self.leader)):
            if int.from_bytes(stored[:8], "big") >= before:
                self.follower.append_replicated(memoryview(stored), now_ms=now_ms, source=self.leader)

    def _perform(self, step: Step, now_ms: int) -> None:
        match step:
            case NewLeader():
                self._epoch += 1
            case Produced(producer_id, count, is_transactional):
                if producer_id is None:
                    append(self.leader, batch(records(count), count=count), now_ms=now_ms, leader_epoch=self._epoch)
                    return
                data = batch(
                    records(count),
                    count=count,
                    attributes=TRANSACTIONAL_BIT if is_transactional else 0,
                    producer_id=producer_id,
                    producer_epoch=0,
                    base_sequence=self._sequences[producer_id],
                )
                append(self.leader, data, now_ms=now_ms, leader_epoch=self._epoch)
                self._sequences[producer_id] += count
            case Ended(producer_id, is_commit):
                marker = TransactionMarker(producer_id=producer_id, producer_epoch=0, is_commit=is_commit)
                self.leader.append_coordinated(marker, now_ms=now_ms, leader_epoch=self._epoch)


def content(log: PartitionLog) -> dict[str, object]:
    """Return everything that a client can see of a log.

    Segments are left out: a batch that the leader refuses may have started one.
    """
    return {
        "bytes": read_all(log),
        "producers": sorted(log.producers.active_producers(), key=lambda entry: entry.producer_id),
        "last stable offset": log.last_stable_offset,
        "aborted": [transaction for segment in log.segments for transaction in segment.transaction_index.entries()],
        "epochs": log.leader_epochs.entries(),
    }


@pytest.mark.parametrize("config", CONFIGS, ids=["create time", "append time"])
@given(steps=STEPS)
def test_follower_has_the_content_of_its_leader(config: LogConfig, steps: list[Step]) -> None:
    replicated = Replicated(config)

    for number, step in enumerate(steps):
        replicated.take(step, NOW_MS + number)

        assert content(replicated.follower) == content(replicated.leader)


@given(steps=STEPS)
def test_follower_has_the_content_of_its_leader_after_a_kill_of_both(steps: list[Step]) -> None:
    replicated = Replicated(CONFIGS[0])
    for number, step in enumerate(steps):
        replicated.take(step, NOW_MS + number)

    # Without a close, so that each log is recovered from its batches.
    leader = new_log(replicated.config, file_system=replicated.leader_files.copy())
    follower = new_log(replicated.config, file_system=replicated.follower_files.copy())

    assert content(follower) == content(leader)


def test_batch_before_the_log_end_is_a_mistake() -> None:
    replicated = Replicated(CONFIGS[0])
    replicated.take(Produced(None, 1, is_transactional=False), NOW_MS)
    (stored,) = batches_in(read_all(replicated.leader))

    with pytest.raises(AssertionError, match="0 is before the end 1"):
        replicated.follower.append_replicated(memoryview(stored), now_ms=NOW_MS)
