"""The topic of a modelled group: its logs, what is deleted and truncated of them, and what the group passes over."""

from __future__ import annotations

from fauxka.faults.consumption.judge import LogEnds
from fauxka.faults.work_steps import Steps

from .consumer_members import ASSIGNED_BY_COORDINATOR, GroupMembers, Partition
from .group_broker import TOPIC, Truth
from .recorded_broker import PRODUCER

PARTITIONS_MAX = 4
# To a topic that was created again, so that a client that does not notice it finds its position there.
UNNOTICED_PRODUCES = 6


class ConsumedTopic(GroupMembers):
    """The topic, and the truth about what the group got of it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.truth: set[Truth] = set()

    def add(self, kind: str, cause: str, index: int, offset: int) -> None:
        self.truth.add((kind, cause, index, offset))

    def pass_over(self, partition: Partition, first: int, end: int, cause: str) -> None:
        for offset in range(first, end):
            if offset not in partition.delivered and offset not in partition.passed:
                partition.passed[offset] = "deleted_before_read" if offset < partition.start else cause

    # -- the log

    def produce(self) -> None:
        index = self.random.randrange(len(self.partitions))
        count = self.random.randint(1, 6)
        self.partitions[index].end += count
        self.broker.append(index, count)

    def produce_transaction(self) -> None:
        """A transaction begins, and ends at once."""
        index = self._begin_transaction()
        if index is not None:
            self._end_transaction(index)

    def leave_transaction_open(self) -> None:
        """A transaction begins in one step, and ends in a later one or never."""
        index = self._open_transaction()
        if index is None:
            self._begin_transaction()
        elif self.random.random() < 0.5:
            self._end_transaction(index)

    def _open_transaction(self) -> int | None:
        return next((index for index, each in enumerate(self.partitions) if each.open_since is not None), None)

    def _begin_transaction(self) -> int | None:
        index = self.random.randrange(len(self.partitions))
        if self._open_transaction() is not None:
            return None
        partition, count = self.partitions[index], self.random.randint(1, 4)
        self.broker.begin_transaction(index, count)
        partition.open_since, partition.open_records = partition.end, set(range(partition.end, partition.end + count))
        partition.end += count
        return index

    def _end_transaction(self, index: int) -> None:
        partition, is_commit = self.partitions[index], self.random.random() < 0.5
        self.broker.end_transaction(index, is_commit=is_commit)
        partition.without_record.add(partition.end)
        if not is_commit and self.reads_committed:
            partition.without_record |= partition.open_records
        partition.open_since, partition.end = None, partition.end + 1

    def delete(self) -> None:
        """Retention deletes the first records."""
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        start = min(partition.stable_end, partition.start + self.random.randint(1, 6))
        before, partition.start = partition.start, start
        self.broker.delete(index, before, start)

    def truncate(self) -> None:
        """An unclean election takes back the last records."""
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        least = max([partition.start, *(each + 1 for each in partition.without_record)])
        self.truncate_to(index, max(min(least, partition.end), partition.end - self.random.randint(1, 4)))

    def truncate_to(self, index: int, end: int) -> None:
        partition = self.partitions[index]
        partition.end = end
        if partition.open_since is not None and partition.open_since >= partition.end:
            partition.open_since = None
        if partition.position is not None:
            partition.position = min(partition.position, partition.end)
        for offset in [each for each in partition.delivered if each >= partition.end]:
            del partition.delivered[offset]
            self.add("delivered_and_truncated", "truncated", index, offset)
        partition.passed = {offset: why for offset, why in partition.passed.items() if offset < partition.end}
        if partition.committed is not None:
            self.pass_over(partition, partition.end, partition.committed, "truncated")
        for consumer in self.consumers:
            place = consumer.places.get(index)
            if place is not None:
                unaware_of = "truncated" if self.random.random() < 0.5 else ""
                place.truncate(partition.end, unaware_of=unaware_of)
        self.broker.truncate(index, partition.end)

    def has_partition(self, topic: str, partition: int) -> bool:
        del partition
        return topic == TOPIC

    def find_ends(self, topic: str, partition: int) -> LogEnds:
        del topic
        each = self.partitions[partition]
        producer = None if each.open_since is None else PRODUCER
        return LogEnds(each.start, each.end, each.stable_end, producer)

    def keys(self, topic: str, partition: int, first: int, end: int) -> Steps[list[str]]:
        del topic, partition, first, end
        yield
        return []

    def may_have_records(
        self, topic: str, partition: int, offsets: tuple[int, int], *, committed_only: bool
    ) -> Steps[bool]:
        del topic, committed_only
        yield
        return any(self.is_record(partition, each) for each in range(*offsets))

    def is_record(self, index: int, offset: int) -> bool:
        """Whether an offset is one of a record, as far as the log can tell."""
        partition = self.partitions[index]
        return offset < partition.start or offset not in partition.without_record

    # -- the topic

    def add_partition(self) -> None:
        """A partition is added, and has records before the group notices it."""
        if len(self.partitions) < PARTITIONS_MAX:
            self.partitions.append(Partition(is_late=self.protocol != "none"))
            self.broker.set_partitions(len(self.partitions), is_new=False)
            for _ in range(3):
                self.produce()
            self.rebalance()

    def recreate_topic(self) -> None:
        """The topic is deleted and created again. What was judged of the earlier one is gone.

        A client without topic ids may not notice it, and goes on where it was.
        """
        open_transaction = self._open_transaction()
        if open_transaction is not None:
            # Its marker would be in the new topic.
            self._end_transaction(open_transaction)
        places = [place for consumer in self.consumers for place in consumer.places.values()]
        is_noticed = self.protocol in ASSIGNED_BY_COORDINATOR or self.random.random() < 0.5
        is_noticed |= any(place.unaware_of or not place.is_settled for place in places)
        self.partitions = [Partition() for _ in self.partitions]
        self.truth.clear()
        self.linked.clear()
        self.broker.set_partitions(len(self.partitions), is_new=True)
        if is_noticed:
            for consumer in self.consumers:
                consumer.places.clear()
            self.owners.clear()
            self.rebalance()
            return
        for place in places:
            place.truncate(0, unaware_of="topic_recreated")
        for _ in range(UNNOTICED_PRODUCES):
            self.produce()
