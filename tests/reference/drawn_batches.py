"""Batches drawn from a seed: many producers, their repeats, gaps and epochs, timestamps that jump forth and back."""

from dataclasses import dataclass, field
from random import Random

from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

PRODUCERS = range(8000, 8006)
HOUR_MS = 3_600_000
# Small batches are what makes many index entries, large ones what makes a batch pass several intervals.
RECORDS_MAX = 12
VALUE_BYTES_MAX = 120


@dataclass(slots=True)
class DrawnProducer:
    """One producer as it is so far."""

    producer_id: int
    producer_epoch: int = 0
    next_sequence: int = 0
    sent: list[bytes] = field(default_factory=list[bytes])


class DrawnBatches:
    """Draws one batch after the other."""

    def __init__(self, seed: int, start_ms: int, end_ms: int) -> None:
        self._random = Random(seed)
        self._now_ms, self._end_ms = start_ms, end_ms
        self._producers = [DrawnProducer(producer_id) for producer_id in PRODUCERS]

    def take(self, count: int) -> list[bytes]:
        return [self._next() for _ in range(count)]

    def _next(self) -> bytes:
        random = self._random
        self._now_ms = min(self._now_ms + random.choice((0, 0, 5, 1000, HOUR_MS // 10)), self._end_ms)
        producer = random.choice(self._producers)
        kind = random.random()
        if kind < 0.15:
            return self._batch(BatchOptions(compression=random.choice(list(Compression))))
        if kind < 0.3 and producer.sent:
            return random.choice(producer.sent[-7:])
        if kind < 0.35:
            producer.producer_epoch += random.choice((1, 1, 3))
            producer.next_sequence = 0
        if kind > 0.97:
            # A gap, or an epoch that nobody has begun with sequence 0.
            return self._batch(self._options(producer, producer.next_sequence + 5))
        batch = self._batch(self._options(producer, producer.next_sequence))
        producer.next_sequence += int.from_bytes(batch[57:61], "big")
        producer.sent.append(batch)
        return batch

    def _options(self, producer: DrawnProducer, base_sequence: int) -> BatchOptions:
        return BatchOptions(
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            base_sequence=base_sequence,
            compression=self._random.choice((Compression.NONE, Compression.NONE, Compression.LZ4)),
        )

    def _batch(self, options: BatchOptions) -> bytes:
        random = self._random
        records = [
            Record(
                random.randbytes(random.randrange(VALUE_BYTES_MAX)),
                timestamp=self._now_ms - random.choice((0, 0, 1, 50, HOUR_MS // 2)),
            )
            for _ in range(random.randrange(1, RECORDS_MAX))
        ]
        return build_batch(records, options)
