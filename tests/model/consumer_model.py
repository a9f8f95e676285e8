"""A group of consumers that reads a topic with planted faults, and knows offset by offset what went wrong.

Each step is done by a GroupBroker: one that only reports what a broker would report, or a real one. The model keeps a
plain entry for each offset, and no ranges: who got it last, whether it was committed since, and why it was passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fauxka.faults.consumption.group_verdict import GroupFinding, GroupVerdict

from .consumed_topic import ConsumedTopic
from .consumer_members import Delivered, Partition
from .consumer_place import Place
from .group_broker import Consumer, GroupBroker, Truth
from .recorded_broker import RecordedBroker

# Kinds that are about records: no marker, and no aborted record for a group that reads committed records, has them.
OF_RECORDS = frozenset({"delivered_twice", "never_delivered", "delivered_out_of_order", "processed_twice"})


class ConsumerModel(ConsumedTopic):
    """The group, its fetches and commits, and the truth about them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.broker = self.make_broker()
        self.has_faults = True
        self.last_first: dict[tuple[str, int], int] = {}

    def make_broker(self) -> GroupBroker:
        """Return the broker that does what the model decides."""
        return RecordedBroker(self.random, self.protocol, self, reads_committed=self.reads_committed)

    # -- fetches

    def fetch(self) -> None:
        self._with_place(self.fetch_from)

    def fetch_without_response(self) -> None:
        self._with_place(lambda consumer, index: self.fetch_from(consumer, index, is_written=False))

    def hang(self) -> None:
        def hang(consumer: Consumer, index: int) -> None:
            place = consumer.places[index]
            if place.why == "seek" or place.has_jumped or place.unaware_of or place.back_until > place.position:
                return
            first = place.position
            end = self.fetch_from(consumer, index)
            if end is None or place.position == first:
                return
            is_hanging = self.random.random() < 0.5
            for _ in range(5 if is_hanging else 1):
                self._fetch_again(consumer, index, first, end)
            for offset in range(first, end):
                self.partitions[index].delivered[offset] = Delivered(consumer)
                if is_hanging:
                    self.add("hanging", "same_offset", index, offset)
                else:
                    self.add("delivered_twice", "seek", index, offset)

        self._with_place(hang)

    def seek(self) -> None:
        def seek(consumer: Consumer, index: int) -> None:
            place, partition = consumer.places[index], self.partitions[index]
            if not place.is_settled or place.was_truncated:
                return
            target = self.random.randint(partition.start, partition.end)
            if target == place.position or target == self.last_first.get((consumer.name, index)):
                return
            if target > place.position:
                place.why = "seek"
            else:
                place.back_until = max(place.back_until, place.position)
            place.position, place.has_jumped = target, True

        self._with_place(seek)

    _last_first: dict[tuple[str, int], int]

    def fetch_from(self, consumer: Consumer, index: int, *, is_written: bool = True) -> int | None:
        """Fetch from the position. Return the end of what was delivered."""
        partition = self.partitions[index]
        if self.protocol == "none" and consumer.places[index].is_new and not consumer.places[index].out_of_range:
            # A client without a group looks its committed offset up when it begins to read.
            consumer.places[index] = self.start(index)
        place = consumer.places[index]
        if not partition.start <= place.position <= partition.end:
            self._fetch_out_of_range(consumer, index)
            return None
        readable_end = self._readable_end(partition)
        if place.position >= readable_end:
            return None
        first = place.position
        if not is_written:
            self.broker.lose_response(consumer, index, first, readable_end)
            return None
        end = self.broker.fetch(consumer, index, first, readable_end)
        self.delivered(index, first, end)
        self._pass_to(place, partition, first)
        for offset in range(first, end):
            self._deliver(consumer, place, index, offset)
        place.position, place.is_new, place.has_jumped, place.out_of_range = end, False, False, False
        place.expected = place.came_to = end
        place.was_truncated, place.unaware_of = False, ""
        self.last_first[consumer.name, index] = first
        partition.position = end
        if self.protocol == "none" and consumer.client_id not in self.linked:
            self.linked.add(consumer.client_id)
            self._commit(consumer, index, end)
        return end

    def _pass_to(self, place: Place, partition: Partition, first: int) -> None:
        """Note what a consumer passes over that does not go on where it was."""
        if place.is_settled and not place.unaware_of:
            return
        expected = partition.delivered_end if place.expected is None else place.expected
        is_first = partition.is_late and not partition.delivered and partition.begun_at is None
        if expected is None and is_first:
            expected = partition.start
        if expected is not None:
            cause = "seek" if place.why == "seek" else "reset_to_latest"
            cause = "partition_seen_late" if is_first else place.unaware_of or cause
            self.pass_over(partition, expected, first, cause)

    def _fetch_again(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        self.broker.fetch_again(consumer, index, first, end)
        self.delivered(index, first, end)

    def delivered(self, index: int, first: int, end: int) -> None:
        """Note offsets that were sent to a consumer, for a model that does more with them."""

    def read_as_outsider(self) -> None:
        """A client that has nothing to do with the group reads a partition."""
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        readable_end = self._readable_end(partition)
        if partition.start < readable_end:
            self.broker.fetch(Consumer("outsider", "outsider", -1, 0), index, partition.start, readable_end)

    def _readable_end(self, partition: Partition) -> int:
        return partition.stable_end if self.reads_committed else partition.end

    def rebalance_over_a_fetch(self) -> None:
        """A consumer gets records by a Fetch from before it begins again after a rebalance, and drops them."""

        if self.protocol == "classic":
            self._with_place(self._rebalance_over_a_fetch)

    def _rebalance_over_a_fetch(self, consumer: Consumer, index: int) -> None:
        place, partition = consumer.places[index], self.partitions[index]
        if not place.is_settled or place.unaware_of or place.position < partition.start:
            return
        first, end = place.position, min(self._readable_end(partition), place.position + 3)
        is_new = place.back_until <= first and partition.delivered.keys().isdisjoint(range(first, end))
        is_early = self.random.random() < 0.5
        self.broker.begin_fetch(consumer)

        def between() -> None:
            if is_new and index in consumer.places and self.random.random() < 0.5:
                # The consumer has not got its assignment yet.
                self.broker.begin_fetch(consumer)
            if is_early:
                self.broker.end_fetch(consumer, index, first, end)

        self._commit_positions()
        self.rebalance(between)
        if not is_early:
            self.broker.end_fetch(consumer, index, first, end)
        for offset in range(first, end):
            partition.delivered.setdefault(offset, Delivered(consumer, is_late=True))

    def rebalance_after_commits(self) -> None:
        self._commit_positions()
        self.rebalance()

    def _commit_positions(self) -> None:
        for consumer in self.consumers:
            for index in list(consumer.places):
                self._commit_position(consumer, index)

    def _deliver(self, consumer: Consumer, place: Place, index: int, offset: int) -> None:
        partition = self.partitions[index]
        before = partition.delivered.get(offset)
        is_back = place.why == "seek" or offset < place.back_until
        if before is not None and not before.is_late:
            if is_back:
                cause = "seek"
            elif place.why == "reset":
                cause = "reset"
            elif before.is_committed:
                cause = partition.taken_back
            elif self.is_restart(before.by, consumer):
                cause = "rejoin_before_commit" if self.is_rejoin(before.by, consumer) else "restart_before_commit"
            else:
                cause = "rebalance_before_commit"
            self.add("delivered_twice", cause, index, offset)
        elif before is None and is_back and any(each > offset for each in partition.delivered):
            self.add("delivered_out_of_order", "seek", index, offset)
        partition.delivered[offset] = Delivered(consumer)

    def _is_restart(self, former: Consumer, consumer: Consumer) -> bool:
        return former.left is not None and former.client_id == consumer.client_id and consumer.joined >= former.left

    def _fetch_out_of_range(self, consumer: Consumer, index: int) -> None:
        place, partition = consumer.places[index], self.partitions[index]
        self.broker.fetch_out_of_range(consumer, index, place.position)
        if not place.out_of_range:
            place.expected = min(place.position, place.came_to) if place.was_truncated else place.position
        place.out_of_range, place.why, place.back_until, place.unaware_of = True, "reset", 0, ""
        place.position = self.random.choice([partition.start, partition.end])

    # -- commits

    def commit(self) -> None:
        self._with_place(self._commit_position)

    def commit_back(self) -> None:
        def back(consumer: Consumer, index: int) -> None:
            committed = self.partitions[index].committed
            if committed and (self.protocol != "none" or consumer.client_id in self.linked):
                self._commit(consumer, index, self.random.randrange(committed))

        self._with_place(back)

    def commit_beyond(self) -> None:
        def beyond(consumer: Consumer, index: int) -> None:
            place = consumer.places[index]
            if place.is_settled and bool(place.unaware_of) == place.was_truncated:
                self._commit(consumer, index, place.position + self.random.randint(1, 4))

        self._with_place(beyond)

    def commit_for_another(self) -> None:
        """A member commits a partition of another one, and it is accepted."""
        if self.protocol == "none":
            return
        if len(self.consumers) < 2:
            self.join()
            return
        consumer, other = self.random.sample(self.consumers, 2)
        delivered = [index for index in other.places if self.partitions[index].delivered]
        if delivered:
            index = self.random.choice(delivered)
            if self._commit(consumer, index, self.random.choice(list(self.partitions[index].delivered))):
                self.add("stale_member_committed", "accepted", index, -1)

    def commit_late(self) -> None:
        """A consumer that has left commits, and is refused."""
        if self.protocol != "none" and self.former and self.former[-1].places:
            consumer = self.former[-1]
            index = self.random.choice([each for each in consumer.places if each < len(self.partitions)])
            self.broker.commit_late(consumer, index, 1)
            self.add("stale_member_committed", "refused", index, -1)

    def administrator_commits(self) -> None:
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        offset = self.random.randint(0, partition.end)
        before = partition.committed
        if before is not None and offset < before:
            partition.taken_back = "reset"
            for each in range(offset, before):
                self.add("commit_moved_back", "other_client", index, each)
        expected = min(partition.delivered, default=None) if before is None else before
        if expected is not None:
            self.pass_over(partition, expected, offset, "reset")
        self._set_committed(index, offset)
        self.broker.set_offset(index, offset)

    def lose_commits(self) -> None:
        """The committed offset of a partition expires."""
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        if partition.committed is not None:
            partition.committed, partition.has_lost_commit, partition.taken_back = None, True, "reset"
            self.broker.delete_offset(index)

    def _commit_position(self, consumer: Consumer, index: int) -> None:
        place = consumer.places[index]
        if place.is_settled:
            self._commit(consumer, index, place.position)

    def _commit(self, consumer: Consumer, index: int, offset: int) -> bool:
        """Commit an offset, in a transaction or without. Return whether it took effect."""
        partition = self.partitions[index]
        is_transactional, is_aborted = self.random.random() < 0.2, self.random.random() < 0.3
        is_aborted = is_aborted and self.has_faults
        self.broker.commit(consumer, index, offset, is_aborted=is_aborted if is_transactional else None)
        if is_transactional and is_aborted:
            return False
        before = partition.committed
        if before is not None and offset < before:
            partition.taken_back = "commit_moved_back"
            for each in range(offset, before):
                self.add("commit_moved_back", "member", index, each)
        expected = min(partition.delivered, default=None) if before is None else before
        if expected is not None:
            self._commit_beyond(consumer, index, expected, offset)
        self._set_committed(index, offset)
        return True

    def _commit_beyond(self, consumer: Consumer, index: int, expected: int, offset: int) -> None:
        """Note what a commit passes over that the group has not got."""
        partition, place = self.partitions[index], consumer.places.get(index)
        if place is not None and place.unaware_of and place.expected is not None:
            passed = max(expected, place.expected), min(offset, place.position)
            self.pass_over(partition, *passed, place.unaware_of)
        for each in range(expected, offset):
            if each not in partition.delivered and each not in partition.passed:
                self.add("commit_beyond_delivery", "member", index, each)
        self.pass_over(partition, expected, offset, "committed_beyond_delivery")

    def _set_committed(self, index: int, offset: int) -> None:
        partition = self.partitions[index]
        partition.committed = offset
        for each, delivered in partition.delivered.items():
            delivered.is_committed |= each < offset

    # -- the run

    def _with_place(self, act: Callable[[Consumer, int], object]) -> None:
        places = [(consumer, index) for consumer in self.consumers for index in consumer.places]
        if places:
            act(*self.random.choice(places))

    @property
    def faults(self) -> list[Callable[[], None]]:
        """Return the steps in which something goes wrong, or that are needed for it."""
        return [
            self.join, self.crash, self.restart, self.exceed_poll_interval, self.rebalance_after_commits,
            self.rebalance_over_a_fetch, self.hang, self.seek, self.commit_back, self.commit_beyond,
            self.commit_for_another, self.commit_late, self.administrator_commits, self.lose_commits, self.delete,
            self.truncate, self.leave_transaction_open, self.add_partition, self.recreate_topic, self.read_as_outsider,
        ]  # fmt: skip

    def run(self, steps: int, *, with_faults: bool = True) -> None:
        self.has_faults = with_faults
        clean = [self.produce, self.fetch, self.fetch, self.commit, self.fetch_without_response]
        clean += [self.produce_transaction] if self.random.random() < 0.5 else []
        clean += [self.rebalance_after_commits, self.rebalance_over_a_fetch] if not with_faults else []
        self.join()
        planted = self.random.sample(self.faults, self.random.randint(1, 4)) if with_faults else []
        for _ in range(steps):
            self.random.choice(clean if not planted or self.random.random() < 0.75 else planted)()

    def verdict(self) -> GroupVerdict:
        """Return the verdict that is compared with what is expected."""
        return self.broker.verdict()

    def expected(self) -> set[Truth]:
        """Return the truth, with what was passed over and never delivered, and where the group waits."""
        found = set(self.truth)
        for index, partition in enumerate(self.partitions):
            expected = partition.delivered_end if partition.committed is None else partition.committed
            if expected is not None:
                self.pass_over(partition, expected, partition.start, "deleted_before_read")
            for offset, why in partition.passed.items():
                if offset not in partition.delivered and offset < partition.end:
                    found.add(("never_delivered", why, index, offset))
            may_wait = self.reads_committed or not any(each.delivered for each in self.partitions)
            if may_wait and partition.stable_end < partition.end and self._position(partition) == partition.stable_end:
                blocked = range(partition.stable_end, partition.end)
                found |= {("blocked", "open_transaction", index, offset) for offset in blocked}
        return {each for each in found if each[0] not in OF_RECORDS or self.is_record(each[2], each[3])}

    def _position(self, partition: Partition) -> int | None:
        """Return where the group is in a partition, as far as its fetches and commits show it."""
        if partition.position is not None:
            return partition.position
        return partition.delivered_end if partition.committed is None else partition.committed

    def found(self) -> set[Truth]:
        """Return the findings of the verdict as truths. Those about records have at least one."""
        verdict = self.verdict()
        assert verdict.findings_left_out == 0
        assert all(each.offsets[0] <= each.offsets[1] for each in verdict.findings)
        found = {
            (each.kind, each.cause, each.partition, offset) for each in verdict.findings for offset in offsets_of(each)
        }
        return {each for each in found if each[0] not in OF_RECORDS or self.is_record(each[2], each[3])}


def offsets_of(finding: GroupFinding) -> Iterable[int]:
    """Return the offsets of a finding as a truth has them."""
    if finding.kind == "stale_member_committed":
        return [-1]
    return range(finding.offsets[0], finding.offsets[1] + 1)
