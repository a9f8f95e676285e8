"""Drawn batches through the real log and through the model: the same answers, the same state."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.partition_log import PartitionLog

from ..run_counts import examples
from ..storage.logs import new_log, produce
from .producer_state_model import OK_UNKNOWN, RANGE, Model

VERSIONS = list(OK_UNKNOWN)


@dataclass(frozen=True)
class Step:
    """What a producer does next, relative to what it did: so that most steps are near an edge of the rules."""

    producer: int
    epoch_change: int
    kind: str
    shift: int
    count: int


steps = st.builds(
    Step,
    producer=st.sampled_from([1, 1, 1, 2]),
    epoch_change=st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2, -1]),
    kind=st.sampled_from(["next", "next", "next", "repeat", "repeat", "zero", "gap", "part", "joined", "any"]),
    shift=st.integers(0, 7),
    count=st.integers(1, 4),
)
# Near the wrap and away from it; -1 is the epoch of a batch that has a producer id and no epoch.
starts = st.sampled_from([0, 0, 3, RANGE - 9, RANGE - 1])
first_epochs = st.sampled_from([0, 0, 0, 5, -1])


@dataclass
class Sent:
    """A producer's batches so far, appended or not."""

    epoch: int
    ranges: list[tuple[int, int]]
    next_sequence: int


def drawn_range(step: Step, sent: Sent) -> tuple[int, int]:
    """Return the first sequence and the record count of the step's batch."""
    if sent.ranges and step.kind in ("repeat", "part", "joined"):
        first, count = sent.ranges[-1 - step.shift % len(sent.ranges)]
        if step.kind == "repeat":
            return first, count
        if step.kind == "part":
            return (first + step.shift % 2) % RANGE, max(1, count - 1)
        return first, count + step.count
    if step.kind == "zero":
        return 0, step.count
    if step.kind == "gap":
        return (sent.next_sequence + 1 + step.shift) % RANGE, step.count
    if step.kind == "any":
        return (sent.next_sequence - step.shift) % RANGE, step.count
    return sent.next_sequence, step.count


def answer(log: PartitionLog, producer: int, epoch: int, first: int, count: int) -> int:
    try:
        return produce(log, first, count, producer_id=producer, producer_epoch=epoch).base_offset
    except AppendRefused as refused:
        assert refused.refusal is not None
        assert refused.log_start_offset == 0
        return -refused.code


def state_of(log: PartitionLog) -> dict[int, tuple[int, list[tuple[int, int, int]]]]:
    return {
        entry.producer_id: (
            entry.producer_epoch,
            [(batch.base_sequence, batch.last_sequence, batch.base_offset) for batch in entry.batches],
        )
        for entry in log.producers.active_producers()
    }


@pytest.mark.parametrize("version", VERSIONS)
@given(st.lists(steps, min_size=1, max_size=40), starts, first_epochs)
@settings(derandomize=True, max_examples=examples(400), deadline=None)
def test_log_and_model_agree_on_every_answer_and_on_the_state(
    version: str, drawn: list[Step], start: int, first_epoch: int
) -> None:
    log, model = new_log(version=version), Model(version)
    producers: dict[int, Sent] = {}
    for step in drawn:
        sent = producers.setdefault(step.producer, Sent(first_epoch, [], start))
        epoch = sent.epoch + step.epoch_change
        first, count = drawn_range(step, sent)

        expected = model.append(step.producer, epoch, first, count)
        found = answer(log, step.producer, epoch, first, count)

        assert found == expected, (step, epoch, first, count)
        assert state_of(log) == model.producers
        assert log.log_end_offset == model.log_end
        sent.ranges.append((first, count))
        if expected >= 0 and epoch >= sent.epoch:
            sent.epoch, sent.next_sequence = epoch, (first + count) % RANGE


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("0.11", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ("1.0", ErrorCode.DUPLICATE_SEQUENCE_NUMBER),
        ("1.1", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ("2.8", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ("4.5", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
    ],
)
def test_batch_that_left_the_cache_is_refused_by_version(version: str, code: ErrorCode) -> None:
    log = new_log(version=version)
    for sequence in range(0, 12, 2):
        produce(log, sequence, 2)

    assert answer(log, 7, 0, 0, 2) == -code


@pytest.mark.parametrize(
    ("first", "count", "code"),
    [
        (1, 2, ErrorCode.DUPLICATE_SEQUENCE_NUMBER),
        (0, 1, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (2, 2, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
    ],
    ids=["ends before the cache", "ends at 0", "ends in the cache"],
)
def test_kafka_1_0_recognises_old_batches_by_their_last_sequence_alone(first: int, count: int, code: ErrorCode) -> None:
    log = new_log(version="1.0")
    for sequence in [0, *range(1, 3), *range(3, 13, 2)]:
        produce(log, sequence, 2 if sequence >= 3 else 1)

    assert answer(log, 7, 0, first, count) == -code
