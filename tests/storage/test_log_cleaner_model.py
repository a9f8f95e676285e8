"""Log compaction compared with a model of 40 lines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions

from ..protocol.batch_bytes import NOW_MS
from ..run_counts import examples
from .cleaned_logs import COMPACTING, DELETE_RETENTION_MS, FOLDER, CleanedLog, Pair, batch_of
from .logs import append, read_bytes, records_in


@dataclass(frozen=True)
class Put:
    """A batch of one producer, 0 for none; a key without a value is a tombstone."""

    producer_id: int
    pairs: list[tuple[str, bool]]
    codec: Compression


@dataclass(frozen=True)
class Roll:
    pass


@dataclass(frozen=True)
class Clean:
    waited_ms: int


Step = Put | Roll | Clean

puts = st.builds(
    Put,
    st.integers(0, 3),
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=3),
    st.sampled_from([Compression.NONE, Compression.NONE, Compression.GZIP]),
)
steps = st.lists(
    st.one_of(puts, puts, puts, st.just(Roll()), st.builds(Clean, st.sampled_from([0, 1, DELETE_RETENTION_MS]))),
    max_size=40,
)


@dataclass
class Model:
    """All records by offset, and the newest batch of each producer with its offset."""

    written: list[Pair] = field(default_factory=list[Pair])
    newest: dict[int, tuple[bytes, int]] = field(default_factory=dict[int, tuple[bytes, int]])
    next_sequences: dict[int, int] = field(default_factory=dict[int, int])

    def latest(self) -> dict[str, str]:
        """Return the last value of each key for a reader of all records."""
        return replayed(dict(enumerate(self.written)))

    def offset_of_latest(self, key: str) -> int:
        return max(offset for offset, pair in enumerate(self.written) if pair[0] == key)


def replayed(pairs: dict[int, Pair]) -> dict[str, str]:
    state: dict[str, str] = {}
    for _, (key, value) in sorted(pairs.items()):
        state.pop(key, None)
        if value is not None:
            state[key] = value
    return state


def put(log: CleanedLog, model: Model, step: Put) -> None:
    pairs = [
        (key, None if is_tombstone else str(len(model.written) + index))
        for index, (key, is_tombstone) in enumerate(step.pairs)
    ]
    options = BatchOptions(compression=step.codec)
    if step.producer_id:
        sequence = model.next_sequences.get(step.producer_id, 0)
        model.next_sequences[step.producer_id] = sequence + len(pairs)
        options = BatchOptions(step.producer_id, 0, sequence, step.codec)
    data = batch_of(*pairs, options=options)
    assert append(log.log, data).base_offset == len(model.written)
    if step.producer_id:
        model.newest[step.producer_id] = (data, len(model.written))
    model.written += pairs


def check(log: CleanedLog, model: Model) -> None:
    """Check the records that a reader sees from each offset on."""
    kept = log.values()
    assert all(model.written[offset] == pair for offset, pair in kept.items())
    assert replayed(kept) == model.latest()
    assert {model.offset_of_latest(key) for key in model.latest()} <= kept.keys()
    for offset in range(len(model.written)):
        found = records_in(read_bytes(log.log, offset))
        first = next((record.offset for record in found if record.offset >= offset), None)
        following = min((kept_offset for kept_offset in kept if kept_offset >= offset), default=None)
        # A read may return batches without records; then it continues after them.
        assert first == following or first is None


def check_duplicates(log: CleanedLog, model: Model) -> None:
    for data, base_offset in model.newest.values():
        result = append(log.log, data)
        assert result.is_duplicate and result.base_offset == base_offset


@settings(max_examples=examples(150), deadline=None)
@given(steps, st.sampled_from([24 * 4, 10**6]), st.sampled_from([200, 400, 10**6]))
def test_cleaned_log_has_the_same_values_and_producers_as_the_whole_log(
    drawn: list[Step], dedupe_buffer_bytes: int, segment_bytes: int
) -> None:
    log, model, now_ms = CleanedLog(replace(COMPACTING, segment_bytes=segment_bytes)), Model(), NOW_MS
    log.cleaner.dedupe_buffer_bytes = dedupe_buffer_bytes

    for step in drawn:
        match step:
            case Put():
                put(log, model, step)
            case Roll():
                log.roll()
            case Clean():
                now_ms += step.waited_ms
                log.clean(now_ms)
                check(log, model)
    log.roll()
    log.clean(now_ms)

    check(log, model)
    check_duplicates(log, model)
    values = log.values()
    assert len({key for key, _ in values.values()}) == len(values)
    for name in log.file_system.names_in(FOLDER):
        if name.endswith(".snapshot"):
            log.file_system.delete(f"{FOLDER}/{name}")
    loaded = CleanedLog(file_system=log.file_system)
    check(loaded, model)
    check_duplicates(loaded, model)
