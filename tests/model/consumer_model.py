"""A group of consumers that reads a topic with planted faults, and knows offset by offset what went wrong.

Everything is reported to a ConsumptionRecorder as a broker does it. The model keeps a plain entry for each offset, and
no ranges: who got it last, whether it was committed since, and why it was passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from fauxka.faults.consumption.consumption_recorder import ConsumptionRecorder
from fauxka.faults.consumption.events import EndedTransaction, GroupRecords, Offset
from fauxka.faults.consumption.judge import LogEnds
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.fetch_codec import FetchedPartition
from fauxka.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from fauxka.protocol.primitives import Writer
from fauxka.protocol.stored_records.group_log_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from fauxka.storage.deleted_records import DeletedRecords, DeletionCause

GROUP, TOPIC = "billing", "orders"
PRODUCER = 7

# Kind, cause, partition, offset; of a refused commit the offset is -1.
Truth = tuple[str, str, int, int]


@dataclass(eq=False)
class FakeConnection:
    connection_id: int
    client_host: str = "127.0.0.1"


@dataclass
class FakeRequest:
    connection: FakeConnection
    kept_client_id: str | None
    request_id: int = 0


@dataclass
class Delivered:
    """The last delivery of one offset."""

    by: Consumer
    is_committed: bool = False
    # By a Fetch from before a rebalance.
    is_late: bool = False


@dataclass
class Place:
    """Where a consumer is in a partition, and why: "start", "seek" or "reset"."""

    position: int
    why: str = "start"
    is_new: bool = True
    # Where it is expected: at the end of its last Fetch, at the offset that was out of range, or at the committed one.
    expected: int | None = None
    # The end of its last Fetch, or of the log that was truncated below that.
    came_to: int = 0
    has_jumped: bool = False
    # Where it was before it went back.
    back_until: int = 0
    out_of_range: bool = False
    # Whether the log was truncated below the end of its last Fetch, and the consumer has not noticed it.
    was_truncated: bool = False
    is_unaware: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether its last Fetch was at its position, whatever the log was since."""
        return not (self.is_new or self.has_jumped or self.out_of_range)

    def truncate(self, end: int, *, is_unaware: bool) -> None:
        """Go back to the end of a truncated log, unless the consumer does not notice it."""
        self.back_until = min(self.back_until, end)
        if self.is_new or self.came_to <= end:
            return
        if self.is_settled and not self.is_unaware:
            self.is_unaware = is_unaware and not self.was_truncated
            self.position = self.position if self.is_unaware else end
        self.expected, self.came_to, self.was_truncated = min(end, self.expected or 0), end, True
        if self.has_jumped and not self.out_of_range and self.position > end:
            self.why = "seek"


@dataclass(eq=False)
class Consumer:
    """A consumer. joined, left: in changes of the group."""

    name: str
    client_id: str
    connection: FakeConnection
    joined: int
    left: int | None = None
    places: dict[int, Place] = field(default_factory=dict[int, Place])


@dataclass
class Partition:
    """The log of a partition, and what the group did with each offset."""

    start: int = 0
    end: int = 0
    committed: int | None = None
    has_lost_commit: bool = False
    taken_back: str = "commit_moved_back"
    delivered: dict[int, Delivered] = field(default_factory=dict[int, Delivered])
    passed: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def delivered_end(self) -> int | None:
        return max(self.delivered) + 1 if self.delivered else None


class ConsumerModel:
    """The group, its logs and the truth about them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.recorder = ConsumptionRecorder(lambda _: None, lambda: self.request_id)
        self.partitions = [Partition() for _ in range(self.random.choice([1, 2, 3]))]
        self.has_one_client_id = self.random.random() < 0.3
        self.consumers: list[Consumer] = []
        self.former: list[Consumer] = []
        self.truth: set[Truth] = set()
        self.has_faults = True
        self.request_id = self.generation = self.names = self.turn = 0

    # -- the log

    def produce(self) -> None:
        partition = self.random.choice(self.partitions)
        partition.end += self.random.randint(1, 6)

    def delete(self) -> None:
        """Retention deletes the first records."""
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        start = min(partition.end, partition.start + self.random.randint(1, 6))
        deleted = DeletedRecords(partition.start, start, DeletionCause.RETENTION_MS, 0)
        partition.start = start
        self.recorder.deleted(TOPIC, index, deleted)

    def truncate(self) -> None:
        """An unclean election takes back the last records."""
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        partition.end = max(partition.start, partition.end - self.random.randint(1, 4))
        for offset in [each for each in partition.delivered if each >= partition.end]:
            del partition.delivered[offset]
            self.add("delivered_and_truncated", "truncated", index, offset)
        partition.passed = {offset: why for offset, why in partition.passed.items() if offset < partition.end}
        if partition.committed is not None:
            self._pass(partition, partition.end, partition.committed, "truncated")
        for consumer in self.consumers:
            place = consumer.places.get(index)
            if place is None:
                continue
            place.truncate(partition.end, is_unaware=self.random.random() < 0.5)
        self.recorder.truncated(TOPIC, index, partition.end)

    def find_ends(self, topic: str, partition: int) -> LogEnds:
        del topic
        each = self.partitions[partition]
        return LogEnds(each.start, each.end, each.end)

    def keys(self, topic: str, partition: int, first: int, end: int) -> list[str]:
        del topic, partition, first, end
        return []

    # -- members

    def join(self) -> None:
        if len(self.consumers) < 3:
            self.consumers.append(self._new_consumer())
            self._rebalance()

    def crash(self) -> None:
        """A consumer is gone, without a commit."""
        if self.consumers:
            self._remove(self.random.choice(self.consumers))
            self._rebalance()

    def restart(self) -> None:
        """A consumer crashes, and its successor joins."""
        if self.consumers:
            gone = self.random.choice(self.consumers)
            self._remove(gone)
            self.consumers.append(self._new_consumer(gone.client_id))
            self._rebalance()

    def rebalance_after_commits(self) -> None:
        self._commit_positions()
        self._rebalance()

    def _commit_positions(self) -> None:
        for consumer in self.consumers:
            for index in list(consumer.places):
                self._commit_position(consumer, index)

    def rebalance_over_a_fetch(self) -> None:
        """A consumer gets records by a Fetch from before it begins again after a rebalance, and drops them."""
        self._with_place(self._rebalance_over_a_fetch)

    def _rebalance_over_a_fetch(self, consumer: Consumer, index: int) -> None:
        place, partition = consumer.places[index], self.partitions[index]
        if not place.is_settled or place.is_unaware or place.position < partition.start:
            return
        offsets = range(place.position, min(partition.end, place.position + 3))
        is_new = place.back_until <= offsets.start and partition.delivered.keys().isdisjoint(offsets)
        request, is_early = self._request(consumer), self.random.random() < 0.5
        request.request_id = self.request_id

        def between() -> None:
            if is_new and index in consumer.places and self.random.random() < 0.5:
                # The consumer has not got its assignment yet.
                self.request_id += 1
                request.request_id = self.request_id
            if is_early:
                self._report_late(request, index, offsets)

        self._commit_positions()
        self._rebalance(between)
        if not is_early:
            self._report_late(request, index, offsets)
        for offset in offsets:
            partition.delivered.setdefault(offset, Delivered(consumer, is_late=True))

    def _report_late(self, request: FakeRequest, index: int, offsets: range) -> None:
        if offsets:
            self.recorder.fetched(request, [(TOPIC.encode(), _answer(index, offsets.start, offsets.stop))])
            self.recorder.written(request.request_id)

    def _new_consumer(self, client_id: str | None = None) -> Consumer:
        self.names += 1
        own = "worker" if self.has_one_client_id else f"worker-{self.names}"
        return Consumer(f"member-{self.names}", client_id or own, FakeConnection(self.names), self.turn + 1)

    def _remove(self, consumer: Consumer) -> None:
        consumer.left = self.turn + 1
        self.consumers.remove(consumer)
        self.former.append(consumer)

    def _rebalance(self, between: Callable[[], object] = lambda: None) -> None:
        """Assign the partitions. between: what happens before their owners ask for the committed offsets."""
        self.turn += 1
        self.generation += 1
        self.random.shuffle(self.consumers)
        for consumer in self.consumers:
            consumer.places.clear()
        for index, partition in enumerate(self.partitions):
            if self.consumers:
                owner = self.consumers[index % len(self.consumers)]
                owner.places[index] = self._start(partition)
        members = tuple(
            MemberMetadata(
                member_id=each.name,
                client_id=each.client_id,
                client_host="/127.0.0.1",
                session_timeout=1000,
                subscription=b"",
                assignment=_assignment(list(each.places)),
            )
            for each in self.consumers
        )
        value = GroupMetadataValue(
            protocol_type="consumer",
            generation=self.generation,
            protocol="range",
            leader=members[0].member_id if members else None,
            current_state_timestamp=0,
            members=members,
        )
        self.recorder.add(GroupRecords(GROUP, [(GroupMetadataKey(GROUP).encode(), value.encode())]))
        between()
        for consumer in self.consumers:
            for index in consumer.places:
                self.recorder.asked(self._request(consumer), GROUP, TOPIC, [index])

    def _start(self, partition: Partition) -> Place:
        if partition.committed is not None:
            return Place(partition.committed, expected=partition.committed)
        why = "reset" if partition.has_lost_commit else "start"
        position = self.random.choice([partition.start, partition.end])
        return Place(position, why)

    # -- fetches

    def fetch(self) -> None:
        self._with_place(self._fetch)

    def fetch_without_response(self) -> None:
        self._with_place(lambda consumer, index: self._fetch(consumer, index, is_written=False))

    def hang(self) -> None:
        def hang(consumer: Consumer, index: int) -> None:
            place = consumer.places[index]
            if place.why == "seek" or place.has_jumped or place.is_unaware or place.back_until > place.position:
                return
            first = place.position
            end = self._fetch(consumer, index)
            if end is None or place.position == first:
                return
            is_hanging = self.random.random() < 0.5
            for _ in range(5 if is_hanging else 1):
                self._report(consumer, index, first, end)
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
            if target == place.position or target == self._last_first.get((consumer.name, index)):
                return
            if target > place.position:
                place.why = "seek"
            else:
                place.back_until = max(place.back_until, place.position)
            place.position, place.has_jumped = target, True

        self._with_place(seek)

    _last_first: dict[tuple[str, int], int]

    def _fetch(self, consumer: Consumer, index: int, *, is_written: bool = True) -> int | None:
        """Fetch from the position. Return the end of what was delivered."""
        place, partition = consumer.places[index], self.partitions[index]
        if not partition.start <= place.position <= partition.end:
            self._fetch_out_of_range(consumer, index)
            return None
        if place.position == partition.end:
            return None
        first = place.position
        end = min(partition.end, first + self.random.randint(1, 5))
        if not is_written:
            request = self._request(consumer)
            self.recorder.fetched(request, [(TOPIC.encode(), _answer(index, first, end))])
            self.recorder.numbered(self.request_id, consumer.connection, is_written=False)
            self.recorder.lost(self.request_id)
            return None
        self._report(consumer, index, first, end)
        if not place.is_settled or place.is_unaware:
            expected = partition.delivered_end if place.expected is None else place.expected
            if expected is not None:
                cause = "seek" if place.why == "seek" else "reset_to_latest"
                cause = "truncated" if place.is_unaware else cause
                self._pass(partition, expected, first, cause)
        for offset in range(first, end):
            self._deliver(consumer, place, index, offset)
        place.position, place.is_new, place.has_jumped, place.out_of_range = end, False, False, False
        place.expected = place.came_to = end
        place.was_truncated = place.is_unaware = False
        self._last_first[consumer.name, index] = first
        return end

    def _pass(self, partition: Partition, first: int, end: int, cause: str) -> None:
        for offset in range(first, end):
            if offset not in partition.delivered and offset not in partition.passed:
                partition.passed[offset] = "deleted_before_read" if offset < partition.start else cause

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
            elif self._is_restart(before.by, consumer):
                cause = "restart_before_commit"
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
        answer = FetchedPartition(index, ErrorCode.OFFSET_OUT_OF_RANGE, fetch_offset=place.position)
        self.recorder.fetched(self._request(consumer), [(TOPIC.encode(), answer)])
        self.recorder.numbered(self.request_id, consumer.connection, is_written=True)
        if not place.out_of_range:
            place.expected = min(place.position, place.came_to) if place.was_truncated else place.position
        place.out_of_range, place.why, place.back_until, place.is_unaware = True, "reset", 0, False
        place.position = self.random.choice([partition.start, partition.end])

    def _report(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        """Report a Fetch that is written, at once or after a wait."""
        self.recorder.fetched(self._request(consumer), [(TOPIC.encode(), _answer(index, first, end))])
        is_late = self.random.random() < 0.3
        self.recorder.numbered(self.request_id, consumer.connection, is_written=not is_late)
        if is_late:
            self.recorder.written(self.request_id)

    # -- commits

    def commit(self) -> None:
        self._with_place(self._commit_position)

    def commit_back(self) -> None:
        def back(consumer: Consumer, index: int) -> None:
            committed = self.partitions[index].committed
            if committed:
                self._commit(consumer, index, self.random.randrange(committed))

        self._with_place(back)

    def commit_beyond(self) -> None:
        def beyond(consumer: Consumer, index: int) -> None:
            place = consumer.places[index]
            if place.is_settled and place.is_unaware == place.was_truncated:
                self._commit(consumer, index, place.position + self.random.randint(1, 4))

        self._with_place(beyond)

    def commit_for_another(self) -> None:
        """A member commits a partition of another one, and it is accepted."""
        if len(self.consumers) < 2:
            return
        consumer, other = self.random.sample(self.consumers, 2)
        delivered = [index for index in other.places if self.partitions[index].delivered]
        if delivered:
            index = self.random.choice(delivered)
            if self._commit(consumer, index, self.random.choice(list(self.partitions[index].delivered))):
                self.add("stale_member_committed", "accepted", index, -1)

    def commit_refused(self) -> None:
        if self.former and self.former[-1].places:
            consumer = self.former[-1]
            index = self.random.choice(list(consumer.places))
            self.add("stale_member_committed", "refused", index, -1)
            self._report_commit(consumer, index, 1)
            self.recorder.refused(ErrorCode.UNKNOWN_MEMBER_ID)
            self.recorder.numbered(self.request_id, consumer.connection, is_written=True)

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
            self._pass(partition, expected, offset, "reset")
        self._set_committed(index, offset)
        self.recorder.add(GroupRecords(GROUP, [_offset_record(index, offset)]))

    def lose_commits(self) -> None:
        """The committed offset of a partition expires."""
        index = self.random.randrange(len(self.partitions))
        partition = self.partitions[index]
        if partition.committed is not None:
            partition.committed, partition.has_lost_commit, partition.taken_back = None, True, "reset"
            self.recorder.add(GroupRecords(GROUP, [(OffsetCommitKey(GROUP, TOPIC, index).encode(), None)]))

    def _commit_position(self, consumer: Consumer, index: int) -> None:
        place = consumer.places[index]
        if place.is_settled:
            self._commit(consumer, index, place.position)

    def _commit(self, consumer: Consumer, index: int, offset: int) -> bool:
        """Commit an offset, in a transaction or without. Return whether it took effect."""
        partition = self.partitions[index]
        is_transactional, is_aborted = self.random.random() < 0.2, self.random.random() < 0.3
        is_aborted = is_aborted and self.has_faults
        self._report_commit(consumer, index, offset)
        producer_id = PRODUCER if is_transactional else -1
        self.recorder.add(GroupRecords(GROUP, [_offset_record(index, offset)], 0, producer_id))
        self.recorder.numbered(self.request_id, consumer.connection, is_written=True)
        if is_transactional:
            self.recorder.add(EndedTransaction(0, PRODUCER, not is_aborted))
            if is_aborted:
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
        if place is not None and place.is_unaware and place.expected is not None:
            self._pass(partition, max(expected, place.expected), min(offset, place.position), "truncated")
        for each in range(expected, offset):
            if each not in partition.delivered and each not in partition.passed:
                self.add("commit_beyond_delivery", "member", index, each)
        self._pass(partition, expected, offset, "committed_beyond_delivery")

    def _set_committed(self, index: int, offset: int) -> None:
        partition = self.partitions[index]
        partition.committed = offset
        for each, delivered in partition.delivered.items():
            delivered.is_committed |= each < offset

    def _report_commit(self, consumer: Consumer, index: int, offset: int) -> None:
        commit = (GROUP, consumer.name, self.generation)
        self.recorder.committing(self._request(consumer), commit, [Offset(TOPIC, index, offset)])

    # -- the run

    def _request(self, consumer: Consumer) -> FakeRequest:
        self.request_id += 1
        return FakeRequest(consumer.connection, consumer.client_id)

    def _with_place(self, act: Callable[[Consumer, int], object]) -> None:
        places = [(consumer, index) for consumer in self.consumers for index in consumer.places]
        if places:
            act(*self.random.choice(places))

    def add(self, kind: str, cause: str, index: int, offset: int) -> None:
        self.truth.add((kind, cause, index, offset))

    def run(self, steps: int, *, with_faults: bool = True) -> None:
        self._last_first = {}
        self.has_faults = with_faults
        clean = [self.produce, self.fetch, self.fetch, self.commit, self.fetch_without_response]
        clean += [self.rebalance_after_commits, self.rebalance_over_a_fetch] if not with_faults else []
        faults = [
            self.join, self.crash, self.restart, self.rebalance_after_commits, self.rebalance_over_a_fetch, self.hang,
            self.seek, self.commit_back, self.commit_beyond, self.commit_for_another, self.commit_refused,
            self.administrator_commits, self.lose_commits, self.delete, self.truncate,
        ]  # fmt: skip
        self.join()
        planted = self.random.sample(faults, self.random.randint(1, 4)) if with_faults else []
        for _ in range(steps):
            self.random.choice(clean if not planted or self.random.random() < 0.75 else planted)()

    def expected(self) -> set[Truth]:
        """Return the truth, with what was passed over and never delivered."""
        found = set(self.truth)
        for index, partition in enumerate(self.partitions):
            expected = partition.delivered_end if partition.committed is None else partition.committed
            if expected is not None:
                self._pass(partition, expected, partition.start, "deleted_before_read")
            for offset, why in partition.passed.items():
                if offset not in partition.delivered and offset < partition.end:
                    found.add(("never_delivered", why, index, offset))
        return found


def _answer(index: int, first: int, end: int) -> FetchedPartition:
    return FetchedPartition(index, ErrorCode.NONE, records_bytes=1, fetch_offset=first, last_offset=end - 1)


def _offset_record(index: int, offset: int) -> tuple[bytes, bytes]:
    value = OffsetCommitValue(offset=offset, commit_timestamp=0)
    return OffsetCommitKey(GROUP, TOPIC, index).encode(), value.encode()


def _assignment(partitions: list[int]) -> bytes:
    writer = Writer()
    writer.int16(0)
    assigned = ConsumerProtocolAssignment(
        assigned_partitions=[TopicPartition(topic=TOPIC, partitions=partitions)] if partitions else []
    )
    assigned.write(writer, 0)
    return writer.getvalue()
