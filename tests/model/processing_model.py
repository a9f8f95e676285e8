"""The group of ConsumerModel with an application that reports what it processes, and knows how often it did."""

from __future__ import annotations

from collections import Counter
from random import Random

from fauxka.faults.consumption.group_history import GroupHistory
from fauxka.faults.consumption.group_verdict import GroupVerdict
from fauxka.faults.consumption.judge import judge_group
from fauxka.faults.consumption.processing import Processing, unreported_ranges

from ..finished_steps import finished
from .consumer_model import ConsumerModel
from .group_broker import GROUP, TOPIC, Truth
from .recorded_broker import RecordedBroker

# Kinds of second deliveries, which count by what was processed.
_TWICE = ("delivered_twice", "hanging")


class ProcessingModel(ConsumerModel):
    """processed: how often the application has processed each offset."""

    broker: RecordedBroker

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        # Of its own, so that the group does the same as without reports.
        self.application = Random(seed)
        self.processed: Counter[tuple[int, int]] = Counter()
        # Of each delivered record: the chances of a report, and of a second one.
        self.chance = self.application.choice([0.0, 0.7, 1.0])
        self.chance_twice = self.application.choice([0.0, 0.2])

    def truncate(self) -> None:
        super().truncate()
        self.processed = Counter({each: times for each, times in self.processed.items() if self._is_in_log(each)})

    def recreate_topic(self) -> None:
        self.processed.clear()
        super().recreate_topic()

    def _is_in_log(self, place: tuple[int, int]) -> bool:
        return place[1] < self.partitions[place[0]].end

    def delivered(self, index: int, first: int, end: int) -> None:
        records = [each for each in range(first, end) if each not in self.partitions[index].without_record]
        done = [each for each in records if self.application.random() < self.chance]
        done += [each for each in done if self.application.random() < self.chance_twice]
        self.application.shuffle(done)
        self.processed.update((index, each) for each in done)
        self.broker.recorder.histories.processed(GROUP, (TOPIC, index), done)

    def verdict(self) -> GroupVerdict:
        history = self.broker.history
        return finished(judge_group(GROUP, history, self, self._processing(history)))

    def expected(self) -> set[Truth]:
        delivered = super().expected()
        if not self.processed:
            return delivered
        found: set[Truth] = set()
        again = {(index, offset) for kind, _, index, offset in delivered if kind in _TWICE}
        for kind, cause, index, offset in delivered:
            is_twice = kind in _TWICE and self.processed[index, offset] > 1
            found.add(("processed_twice" if is_twice else kind, cause, index, offset))
            if kind == "hanging":
                found.add((kind, cause, index, offset))
        for (index, offset), times in self.processed.items():
            if times > 1 and (index, offset) not in again:
                found.add(("processed_twice", "delivered_once", index, offset))
            if offset >= (self.partitions[index].committed or 0):
                found.add(("processed_uncommitted", "not_committed", index, offset))
        missing = {(index, offset) for kind, _, index, offset in delivered if kind == "never_delivered"}
        return found | {each for each in self._unprocessed() if each[2:] not in missing}

    def _unprocessed(self) -> set[Truth]:
        found: set[Truth] = set()
        for index, partition in enumerate(self.partitions):
            processed = [offset for place, offset in self.processed if place == index]
            begun = [*partition.delivered, *processed]
            committed = partition.committed or 0
            for offset in range(min(begun, default=0), min(partition.end, max(committed, *processed, -1, -1) + 1)):
                is_record = offset >= partition.start and offset not in partition.without_record
                if not begun or not is_record or offset in processed:
                    continue
                if offset < committed:
                    found.add(("committed_unprocessed", "committed_before_processing", index, offset))
                elif processed and offset < max(processed):
                    found.add(("never_processed", "passed_over", index, offset))
        return found

    def _processing(self, history: GroupHistory) -> dict[tuple[str, int], Processing]:
        """Return the reports with the records that the log has, as the admin API reads them."""
        if not self.processed:
            return {}
        found: dict[tuple[str, int], Processing] = {}
        for (topic, index), partition in history.partitions.items():
            ranges = unreported_ranges(partition, partition.processed)
            found[topic, index] = Processing(
                partition.processed, [part for each in ranges for part in self._records(index, *each)]
            )
        return found

    def _records(self, index: int, first: int, end: int) -> list[tuple[int, int]]:
        partition = self.partitions[index]
        offsets = range(max(first, partition.start), min(end, partition.end))
        return [(each, each + 1) for each in offsets if each not in partition.without_record]
