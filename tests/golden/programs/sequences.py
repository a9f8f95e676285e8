"""Drawn sequences of batches, each of one producer in a partition of its own: an answer depends on all batches before.

A case is a sequence. Its batches, and the answers to them, are lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from ..case_recorder import Answer, CaseRecorder, Json
from .producer_scene import ProducerBatch

SEQUENCES, BATCHES = 51, 12
# Producers of other cases have lower ids.
FIRST_PRODUCER_ID = 5000
# More than a partition recognises.
REMEMBERED = 7
# What the next batch is, as often as its number says.
KINDS = {"next": 6, "again": 4, "gap": 1, "longer": 1, "next epoch": 1, "next epoch, not from 0": 1, "older epoch": 1}


def groups(recorder: CaseRecorder) -> list[Callable[[], None]]:
    """The groups of cases: one."""
    return [partial(drawn_sequences, recorder)]


def drawn_sequences(recorder: CaseRecorder) -> None:
    topic = recorder.create_topic(SEQUENCES)
    for number in range(SEQUENCES):
        sent: list[Json] = []
        answers: list[Json] = []
        for each in drawn(Random(number), FIRST_PRODUCER_ID + number):
            answer = recorder.produce(topic, each.encode(recorder.started_ms), partition=number)
            sent.append([each.producer_epoch, each.base_sequence, each.record_count])
            answers.append([answer.integer("error_code"), answer.integer("base_offset")])
        end = recorder.log_end_offset(topic, number)
        recorder.record(f"S{number:02}", {"batches": sent}, Answer(high_watermark=end), answers=answers)


def drawn(random: Random, producer_id: int) -> Iterator[ProducerBatch]:
    """Yield the batches of one sequence."""
    epoch, next_ = 0, random.choice((0, 0, 0, 5))
    earlier: list[ProducerBatch] = []
    for _ in range(BATCHES):
        (kind,) = random.choices([*KINDS], [*KINDS.values()])
        count = random.randint(1, 3)
        if kind == "next epoch":
            epoch, next_ = epoch + 1, 0
        if kind == "again" and earlier:
            yield random.choice(earlier[-REMEMBERED:])
        elif kind == "longer" and earlier:
            last = earlier[-1]
            yield ProducerBatch(producer_id, epoch, last.base_sequence, last.record_count + 1)
        elif kind == "gap":
            yield ProducerBatch(producer_id, epoch, next_ + random.randint(1, 9), count)
        elif kind == "next epoch, not from 0":
            yield ProducerBatch(producer_id, epoch + 1, random.randint(1, 9), count)
        elif kind == "older epoch" and epoch:
            yield ProducerBatch(producer_id, epoch - 1, next_, count)
        else:
            earlier.append(ProducerBatch(producer_id, epoch, next_, count))
            next_ += count
            yield earlier[-1]
