"""The text of append decisions: appended, duplicate or refused, with the numbers."""

from __future__ import annotations

import pytest

from fauxka.storage.append_decision import describe_decision
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.partition_log import PartitionLog

from ..protocol.batch_bytes import batch
from .logs import append, new_log, produce


def words(log: PartitionLog, base_sequence: int, count: int = 1, *, epoch: int = 0) -> str:
    try:
        return describe_decision(produce(log, base_sequence, count, producer_epoch=epoch))
    except AppendRefused as refused:
        return describe_decision(refused)


def log_of_two() -> PartitionLog:
    log = new_log()
    produce(log, 0, 2)
    produce(log, 2, 3)
    return log


@pytest.mark.parametrize(
    ("base_sequence", "count", "epoch", "sentence"),
    [
        (5, 2, 0, "producer 7 epoch 0: sequences 5..6 appended at offsets 5..6"),
        (
            2,
            3,
            0,
            "producer 7 epoch 0: sequences 2..4 are a duplicate of the batch at offsets 2..4 (cached 0..1, 2..4): "
            "nothing is appended",
        ),
        (
            10,
            1,
            0,
            "producer 7 epoch 0: expected sequence 5, got 10 (cached 0..1, 2..4): a gap is refused as a whole",
        ),
        (
            3,
            4,
            0,
            "producer 7 epoch 0: expected sequence 5, got 3 (cached 0..1, 2..4): "
            "it overlaps appended sequences and equals no cached batch",
        ),
        (
            9,
            1,
            1,
            "producer 7 epoch 1: expected sequence 0, got 9 (cached 0..1, 2..4): a new epoch starts with sequence 0",
        ),
        (0, 1, -1, "producer 7 epoch -1: the current epoch is 0: an older epoch is fenced"),
    ],
)
def test_decision_is_one_sentence_with_the_numbers(base_sequence: int, count: int, epoch: int, sentence: str) -> None:
    assert words(log_of_two(), base_sequence, count, epoch=epoch) == sentence


def test_batch_that_left_the_cache_is_distinguished() -> None:
    log = new_log()
    for sequence in range(6):
        produce(log, sequence)

    assert words(log, 0) == (
        "producer 7 epoch 0: expected sequence 6, got 0 (cached 1..1, 2..2, 3..3, 4..4, 5..5): "
        "it is older than the cached batches"
    )


def test_unknown_producer_is_refused_by_the_rules_of_the_version() -> None:
    assert words(new_log(version="2.4"), 3) == (
        "producer 7 epoch 0: expected sequence 0, got 3: the partition has no state of the producer"
    )
    assert words(new_log(version="0.11"), 3) == (
        "producer 7 epoch 0: expected sequence 0, got 3: a producer unknown to the partition starts with sequence 0"
    )


def test_plain_batch_and_plain_refusal() -> None:
    log = new_log()

    assert describe_decision(append(log, batch())) == "appended at offsets 0..0"
    with pytest.raises(AppendRefused) as raised:
        append(log, batch(base_offset=7))
    assert describe_decision(raised.value) == "a produced batch has base offset 7, not 0"
