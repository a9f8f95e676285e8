"""Counts of the batches of Produce requests, by topic, partition and producer id.

The broker counts with every request, so an appended batch costs one number: its base offset. Rare results (duplicates,
refusals, acks=0) have their own counters.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from ...protocol.shortened_text import TEXT_CHARACTERS_MAX
from ...storage.append_refused import AppendRefused
from ...storage.append_result import AppendResult

# Base offsets kept for each producer of a partition, to find the batches that a crash deletes. Older ones are only
# counted: a crash deletes batches since the last flush (in memory, all of them).
OFFSETS_KEPT_MAX = 65_536
# Producers of partitions with their own counts, about 300 bytes each. The oldest beyond that are added up.
PRODUCERS_MAX = 50_000
# Topics with counts. Names that are longer than those of topics, and further topics that do not exist, have none.
TOPICS_MAX = 50_000
# The producer id of the added-up counts.
OTHER_PRODUCERS = -2
# Offset ranges in one partition that were written with acks=0; adjacent ranges are joined.
ACKS_0_RANGES_MAX = 10_000

# The partition of the added-up counts of all partitions of a topic.
OTHER_PARTITIONS = -1

# Topic, partition, producer id.
ProducerKey = tuple[str, int, int]


@dataclass(slots=True)
class ProducerCounts:
    """The batches of one producer in one partition.

    appended: includes each stored copy of a batch. first_offset: the oldest base offset that is kept; -1 without one.
    """

    topic: str
    partition: int
    producer_id: int
    appended: int = 0
    refused: int = 0
    duplicates_recognised: int = 0
    first_offset: int = -1


class BatchCounts:
    """Counts by topic, partition and producer.

    appended: the base offsets of the batches. The journal appends to its arrays, and calls first_of for a new key.
    topics: the topics with counts. refused_elsewhere: refused batches of topics that have no counts (TOPICS_MAX).
    """

    __slots__ = ("_acks_0", "_appended_before", "_duplicates", "_refused", "appended", "refused_elsewhere", "topics")

    def __init__(self) -> None:
        """Start empty."""
        self.appended: dict[ProducerKey, array[int]] = {}
        # The number of offsets that were removed from appended beyond OFFSETS_KEPT_MAX.
        self._appended_before: dict[ProducerKey, int] = {}
        self._duplicates: dict[ProducerKey, int] = {}
        self._refused: dict[ProducerKey, int] = {}
        self._acks_0: dict[tuple[str, int], list[tuple[int, int]]] = {}
        self.topics: set[str] = set()
        self.refused_elsewhere = 0

    def first_of(self, key: ProducerKey, base_offset: int) -> None:
        """Count the first batch of a producer in a partition."""
        if len(self.appended) >= PRODUCERS_MAX:
            self._add_up_oldest()
        self.appended[key] = array("q", (base_offset,))
        self.topics.add(key[0])

    def add(self, key: ProducerKey, base_offset: int) -> None:
        """Count a batch behind the others of its producer in a partition."""
        offsets = self.appended.get(key)
        if offsets is None:
            self.first_of(key, base_offset)
        else:
            offsets.append(base_offset)

    def duplicate(self, topic: str, partition: int, result: AppendResult) -> None:
        """Count a recognised duplicate."""
        self.topics.add(topic)
        _count(self._duplicates, (topic, partition, result.header.producer_id))

    def refused(self, topic: str, partition: int, producer_id: int) -> None:
        """Count a rejected batch. Its topic does not need to exist."""
        if self.name_topic(topic):
            _count(self._refused, (topic, partition, producer_id))
        else:
            self.refused_elsewhere += 1

    def name_topic(self, topic: str) -> bool:
        """Add a topic that may not exist. Return whether it has counts."""
        if topic not in self.topics and len(topic) <= TEXT_CHARACTERS_MAX and len(self.topics) < TOPICS_MAX:
            self.topics.add(topic)
        return topic in self.topics

    def add_acks_0(self, topic: str, partition: int, result: AppendResult) -> None:
        """Record the offsets of a batch that was appended with acks=0."""
        ranges = self._acks_0.setdefault((topic, partition), [])
        begin, end = result.base_offset, result.last_offset + 1
        if ranges and ranges[-1][1] == begin:
            ranges[-1] = (ranges[-1][0], end)
        else:
            if len(ranges) >= ACKS_0_RANGES_MAX:
                del ranges[: ACKS_0_RANGES_MAX // 2]
            ranges.append((begin, end))

    def is_acks_0(self, topic: str, partition: int, base_offset: int) -> bool:
        """Return whether the batch at base_offset was appended with acks=0."""
        return any(begin <= base_offset < end for begin, end in self._acks_0.get((topic, partition), ()))

    def trim(self) -> None:
        """Delete base offsets beyond OFFSETS_KEPT_MAX. Called at least every OFFSETS_KEPT_MAX requests."""
        for key, offsets in self.appended.items():
            if (surplus := len(offsets) - OFFSETS_KEPT_MAX) > 0:
                del offsets[:surplus]
                self._appended_before[key] = self._appended_before.get(key, 0) + surplus

    def newest_base_offset(self, topic: str, partition: int) -> int:
        """Return the base offset of the newest batch of the partition; -1 if there is none."""
        return max(
            (offsets[-1] for key, offsets in self.appended.items() if key[:2] == (topic, partition) and offsets),
            default=-1,
        )

    def truncate(self, topic: str, partition: int, end_offset: int) -> list[tuple[int, int]]:
        """Remove the batches from end_offset on. Return the base offset and producer id of each, sorted."""
        lost: list[tuple[int, int]] = []
        for key, offsets in self.appended.items():
            if key[:2] != (topic, partition):
                continue
            while offsets and offsets[-1] >= end_offset:
                lost.append((offsets.pop(), key[2]))
        return sorted(lost)

    def truncate_acks_0(self, topic: str, partition: int, end_offset: int) -> None:
        """Remove the acks=0 ranges from end_offset on: these offsets are assigned again."""
        ranges = self._acks_0.get((topic, partition), [])
        kept = [(begin, min(end, end_offset)) for begin, end in ranges if begin < end_offset]
        self._acks_0[topic, partition] = kept

    def forget_topic(self, topic: str) -> None:
        """Delete the counts of a topic."""
        self.topics.discard(topic)
        for counts in (self.appended, self._appended_before, self._duplicates, self._refused):
            for key in [key for key in counts if key[0] == topic]:
                del counts[key]
        for place in [place for place in self._acks_0 if place[0] == topic]:
            del self._acks_0[place]

    def clear(self) -> None:
        """Delete all counts."""
        for counts in (self.appended, self._appended_before, self._duplicates, self._refused, self._acks_0):
            counts.clear()
        self.topics.clear()
        self.refused_elsewhere = 0

    def of_topic(self, topic: str) -> Iterator[ProducerCounts]:
        """Yield the counts of each producer in each partition of the topic."""
        keys = dict.fromkeys([*self.appended, *self._appended_before, *self._duplicates, *self._refused])
        for key in keys:
            if key[0] == topic:
                offsets = self.appended.get(key)
                yield ProducerCounts(
                    *key,
                    appended=len(offsets or ()) + self._appended_before.get(key, 0),
                    refused=self._refused.get(key, 0),
                    duplicates_recognised=self._duplicates.get(key, 0),
                    first_offset=offsets[0] if offsets else -1,
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
        # One for each of the topics at most.
        key = (key[0], OTHER_PARTITIONS, OTHER_PRODUCERS)
    counts[key] = counts.get(key, 0) + 1


def producer_of(error: object) -> int:
    """Return the producer id of a rejected batch; NO_PRODUCER_ID if the error is not about a producer."""
    if isinstance(error, AppendRefused) and error.refusal is not None:
        return error.refusal.producer_id
    return NO_PRODUCER_ID
