"""What became of the batches of produce requests, counted as they come: what a verdict is made of.

Only numbers are kept, and of each appended batch only its first offset: a broker counts with every request it handles.
What is rare (a duplicate, a refusal, an answer that is not sent) has structures of its own.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from ...storage.append_refused import AppendRefused
from ...storage.append_result import AppendResult

# First offsets that are kept for each producer of a partition. They tell which batches a crash took: no more than
# those since the last flush, which in memory are all. What is older is only counted.
OFFSETS_KEPT_MAX = 65_536
# Producers of partitions that are counted each on its own, some 300 bytes for each. The oldest are then added up.
PRODUCERS_MAX = 50_000
# The producer id that stands for those that were added up.
OTHER_PRODUCERS = -2
# Ranges of offsets in one partition for which no answer was owed. They are joined where they meet, so that this many
# are needed only where producers with acks=0 and others take turns.
ACKS_0_RANGES_MAX = 10_000

# Topic, partition, producer id.
ProducerKey = tuple[str, int, int]


@dataclass(slots=True)
class ProducerCounts:
    """The batches of one producer in one partition. appended: those that the log has, each copy on its own."""

    topic: str
    partition: int
    producer_id: int
    appended: int = 0
    refused: int = 0
    duplicates_recognised: int = 0


class BatchCounts:
    """Counts by topic, partition and producer.

    appended: the first offsets of the batches; whoever handles requests appends to it and calls first_of for a key
    that is not there.
    topics: those of which anything is known.
    """

    __slots__ = ("_acks_0", "_appended_before", "_duplicates", "_refused", "appended", "topics")

    def __init__(self) -> None:
        """Start at nothing."""
        self.appended: dict[ProducerKey, array[int]] = {}
        # How many offsets were taken out of appended, because they were too many.
        self._appended_before: dict[ProducerKey, int] = {}
        self._duplicates: dict[ProducerKey, int] = {}
        self._refused: dict[ProducerKey, int] = {}
        self._acks_0: dict[tuple[str, int], list[tuple[int, int]]] = {}
        self.topics: set[str] = set()

    def first_of(self, key: ProducerKey, base_offset: int) -> None:
        """Count the first batch of a producer in a partition."""
        if len(self.appended) >= PRODUCERS_MAX:
            self._add_up_oldest()
        self.appended[key] = array("q", (base_offset,))
        self.topics.add(key[0])

    def duplicate(self, topic: str, partition: int, result: AppendResult) -> None:
        """Count a duplicate that was recognised."""
        self.topics.add(topic)
        _count(self._duplicates, (topic, partition, result.header.producer_id))

    def refused(self, topic: str, partition: int, producer_id: int) -> None:
        """Count a batch that was refused."""
        self.topics.add(topic)
        _count(self._refused, (topic, partition, producer_id))

    def add_acks_0(self, topic: str, partition: int, result: AppendResult) -> None:
        """Note that nobody waits for an answer to an appended batch (acks=0)."""
        ranges = self._acks_0.setdefault((topic, partition), [])
        begin, end = result.base_offset, result.last_offset + 1
        if ranges and ranges[-1][1] == begin:
            ranges[-1] = (ranges[-1][0], end)
        else:
            if len(ranges) >= ACKS_0_RANGES_MAX:
                del ranges[: ACKS_0_RANGES_MAX // 2]
            ranges.append((begin, end))

    def is_acks_0(self, topic: str, partition: int, base_offset: int) -> bool:
        """Whether nobody waited for an answer to the batch that begins there."""
        return any(begin <= base_offset < end for begin, end in self._acks_0.get((topic, partition), ()))

    def trim(self) -> None:
        """Keep no more first offsets than OFFSETS_KEPT_MAX of any producer; to be called that often or more."""
        for key, offsets in self.appended.items():
            if (surplus := len(offsets) - OFFSETS_KEPT_MAX) > 0:
                del offsets[:surplus]
                self._appended_before[key] = self._appended_before.get(key, 0) + surplus

    def newest_base_offset(self, topic: str, partition: int) -> int:
        """Return the first offset of the batch that was appended last; -1 where none is known."""
        return max(
            (offsets[-1] for key, offsets in self.appended.items() if key[:2] == (topic, partition) and offsets),
            default=-1,
        )

    def truncate(self, topic: str, partition: int, end_offset: int) -> list[tuple[int, int]]:
        """Take out what the log has lost from end_offset on; return the first offset and the producer of each batch."""
        lost: list[tuple[int, int]] = []
        for key, offsets in self.appended.items():
            if key[:2] != (topic, partition):
                continue
            while offsets and offsets[-1] >= end_offset:
                lost.append((offsets.pop(), key[2]))
        return sorted(lost)

    def forget_truncated(self, topic: str, partition: int, end_offset: int) -> None:
        """Forget of which offsets from end_offset on no answer was owed: they are given out again."""
        ranges = self._acks_0.get((topic, partition), [])
        kept = [(begin, min(end, end_offset)) for begin, end in ranges if begin < end_offset]
        self._acks_0[topic, partition] = kept

    def forget_topic(self, topic: str) -> None:
        """Start the topic at nothing."""
        self.topics.discard(topic)
        for counts in (self.appended, self._appended_before, self._duplicates, self._refused):
            for key in [key for key in counts if key[0] == topic]:
                del counts[key]
        for place in [place for place in self._acks_0 if place[0] == topic]:
            del self._acks_0[place]

    def clear(self) -> None:
        """Start at nothing."""
        for counts in (self.appended, self._appended_before, self._duplicates, self._refused, self._acks_0):
            counts.clear()
        self.topics.clear()

    def of_topic(self, topic: str) -> Iterator[ProducerCounts]:
        """Yield the counts of every producer in every partition of the topic."""
        keys = dict.fromkeys([*self.appended, *self._appended_before, *self._duplicates, *self._refused])
        for key in keys:
            if key[0] == topic:
                yield ProducerCounts(
                    *key,
                    appended=len(self.appended.get(key, ())) + self._appended_before.get(key, 0),
                    refused=self._refused.get(key, 0),
                    duplicates_recognised=self._duplicates.get(key, 0),
                )

    def _add_up_oldest(self) -> None:
        oldest = next(iter(self.appended))
        sum_key = (oldest[0], oldest[1], OTHER_PRODUCERS)
        self._appended_before[sum_key] = (
            self._appended_before.get(sum_key, 0)
            + len(self.appended.pop(oldest))
            + self._appended_before.pop(oldest, 0)
        )


def _count(counts: dict[ProducerKey, int], key: ProducerKey) -> None:
    if key not in counts and len(counts) >= PRODUCERS_MAX:
        key = (key[0], key[1], OTHER_PRODUCERS)
    counts[key] = counts.get(key, 0) + 1


def producer_of(error: object) -> int:
    """Return the producer whose batch was refused; NO_PRODUCER_ID where the refusal was not about a producer."""
    if isinstance(error, AppendRefused) and error.refusal is not None:
        return error.refusal.producer_id
    return NO_PRODUCER_ID
