"""The batches that the load program sends: mixed records, as those of real producers, or uniform ones."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import cache

from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

# A case sends this many different batches in turn.
DISTINCT_BATCHES = 8
SEED = 7

# Mixed records have 110 bytes in the mean, uniform ones 100.
KEY_BYTES = (5, 20)
VALUE_BYTES = (45, 135)
MS_BETWEEN_RECORDS_MAX = 3
UNIFORM_VALUE_BYTES = 90

# The words of values, which compress to about a third, as JSON does.
VOCABULARY = """
order customer amount currency EUR USD status created shipped cancelled item quantity price discount street city country
postcode email phone version source event true false null 2026 1000 42 7 99.90
"""


@dataclass(frozen=True, slots=True)
class BatchContent:
    """What is in the batches of a case.

    is_uniform: all records have the same size and timestamp, and no key. By default keys and values differ in size, and
    timestamps advance.
    """

    records: int
    is_uniform: bool = False
    compression: Compression = Compression.NONE


@cache
def encoded_batches(content: BatchContent) -> bytes:
    """Return the batches, one after the other, with producer id, epoch and sequence to be set."""
    draw = random.Random(SEED)
    options = BatchOptions(producer_id=0, producer_epoch=0, base_sequence=0, compression=content.compression)
    return b"".join(build_batch(_records(content, draw), options) for _ in range(DISTINCT_BATCHES))


def batch_without_producer(content: BatchContent) -> bytes:
    """Return one batch that can be sent any number of times."""
    return build_batch(_records(content, random.Random(SEED)))


def _records(content: BatchContent, draw: random.Random) -> list[Record]:
    timestamp = int(time.time() * 1000)
    if content.is_uniform:
        return [Record(bytes(UNIFORM_VALUE_BYTES), timestamp=timestamp)] * content.records
    drawn: list[Record] = []
    for _ in range(content.records):
        timestamp += draw.randint(0, MS_BETWEEN_RECORDS_MAX)
        key = draw.randbytes(draw.randint(*KEY_BYTES))
        drawn.append(Record(_text(draw, draw.randint(*VALUE_BYTES)), key, timestamp))
    return drawn


def _text(draw: random.Random, size: int) -> bytes:
    words = " ".join(draw.choices(VOCABULARY.split(), k=size // 3))
    return words[:size].encode()
