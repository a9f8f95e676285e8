"""A share group with planted faults over a real share partition, which knows record by record what went wrong.

The model keeps a plain entry for each record: its deliveries, and how each of them ended. Responses are written, lost,
or written later. The share partition decides on locks, limits and states; the model only looks at who has what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from fauxka.broker.coordinators.share.share_locks import ShareLocks
from fauxka.broker.coordinators.share.share_outputs import ShareOutputs
from fauxka.broker.coordinators.share.share_partition import (
    ACCEPT,
    REJECT,
    RELEASE,
    AcquireLimits,
    ShareLimits,
    SharePartition,
)
from fauxka.faults.consumption.consumption_recorder import ConsumptionRecorder
from fauxka.faults.consumption.events import (
    ShareAcquired,
    ShareChange,
    ShareChanged,
    ShareRefused,
    ShareRequest,
    ShareReset,
    ShareStarted,
)
from fauxka.faults.consumption.group_history import GroupHistory
from fauxka.faults.consumption.judge import LogEnds, judge_group
from fauxka.faults.work_steps import Steps
from fauxka.protocol.error_codes import KafkaError
from fauxka.protocol.stored_records.share_state_records import ShareKey, StateBatch

from ..finished_steps import finished
from ..manual_clock import manual_clock
from .recorded_broker import FakeConnection

GROUP, TOPIC = "couriers", "orders"
TOPIC_ID = bytes(16)
LOCK_MS, DELIVERIES_MAX = 1000, 3
# Of groups whose partition is added late.
LATE_SHARE = 0.2

# Kind, cause, offset.
Truth = tuple[str, str, int]


@dataclass
class Delivery:
    """An acquisition of one record. ended: why it ended, None while the member has the record."""

    member: str
    request: ShareRequest
    ended: str | None = None


@dataclass
class Record:
    """One record. life: its deliveries since the last reset; was_delivered: those before. is_done: it gets no more."""

    life: list[Delivery] = field(default_factory=list[Delivery])
    was_delivered: list[Delivery] = field(default_factory=list[Delivery])
    is_done: bool = False

    @property
    def was_ever_delivered(self) -> bool:
        return any(each.request.is_written for each in [*self.was_delivered, *self.life])


class ShareGroupModel:
    """The group, its partition and the truth about both."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.clock = manual_clock()
        self.recorder = ConsumptionRecorder(lambda _: TOPIC)
        self.records: dict[int, Record] = {}
        self.log_start = self.log_end = self.request_id = 0
        self.open_requests: list[ShareRequest] = []
        # What is judged when all responses are known: an acquisition, those before it, and those before the reset.
        self.seconds: list[tuple[int, Delivery, list[Delivery], list[Delivery]]] = []
        self.ends: list[tuple[str, str, int, Delivery | None]] = []
        self.passed: dict[int, str] = {}
        self.written: dict[int, StateBatch] = {}
        self.has_reset = False
        self.start_offset = 0
        self.key = ShareKey(GROUP, TOPIC_ID, 0)
        if self.random.random() < LATE_SHARE:
            self._begin_late()
        self.partition = self._led()

    def _begin_late(self) -> None:
        """Have a partition that is added when the group uses the first one, and that the group begins at its end."""
        self.recorder.add(ShareStarted(self.key, 0, (), 0, 1))
        self.key = self.key._replace(partition=1)
        self.log_end = self.start_offset = self.random.randint(1, 5)
        self.passed = dict.fromkeys(range(self.log_end), "partition_seen_late")

    # -- the broker

    def _led(self) -> SharePartition:
        """Return the share partition as its leader restores it from what was written."""
        states = [self.written[offset] for offset in sorted(self.written) if offset >= self.start_offset]
        partition = SharePartition(
            self.start_offset,
            states,
            limits=lambda: ShareLimits(DELIVERIES_MAX, LOCK_MS, 1000),
            locks=ShareLocks(self.clock, "orders-0 of couriers"),
            outputs=ShareOutputs(self._write, self._report),
        )
        end = partition.end_offset + 1
        self.recorder.add(ShareStarted(self.key, self.log_start, partition.available(), end, self.key.partition + 1))
        return partition

    def _write(self, start_offset: int, complete_count: int, batches: tuple[StateBatch, ...]) -> None:
        del start_offset, complete_count
        for each in batches:
            for offset in range(each.first_offset, each.last_offset + 1):
                self.written[offset] = each._replace(first_offset=offset, last_offset=offset)

    def _report(self, changes: Sequence[ShareChange]) -> None:
        self.recorder.add(ShareChanged(self.key, changes))
        for change in changes:
            self._changed(change)

    def _changed(self, change: ShareChange) -> None:
        """Follow what the partition has done with locks: the model knows why."""
        if change.end.value in ("skipped", "deleted"):
            return
        for offset in range(change.first, change.last + 1):
            record = self.records[offset]
            last = record.life[-1]
            if change.end.value == "lock_ended":
                self.ends.append(("lock_ended", "lock_ended", offset, last))
            record.is_done = change.is_archived or change.end.value in ("accepted", "rejected")
            if change.end.value == "rejected":
                self.ends.append(("rejected", "member", offset, None))
            last.ended = change.end.value
            if change.is_archived:
                self.ends.append(("archived", change.end.value, offset, None))

    # -- actions

    def produce(self) -> None:
        self.log_end += self.random.randint(1, 5)

    def acquire(self) -> None:
        first = max(self.partition.next_fetch_offset(), self.log_start)
        if first >= self.log_end:
            return
        member = self.random.choice("abc")
        request = self._request(member)
        limits = AcquireLimits(self.random.randint(1, 6), 3, is_strict=True)
        acquired = self.partition.acquire(member, [(first, self.log_end - 1)], limits)
        for first, last, _ in acquired:
            for offset in range(first, last + 1):
                self._acquired(offset, Delivery(member, request))
        if acquired:
            self.recorder.add(ShareAcquired(request, self.key, acquired))
        self._number(request)

    def _acquired(self, offset: int, delivery: Delivery) -> None:
        record = self.records.setdefault(offset, Record())
        assert not record.is_done
        self.seconds.append((offset, delivery, list(record.life), list(record.was_delivered)))
        record.life.append(delivery)

    def _request(self, member: str) -> ShareRequest:
        request = ShareRequest(FakeConnection(1), GROUP, member)
        self.recorder.sharing(request)
        return request

    def _number(self, request: ShareRequest) -> None:
        """Write the response, now or later, or lose it."""
        self.request_id += 1
        is_now = self.random.random() < 0.7
        self.recorder.numbered(self.request_id, request.connection, is_written=is_now)
        if not is_now:
            self.open_requests.append(request)

    def answer(self) -> None:
        """Write or lose an open response."""
        if self.open_requests:
            request = self.open_requests.pop(self.random.randrange(len(self.open_requests)))
            if self.random.random() < 0.5:
                self.recorder.written(request.request_id)
            else:
                self.recorder.lost(request.request_id)

    def _answer_all(self) -> None:
        while self.open_requests:
            self.answer()

    def _held(self) -> list[tuple[str, int]]:
        return [
            (record.life[-1].member, offset)
            for offset, record in sorted(self.records.items())
            if not record.is_done and record.life and record.life[-1].ended is None
        ]

    def acknowledge(self) -> None:
        held = self._held()
        if held:
            member, first = self.random.choice(held)
            last = first
            while (member, last + 1) in held and self.random.random() < 0.7:
                last += 1
            how = self.random.choice([ACCEPT, ACCEPT, ACCEPT, RELEASE, REJECT])
            request = self._request(member)
            self.recorder.add(request)
            self.partition.acknowledge(member, [(first, last, [how])])
            self._number(request)

    def acknowledge_late(self) -> None:
        """A member acknowledges records that another one has, or none has any more."""
        held = {offset: member for member, offset in self._held()}
        start = self.partition.start_offset
        for offset, record in sorted(self.records.items()):
            if offset < start or record.is_done or not record.life:
                continue
            member = record.life[0].member
            if held.get(offset) == member:
                continue
            request = self._request(member)
            self.recorder.add(request)
            try:
                self.partition.acknowledge(member, [(offset, offset, [ACCEPT])])
            except KafkaError as error:
                self.recorder.add(ShareRefused(request, self.key, [(offset, offset)], error.code))
                self.ends.append(("acknowledgement_refused", "refused", offset, None))
            self._number(request)
            return

    def leave(self) -> None:
        self.partition.release(self.random.choice("abc"))

    def end_locks(self) -> None:
        self.clock.advance(LOCK_MS)

    def crash(self) -> None:
        """The leader restarts: locks are gone."""
        self.partition.close()
        for _, offset in self._held():
            self.records[offset].life[-1].ended = "broker_restart"
        self.partition = self._led()

    def reset(self) -> None:
        """An administrator sets the start offset of a group without members."""
        self._answer_all()
        for member in "abc":
            self.partition.release(member)
        end = self.partition.end_offset + 1
        self.partition.close()
        self.recorder.add(ShareReset(self.key))
        self.start_offset = self.random.randint(self.log_start, self.log_end)
        self.written.clear()
        for offset in range(min(end, self.partition.start_offset), self.start_offset):
            if not self._is_done(offset) and offset >= self.log_start:
                self.passed.setdefault(offset, "start_offset_reset")
        for record in self.records.values():
            record.was_delivered += record.life
            record.life, record.is_done = [], False
        self.partition = self._led()

    def _is_done(self, offset: int) -> bool:
        return offset in self.records and self.records[offset].is_done

    def delete(self) -> None:
        """Retention deletes the first records."""
        self._answer_all()
        self.log_start = self.random.randint(self.log_start, min(self.log_end, self.log_start + 3))
        for offset in range(self.partition.start_offset, self.log_start):
            record = self.records.get(offset)
            if record is None or (not record.life and not record.is_done):
                self.passed.setdefault(offset, "deleted_before_read")
            elif not record.is_done and record.was_ever_delivered:
                if record.life[-1].ended is not None:
                    self.ends.append(("archived", "deleted_before_read", offset, None))
            elif not record.is_done:
                self.passed.setdefault(offset, "deleted_before_read")
        self.partition.advance_to_log_start(self.log_start)
        for offset in range(self.log_start):
            self.records.setdefault(offset, Record()).is_done = True

    def truncate(self) -> None:
        """An unclean election takes back the last records, with what the group has stored of them."""
        self._answer_all()
        end = max(self.log_start, self.log_end - self.random.randint(1, 4))
        self.partition.close()
        for _, offset in self._held():
            self.records[offset].life[-1].ended = "broker_restart"
        for offset in [each for each in self.records if each >= end]:
            record = self.records.pop(offset)
            if record.was_ever_delivered:
                self.ends.append(("delivered_and_truncated", "truncated", offset, None))
        self.passed = {offset: why for offset, why in self.passed.items() if offset < end}
        self.written = {offset: state for offset, state in self.written.items() if offset < end}
        self.log_end, self.start_offset = end, min(self.start_offset, end)
        self.recorder.truncated(TOPIC, self.key.partition, end)
        self.partition = self._led()

    def run(self, steps: int) -> None:
        clean = [self.produce, self.acquire, self.acquire, self.acknowledge, self.answer]
        faults = [self.acknowledge_late, self.leave, self.end_locks, self.crash, self.reset, self.delete, self.truncate]
        planted = self.random.sample(faults, self.random.randint(1, 4))
        for _ in range(steps):
            self.random.choice(clean if self.random.random() < 0.75 else planted)()
        self._answer_all()

    # -- the truth

    def has_partition(self, topic: str, partition: int) -> bool:
        del partition
        return topic == TOPIC

    def find_ends(self, topic: str, partition: int) -> LogEnds:
        del topic, partition
        return LogEnds(self.log_start, self.log_end, self.log_end)

    def keys(self, topic: str, partition: int, first: int, end: int) -> Steps[list[str]]:
        del topic, partition, first, end
        yield
        return []

    def may_have_records(
        self, topic: str, partition: int, offsets: tuple[int, int], *, committed_only: bool
    ) -> Steps[bool]:
        del topic, partition, offsets, committed_only
        yield
        return True

    def found(self) -> set[Truth]:
        """Return the findings of the verdict as truths."""
        verdict = finished(judge_group(GROUP, self.recorder.histories.groups.get(GROUP, GroupHistory()), self))
        assert verdict.findings_left_out == 0
        return {
            (each.kind, each.cause, offset)
            for each in verdict.findings
            for offset in range(each.offsets[0], each.offsets[1] + 1)
        }

    def expected(self) -> set[Truth]:
        found: set[Truth] = set()
        for offset, delivery, life, lives_before in self.seconds:
            causes = [each.ended or "none" for each in life if each.request.is_written]
            if not causes and any(each.request.is_written for each in lives_before):
                causes = ["start_offset_reset"]
            if delivery.request.is_written and causes:
                found.add(("delivered_twice", causes[-1], offset))
        for kind, cause, offset, ended in self.ends:
            if ended is None or ended.request.is_written:
                found.add((kind, cause, offset))
        for offset, cause in self.passed.items():
            if not self.records.get(offset, Record()).was_ever_delivered:
                found.add(("never_delivered", cause, offset))
        return found
