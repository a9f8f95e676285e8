"""The producer's state machine of one partition in plain lines, written from Kafka's rules and not from the code.

A batch is (epoch, first, count). The answer is the first offset, or the number of an error. Kafka 4.3 unless said.
"""

from __future__ import annotations

from dataclasses import dataclass, field

RANGE = 2**31
# By producer: its epoch, and its batches as first sequence, last sequence and offset.
Producers = dict[int, tuple[int, list[tuple[int, int, int]]]]
# A producer in epoch -1 may leave out sequences from 2.5 on.
WITH_EPOCH_CHECK = ("0.11", "1.0", "2.4")
OK_UNKNOWN = {"0.11": 45, "1.0": 59, "2.4": 59, "4.3": 0, "4.5": 0}


@dataclass
class Model:
    version: str = "4.3"
    log_end: int = 0
    producers: Producers = field(default_factory=dict[int, tuple[int, list[tuple[int, int, int]]]])

    def append(self, producer: int, epoch: int, first: int, count: int) -> int:
        """Return -error, or the offset of the batch, which is the old one for a duplicate."""
        last = (first + count - 1) % RANGE
        known_epoch, cache = self.producers.get(producer, (-1, []))
        if known_epoch == epoch:
            for cached_first, cached_last, offset in cache:
                if (cached_first, cached_last) == (first, last):
                    return offset
        error = self.error(producer, epoch, first, last)
        if error:
            return -error
        kept = cache if epoch == known_epoch else []
        remembered = 1 if self.version == "0.11" else 5
        self.producers[producer] = (epoch, [*kept, (first, last, self.log_end)][-remembered:])
        self.log_end += count
        return self.log_end - count

    def error(self, producer: int, epoch: int, first: int, last: int) -> int:
        known_epoch, cache = self.producers.get(producer, (-1, []))
        if epoch < known_epoch:
            return 47
        if producer not in self.producers:
            is_new_log = self.version == "4.5" and self.log_end == 0
            return 0 if first == 0 else 45 if is_new_log else OK_UNKNOWN[self.version]
        if known_epoch == -1 and not (epoch == -1 and self.version in WITH_EPOCH_CHECK):
            return 0
        if epoch > known_epoch:
            return 0 if first == 0 else 45
        if first == (cache[-1][1] + 1) % RANGE:
            return 0
        return 46 if self.version == "1.0" and 0 < last < cache[0][0] else 45
