"""A share partition agrees with its model under random fetches, acknowledgements, expired locks and crashes."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.internal_topics import CoordinatorType
from fauxka.broker.coordinators.share.share_locks import ShareLocks
from fauxka.broker.coordinators.share.share_outputs import ShareOutputs
from fauxka.broker.coordinators.share.share_partition import (
    ACCEPT,
    REJECT,
    RELEASE,
    RENEW,
    AcquireLimits,
    ShareLimits,
    SharePartition,
)
from fauxka.broker.coordinators.share.share_state import ANY_EPOCH, ShareStateChange, ShareStates
from fauxka.faults.consumption.events import ShareChange
from fauxka.protocol.error_codes import KafkaError
from fauxka.protocol.stored_records.share_state_records import ShareKey, StateBatch

from ..manual_clock import manual_clock
from ..run_counts import examples
from .share_partition_model import ACQUIRED, ShareModel

LOCK_MS, BATCH = 1000, 3
KEY = ShareKey("group", bytes(range(16)), 0)
members = st.sampled_from(["a", "b", "c"])
offsets = st.integers(0, 20)


class Sharing(RuleBasedStateMachine):
    """Applies every rule to the partition and to the model."""

    @initialize(updates=st.sampled_from([0, 2, 500]), deliveries_max=st.sampled_from([2, 3, 5]))
    def begin(self, updates: int, deliveries_max: int) -> None:
        self.limits = ShareLimits(deliveries_max, LOCK_MS, 1000)
        self.clock = manual_clock()
        self.reported: list[ShareChange] = []
        config = {"share.coordinator.snapshot.update.records.per.snapshot": str(updates)}
        self.cluster = Cluster(BrokerConfig.from_entries(config), clock=self.clock)
        self.states = self._states()
        self.states.initialize(KEY, 1, 0)
        self.partition = self._led()
        self.model = ShareModel(deliveries_max, LOCK_MS)
        # The delivery counts that were last written.
        self.written: dict[int, int] = {}
        self.log_end = 0

    def _states(self) -> ShareStates:
        return ShareStates(
            self.cluster.node.replicas, self.cluster.node.coordinators.coordinator_log(CoordinatorType.SHARE)
        )

    def _led(self) -> SharePartition:
        state = self.states.find(KEY)
        assert state is not None
        return SharePartition(
            state.start_offset,
            state.batches,
            limits=lambda: self.limits,
            locks=ShareLocks(self.clock, "orders-0 of group"),
            outputs=ShareOutputs(self._write, self.reported.extend),
        )

    def _write(self, start_offset: int, complete_count: int, batches: tuple[StateBatch, ...]) -> None:
        change = ShareStateChange(ANY_EPOCH, ANY_EPOCH, start_offset, complete_count, batches)
        self.states.update(KEY, change)

    @rule(batches=st.integers(1, 2))
    def produce(self, batches: int) -> None:
        self.log_end += batches * BATCH

    @rule(member=members, records_max=st.integers(1, 12), is_strict=st.booleans())
    def acquire(self, member: str, records_max: int, is_strict: bool) -> None:
        first = self.partition.next_fetch_offset() // BATCH * BATCH
        fetched = [(base, base + BATCH - 1) for base in range(first, self.log_end, BATCH)]
        if not fetched:
            return
        got = self.partition.acquire(member, fetched, AcquireLimits(records_max, 4, is_strict))
        for acquired in got:
            for offset in range(acquired.first_offset, acquired.last_offset + 1):
                self.model.acquired(offset, member, acquired.delivery_count, self.clock.now_ms())
        count = sum(each.last_offset - each.first_offset + 1 for each in got)
        assert not is_strict or count <= records_max

    @rule(
        member=members, first=offsets, length=st.integers(1, 6), how=st.sampled_from([ACCEPT, REJECT, RELEASE, RENEW])
    )
    def acknowledge(self, member: str, first: int, length: int, how: int) -> None:
        last = first + length - 1
        begin = max(first, self.partition.start_offset)
        may = self.model.owns(member, begin, last)
        try:
            self.partition.acknowledge(member, [(first, last, [how])])
        except KafkaError:
            assert not may
            return
        assert may or last < begin
        if last >= begin:
            self._follow(begin, last, how)

    def _follow(self, first: int, last: int, how: int) -> None:
        if how == RENEW:
            self.model.renewed(first, last, self.clock.now_ms())
            return
        if how == RELEASE:
            self.model.released(first, last)
        else:
            self.model.done(first, last)
        self._note_written(first, last)

    def _note_written(self, first: int, last: int) -> None:
        self.written |= {offset: self.model.records[offset].deliveries for offset in range(first, last + 1)}

    @rule(member=members)
    def leave(self, member: str) -> None:
        self.partition.release(member)
        for offset in self._acquired():
            if self.model.records[offset].member == member:
                self.model.released(offset, offset)
                self._note_written(offset, offset)

    def _acquired(self) -> list[int]:
        return [offset for offset, record in self.model.records.items() if record.state == ACQUIRED]

    @rule(ms=st.sampled_from([1, 400, LOCK_MS]))
    def wait(self, ms: int) -> None:
        acquired = self._acquired()
        self.clock.advance(ms)
        self.model.passed(self.clock.now_ms())
        for offset in acquired:
            if self.model.records[offset].state != ACQUIRED:
                self._note_written(offset, offset)

    @rule()
    def crash(self) -> None:
        self.partition.close()
        self.states = self._states()
        self.states.load()
        self.partition = self._led()
        self.model.crashed(self.written)

    @invariant()
    def start_offsets_agree(self) -> None:
        assert self.partition.start_offset == self.model.start_offset()

    @invariant()
    def next_fetch_offsets_agree(self) -> None:
        free = [offset for offset, record in sorted(self.model.records.items()) if record.state == "available"]
        expected = free[0] if free else max(self.model.records, default=-1) + 1
        assert self.partition.next_fetch_offset() == expected


TestSharing = Sharing.TestCase
TestSharing.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)
