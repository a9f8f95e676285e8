"""Drawn appends, advances, standing clocks, retentions and restarts: a log keeps what the plain model keeps."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_loader import LoadState, LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ..protocol.batch_bytes import NOW_MS
from ..run_counts import examples
from ..storage.logs import read_all, records_in, sized_batch
from .aging_model import AgingModel

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
# Two batches fit into a segment.
CONFIG = LogConfig(segment_bytes=1000, segment_ms=2 * DAY_MS, retention_ms=7 * DAY_MS)
BATCH_BYTES = 400

durations = st.sampled_from([0, 1, HOUR_MS, DAY_MS, 2 * DAY_MS, 7 * DAY_MS, 8 * DAY_MS])
steps = st.one_of(
    st.tuples(st.just("append"), durations),
    st.tuples(st.just("advance"), durations),
    # Both clocks run, or only the clients' because the broker's stands.
    st.tuples(st.just("run"), durations),
    st.tuples(st.just("stand"), durations),
    st.tuples(st.sampled_from(["retention", "restart"]), st.just(0)),
)


class AgingRun:
    """A log and its model."""

    def __init__(self) -> None:
        self.model = AgingModel(CONFIG.segment_ms, CONFIG.retention_ms, real_ms=NOW_MS, broker_ms=NOW_MS)
        self.files = MemoryFileSystem()
        self.log = self.load()

    def load(self) -> PartitionLog:
        place = LogLocation(self.files, "topic", 0, EmulatedVersion.parse("4.3"))
        state = LoadState(is_clean=True, ahead_ms=self.model.most_ahead_ms)
        return PartitionLog(place, CONFIG, now_ms=self.model.broker_ms, state=state)

    def play(self, kind: str, duration_ms: int) -> None:
        model = self.model
        if kind == "append":
            timestamp = model.real_ms - duration_ms
            self.log.append(
                memoryview(sized_batch(BATCH_BYTES, timestamp=timestamp)),
                now_ms=model.broker_ms,
                leader_epoch=0,
                ahead_ms=model.ahead_ms,
            )
            model.append(timestamp)
        elif kind == "advance":
            model.advance(duration_ms)
        elif kind == "run":
            model.real_ms += duration_ms
            model.broker_ms += duration_ms
        elif kind == "stand":
            model.real_ms += duration_ms
        elif kind == "retention":
            self.log.enforce_retention(model.broker_ms)
            model.enforce_retention()
        else:
            self.log.close()
            self.log = self.load()
            model.load()

    def offsets(self) -> list[int]:
        return [record.offset for record in records_in(read_all(self.log))]


@given(st.lists(steps, max_size=25))
@settings(max_examples=examples(300), deadline=None)
def test_a_log_keeps_the_batches_of_the_model(drawn: list[tuple[str, int]]) -> None:
    run = AgingRun()

    for kind, duration_ms in drawn:
        run.play(kind, duration_ms)

        assert run.offsets() == run.model.offsets()


@given(st.integers(0, 30 * DAY_MS), st.integers(0, 8 * DAY_MS))
@settings(max_examples=examples(100), deadline=None)
def test_a_record_written_after_an_advance_lives_for_the_whole_retention_time(advance_ms: int, later_ms: int) -> None:
    run = AgingRun()
    run.play("advance", advance_ms)
    run.play("append", 0)

    run.play("run", later_ms)
    run.play("retention", 0)

    assert run.offsets() == ([0] if later_ms <= CONFIG.retention_ms else [])
