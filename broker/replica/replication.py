"""What the leader of a partition knows of its followers: their offsets, the ISR and the high watermark.

- A follower that can fetch has each batch before the leader's append returns. One that cannot, because it is dead,
  paused or cut off, stays behind and catches up later (replica_fetchers).
- The high watermark is the lowest log end of the ISR. It stands still while the ISR has fewer members than
  min.insync.replicas, and it never moves back.
- A follower leaves the ISR when it has been behind for replica.lag.time.max.ms of the broker's clock, and joins it when
  it has reached the high watermark. The leader proposes either, and the controller decides: a leader that cannot reach
  the controller keeps its ISR.
- Writes with acks=all wait until the high watermark has passed them, or for their timeout.
Source: Partition, Replica and DelayedProduce, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ...protocol.error_codes import ErrorCode
from ...storage.append_refused import AppendRefused

if TYPE_CHECKING:
    from ...storage.append_result import AppendResult
    from ...storage.partition_log import PartitionLog
    from ..metadata.metadata_image import PartitionRegistration
    from ..runtime.clock import Clock, Timer


class Replica(Protocol):
    """A partition on one node, as its leader and its followers use it."""

    topic_name: str
    topic_id: bytes
    index: int
    leader_epoch: int

    @property
    def log(self) -> PartitionLog:
        """The log, created on first use. Raises AppendRefused."""
        ...

    def find_log(self) -> PartitionLog | None:
        """Return the log, or None if it was never used."""
        ...

    def stored_batch(self, result: AppendResult) -> memoryview:
        """Return the batch of an append as the log has it."""
        ...

    def append_fetched(self, batch: memoryview, now_ms: int, source: PartitionLog | None = None) -> bool:
        """Append a batch of the leader's log, and return whether that was possible."""
        ...

    def follow_high_watermark(self, leader_log: PartitionLog) -> None:
        """Take over the high watermark and the log start of the leader."""
        ...

    def wake(self) -> None:
        """Call the waiting requests."""
        ...


# Called with the error code of a write whose wait is over.
WriteDone = Callable[[ErrorCode], None]
# Proposes an ISR for a partition to the controller, and returns whether it is in force.
AlterIsr = Callable[[Replica, Sequence[int]], bool]
# Has the followers of a leader that do not fetch begin again after a time.
FetchLater = Callable[[Replica], None]

UNKNOWN_OFFSET = -1


class Follower:
    """A follower as its leader knows it (Kafka: cluster/Replica).

    partition: the partition on the follower's node; None before its first fetch. end_offset: of its log, or
    UNKNOWN_OFFSET. is_fetching: whether it gets each append. caught_up_ms: when it last had the whole log.
    """

    __slots__ = ("caught_up_ms", "end_offset", "is_fetching", "node_id", "partition")

    def __init__(self, node_id: int, now_ms: int) -> None:
        """Create a follower that has not fetched yet."""
        self.node_id = node_id
        self.partition: Replica | None = None
        self.end_offset = UNKNOWN_OFFSET
        self.is_fetching = False
        self.caught_up_ms = now_ms


class Replication:
    """The replication of one partition on its leader, for one leader epoch."""

    __slots__ = (
        "_alter_isr",
        "_clock",
        "_fetch_later",
        "_leader",
        "_leader_epoch",
        "_node_id",
        "_waiting",
        "epoch_start_offset",
        "followers",
        "isr",
    )

    def __init__(
        self, leader: Replica, node_id: int, clock: Clock, alter_isr: AlterIsr, fetch_later: FetchLater
    ) -> None:
        """leader: the partition on this node, node_id. alter_isr: asks the controller for another ISR."""
        self._leader = leader
        self._leader_epoch = leader.leader_epoch
        self._node_id = node_id
        self._clock = clock
        self._alter_isr = alter_isr
        self._fetch_later = fetch_later
        self.followers: dict[int, Follower] = {}
        self.isr: list[int] = []
        # Where the epoch of this leader begins. Offsets before the high watermark has passed it are of earlier leaders.
        log = leader.find_log()
        self.epoch_start_offset = 0 if log is None else log.log_end_offset
        self._waiting: list[_WaitingWrite] = []

    def apply(self, registration: PartitionRegistration) -> None:
        """Apply the replicas and the ISR of the image."""
        self.isr = list(registration.isr)
        others = [node_id for node_id in registration.replicas if node_id != self._node_id]
        now_ms = self._clock.steady_ms()
        self.followers = {node_id: self.followers.get(node_id) or Follower(node_id, now_ms) for node_id in others}
        self.advance()

    # -- appends

    def appended(self, result: AppendResult, now_ms: int) -> None:
        """Have the followers that fetch append the stored batch too, and move the high watermark.

        A follower whose files fail stops to fetch, and begins again later.
        """
        batch: memoryview | None = None
        for follower in self.followers.values():
            if follower.is_fetching and follower.partition is not None:
                batch = batch or self._leader.stored_batch(result)
                if follower.partition.append_fetched(batch, now_ms, self._leader.log):
                    follower.end_offset = result.last_offset + 1
                else:
                    # Its files fail. The leader goes on.
                    self.stop_fetching(follower)
                    self._fetch_later(self._leader)
        self.advance()

    def stop_fetching(self, follower: Follower) -> None:
        """Note that a follower does not get the next appends."""
        if follower.is_fetching:
            follower.is_fetching = False
            follower.caught_up_ms = self._clock.steady_ms()

    def has_caught_up(self, follower: Follower, partition: Replica) -> None:
        """Note that a follower has the whole log, and gets each append from now on."""
        follower.partition, follower.is_fetching = partition, True
        log = self._leader.find_log()
        follower.end_offset = 0 if log is None else log.log_end_offset
        follower.caught_up_ms = self._clock.steady_ms()
        self.advance()
        self.expand_isr()

    # -- high watermark

    @property
    def min_isr(self) -> int:
        """How many replicas must be in sync (min.insync.replicas); at most all of them."""
        return min(self._leader.log.config.min_insync_replicas, len(self.followers) + 1)

    @property
    def is_under_min_isr(self) -> bool:
        """Whether too few replicas are in sync."""
        return len(self.isr) < self.min_isr

    def check_min_isr(self) -> None:
        """Raise AppendRefused NOT_ENOUGH_REPLICAS if too few replicas are in sync for a write with acks=all."""
        if self.is_under_min_isr:
            place = f"{self._leader.topic_name}-{self._leader.index}"
            refused = AppendRefused(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"in-sync replicas {self.isr} of {place}, min.insync.replicas is {self.min_isr}",
            )
            refused.log_start_offset = self._leader.log.log_start_offset
            raise refused

    @property
    def is_high_watermark_known(self) -> bool:
        """Whether the high watermark of this leader is not behind that of earlier leaders."""
        return self._leader.log.high_watermark >= self.epoch_start_offset

    def advance(self) -> None:
        """Move the high watermark to the lowest log end of the ISR, here and on the followers that fetch."""
        log = self._leader.find_log()
        if log is None:
            return
        if not self.is_under_min_isr:
            self._advance(log)
        for follower in self.followers.values():
            if follower.is_fetching and follower.partition is not None:
                follower.partition.follow_high_watermark(log)

    def _advance(self, log: PartitionLog) -> None:
        offset = log.log_end_offset
        for node_id in self.isr:
            follower = self.followers.get(node_id)
            if follower is not None and follower.end_offset < offset:
                offset = follower.end_offset
        if log.replicated_offset is None or offset > log.replicated_offset:
            log.replicated_offset = offset
            if self._waiting:
                self._complete_writes(offset)
            self._leader.wake()

    # -- writes that wait

    def must_wait(self, end_offset: int) -> bool:
        """Whether a write up to end_offset is not replicated yet."""
        replicated_offset = self._leader.log.replicated_offset
        return replicated_offset is not None and replicated_offset < end_offset

    def when_replicated(self, end_offset: int, timeout_ms: int, done: WriteDone) -> None:
        """Call done when the high watermark has passed a write: NONE, or REQUEST_TIMED_OUT after timeout_ms.

        Without leadership, done gets NOT_LEADER_OR_FOLLOWER.
        """
        if not self.must_wait(end_offset):
            done(ErrorCode.NONE)
            return
        self._waiting.append(_WaitingWrite(end_offset, done, self._clock, timeout_ms, self._waiting))

    def _complete_writes(self, offset: int) -> None:
        for write in [write for write in self._waiting if write.end_offset <= offset]:
            write.end(ErrorCode.NONE)

    def continue_writes_of(self, earlier: Replication) -> None:
        """Have the writes that wait for an earlier epoch of this leader wait for this one."""
        self._waiting = earlier._waiting

    def end_writes(self, error_code: ErrorCode) -> None:
        """Complete the writes that wait: this node leads no more, no other has a replica, or the topic was deleted."""
        for write in list(self._waiting):
            write.end(error_code)

    def drop_waiting(self) -> None:
        """Drop the writes that wait, because the node died."""
        for write in list(self._waiting):
            write.cancel()

    # -- ISR

    def expand_isr(self) -> None:
        """Propose an ISR with the followers that have reached the high watermark and this leader's epoch."""
        log = self._leader.find_log()
        bound = max(0 if log is None else log.high_watermark, self.epoch_start_offset)
        joining = [
            follower.node_id
            for follower in self.followers.values()
            if follower.is_fetching and follower.node_id not in self.isr and follower.end_offset >= bound
        ]
        for node_id in joining:
            # One by one: the controller refuses a replica whose broker may not lead. The change of the ISR before may
            # have added others.
            if node_id not in self.isr:
                self._propose(sorted([*self.isr, node_id]))

    def _propose(self, isr: Sequence[int]) -> None:
        """Propose an ISR, unless a proposal before it has ended this epoch."""
        if self._leader.leader_epoch == self._leader_epoch:
            self._alter_isr(self._leader, isr)

    def shrink_isr(self, lag_max_ms: int) -> None:
        """Propose an ISR without the followers that have been behind for lag_max_ms."""
        log, now_ms = self._leader.find_log(), self._clock.steady_ms()
        # Before the first record there may be no log.
        end_offset = 0 if log is None else log.log_end_offset
        lagging = {
            follower.node_id
            for follower in self.followers.values()
            if not follower.is_fetching
            and follower.end_offset != end_offset
            and now_ms - follower.caught_up_ms > lag_max_ms
        }
        if not lagging.isdisjoint(self.isr):
            self._propose([node_id for node_id in self.isr if node_id not in lagging])


class _WaitingWrite:
    """A write with acks=all that waits for the high watermark, in a list of them."""

    __slots__ = ("_done", "_others", "_timer", "end_offset")

    def __init__(
        self, end_offset: int, done: WriteDone, clock: Clock, timeout_ms: int, others: list[_WaitingWrite]
    ) -> None:
        self.end_offset = end_offset
        self._done = done
        self._others = others
        self._timer: Timer = clock.call_later(max(timeout_ms, 0), self._time_out)

    def _time_out(self) -> None:
        self.end(ErrorCode.REQUEST_TIMED_OUT)

    def cancel(self) -> None:
        self._timer.cancel()
        self._others.remove(self)

    def end(self, error_code: ErrorCode) -> None:
        self.cancel()
        self._done(error_code)
