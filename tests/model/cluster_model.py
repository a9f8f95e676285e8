"""Model of one partition on three nodes: logs as lists, and every rule of replication in its plainest form.

After each event the model settles: replicas that can fetch have their leader's log, and the leader proposes them for
the ISR, until nothing changes. It was written from Kafka's rules, not from the code of the brokers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from .partition_change_model import (
    NO_LEADER,
    ONLINE,
    PREFERRED,
    UNCLEAN,
    Ids,
    PartitionModel,
    RulesModel,
    changed,
    without,
)

OK, TIMED_OUT, NOT_LEADER = "NONE", "REQUEST_TIMED_OUT", "NOT_LEADER_OR_FOLLOWER"
NOT_NEEDED, NO_PREFERRED, NO_ELIGIBLE = (
    "ELECTION_NOT_NEEDED",
    "PREFERRED_LEADER_NOT_AVAILABLE",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE",
)
CONTROLLER, OTHERS = "controller", "nodes"
SESSION_MS, LAG_MS = 9_000, 30_000
# A record: its leader epoch, and the rest of its batch. None is a record that was deleted before it was copied.
Entry = tuple[int, bytes] | None


@dataclass
class LogModel:
    """The log of a replica. records: by offset. high_watermark: None where no other node has a replica."""

    records: list[Entry] = field(default_factory=list[Entry])
    start: int = 0
    replicated: int | None = 0

    @property
    def end(self) -> int:
        return len(self.records)

    @property
    def high_watermark(self) -> int:
        return self.end if self.replicated is None else self.replicated


@dataclass
class FollowerModel:
    """A follower as its leader knows it."""

    caught_up_ms: int
    end: int = -1
    is_fetching: bool = False


@dataclass
class WriteModel:
    """A write that waits for the high watermark."""

    key: int
    end: int
    deadline_ms: int


@dataclass
class LeaderModel:
    """What a leader knows, for one leader epoch."""

    followers: dict[int, FollowerModel] = field(default_factory=dict[int, FollowerModel])
    waiting: list[WriteModel] = field(default_factory=list[WriteModel])


@dataclass
class NodeModel:
    """A node. view: the partition as this node has it. min_isr: min.insync.replicas as it has it."""

    node_id: int
    view: PartitionModel
    min_isr: int
    log: LogModel = field(default_factory=LogModel)
    leads: LeaderModel | None = None
    is_running: bool = True
    cut_off: frozenset[str] = frozenset()
    is_paused: bool = False
    is_fenced: bool = False
    is_stopping: bool = False

    @property
    def hears_controller(self) -> bool:
        return self.is_running and CONTROLLER not in self.cut_off

    @property
    def has_replica(self) -> bool:
        return self.node_id in self.view.replicas


class ClusterModel:
    """The controller and the nodes."""

    def __init__(self, replicas: Ids, min_isr: int, *, has_elr: bool, is_unclean_enabled: bool, now_ms: int) -> None:
        self.now_ms = now_ms
        self.min_isr, self.has_elr, self.is_unclean_enabled = min_isr, has_elr, is_unclean_enabled
        self.partition = PartitionModel(NO_LEADER, -1, replicas, replicas)
        self.nodes = {each: NodeModel(each, self.partition, min_isr) for each in (1, 2, 3)}
        # Node id, first removed offset, log end before.
        self.truncations: list[tuple[int, int, int]] = []
        self.results: dict[int, str] = {}
        # When the sessions of silent nodes end, in the order of their beginning.
        self.sessions: dict[int, int] = {}
        # Records below a high watermark. No election but an unclean one may lose them, and then also what a leader of
        # an earlier epoch commits that does not know of it.
        self.committed: list[Entry] = []
        self.unclean_epoch = 0
        self._publish(replace(self.partition, leader=replicas[0], epoch=0))

    # -- controller

    def _rules(self, election: str | None = None) -> RulesModel:
        alive = frozenset(each.node_id for each in self.nodes.values() if not each.is_fenced and not each.is_stopping)
        usual = UNCLEAN if self.is_unclean_enabled else ONLINE
        return RulesModel(alive, self.min_isr, self.has_elr, election or usual)

    def _change(self, after: PartitionModel, killed: Ids = (), election: str | None = None) -> bool:
        before = self.partition
        new = changed(before, after, killed, self._rules(election))
        if new == before:
            return False
        self._publish(new)
        return True

    def _publish(self, new: PartitionModel) -> None:
        before, self.partition = self.partition, new
        if new.leader not in (NO_LEADER, before.leader, *before.isr, *before.elr):
            self._lose_what_lacks(new.leader)
            self.unclean_epoch = new.epoch
        for node in self.nodes.values():
            if node.hears_controller:
                self._apply(node)
        self._settle()

    def _lose_what_lacks(self, leader: int) -> None:
        """An unclean election loses the records that the new leader does not have."""
        kept = _common(self.committed, self.nodes[leader].log)
        del self.committed[kept:]

    def _fence(self, node: NodeModel) -> None:
        self.sessions.pop(node.node_id, None)
        if not node.is_fenced:
            node.is_fenced, node.is_stopping = True, False
            self._leave_isr(node)

    def _leave_isr(self, node: NodeModel) -> None:
        if node.node_id in self.partition.isr:
            self._change(replace(self.partition, isr=without(self.partition.isr, [node.node_id])))

    def _unfence(self, node: NodeModel) -> None:
        node.is_fenced = False
        if self.partition.leader == NO_LEADER:
            self._change(self.partition)

    def elect(self, *, is_preferred: bool) -> str:
        before = self.partition
        is_preferred_leading = before.leader == before.replicas[0]
        is_led = before.leader != NO_LEADER
        if is_preferred_leading if is_preferred else is_led:
            return NOT_NEEDED
        if self._change(before, election=PREFERRED if is_preferred else UNCLEAN):
            return OK
        return NO_PREFERRED if is_preferred else NO_ELIGIBLE

    def reassign(self, target: Ids) -> None:
        before = self.partition
        removing, adding = sorted(without(before.replicas, target)), sorted(without(target, before.replicas))
        # As three Kafka brokers did: an empty list leaves that of the reassignment before.
        changed = replace(
            before,
            replicas=(*target, *removing),
            adding=tuple(adding) or before.adding,
            removing=tuple(removing) or before.removing,
        )
        self._change(changed, election=ONLINE)

    def cancel(self) -> str:
        before = self.partition
        if not before.adding and not before.removing:
            return "NO_REASSIGNMENT_IN_PROGRESS"
        replicas, isr = without(before.replicas, before.adding), without(before.isr, before.adding)
        if not isr and not self.is_unclean_enabled:
            return "INVALID_REPLICA_ASSIGNMENT"
        is_unclean = not isr
        if is_unclean:
            # An unclean election too, perhaps of a replica that is not alive.
            isr = replicas[:1]
            self._lose_what_lacks(replicas[0])
        self._change(replace(before, replicas=replicas, isr=isr, adding=(), removing=()))
        if is_unclean:
            self.unclean_epoch = self.partition.epoch
        return OK

    def set_configs(self, min_isr: int, *, is_unclean_enabled: bool) -> None:
        self.min_isr, self.is_unclean_enabled = min_isr, is_unclean_enabled
        for node in self.nodes.values():
            if node.hears_controller:
                node.min_isr = min_isr
        if self.partition.elr:
            self._change(self.partition)
        self._settle()

    # -- nodes

    def kill(self, node: NodeModel, *, is_noticed: bool) -> None:
        self._stop(node)
        if is_noticed:
            self._fence(node)
        else:
            self.sessions.setdefault(node.node_id, self.now_ms + SESSION_MS)

    def stop(self, node: NodeModel) -> None:
        """Stop a node with a clean shutdown."""
        node.is_stopping = True
        self._leave_isr(node)
        self._stop(node)
        self._fence(node)

    def _stop(self, node: NodeModel) -> None:
        node.is_running, node.leads, node.cut_off = False, None, frozenset()
        self._settle()

    def start(self, node: NodeModel, *, was_killed: bool) -> None:
        self._fence(node)
        if was_killed and node.node_id in self.partition.elr:
            self._change(self.partition, killed=(node.node_id,))
        node.is_running, node.is_stopping = True, False
        self._apply(node)
        self._settle()
        self._unfence(node)
        self._settle()

    def cut(self, node: NodeModel, cut_off: frozenset[str]) -> None:
        before, node.cut_off = node.cut_off, node.cut_off | cut_off
        if CONTROLLER in cut_off and CONTROLLER not in before:
            self.sessions.setdefault(node.node_id, self.now_ms + SESSION_MS)
        self._settle()

    def rejoin(self, node: NodeModel) -> None:
        before, node.cut_off = node.cut_off, frozenset()
        self.sessions.pop(node.node_id, None)
        if CONTROLLER in before:
            self._apply(node)
            self._settle()
            self._unfence(node)
        self._settle()

    def pause(self, node: NodeModel, *, is_paused: bool) -> None:
        if not is_paused or node.node_id in self.partition.replicas:
            node.is_paused = is_paused
        self._settle()

    def advance(self, by_ms: int) -> None:
        """Move the clock, with the sessions and the writes that end on the way."""
        until_ms = self.now_ms + by_ms
        while (due_ms := min(self._due(), default=until_ms + 1)) <= until_ms:
            self.now_ms = due_ms
            for node_id in [each for each, end_ms in self.sessions.items() if end_ms == due_ms]:
                self._fence(self.nodes[node_id])
            for node in self.nodes.values():
                if node.leads is not None:
                    self._end_writes(node.leads, TIMED_OUT, lambda write: write.deadline_ms == due_ms)
        self.now_ms = until_ms

    def _due(self) -> Iterator[int]:
        yield from self.sessions.values()
        for node in self.nodes.values():
            if node.leads is not None:
                yield from (write.deadline_ms for write in node.leads.waiting)

    # -- the partition on a node

    def _apply(self, node: NodeModel) -> None:
        """Take over the partition of the controller."""
        before, new = node.view, self.partition
        node.view, node.min_isr = new, self.min_isr
        if node.node_id in before.replicas and not node.has_replica:
            node.log = LogModel()
        if len(new.replicas) == 1:
            node.log.replicated = None
        elif node.log.replicated is None:
            node.log.replicated = node.log.end
        self._lead(node, before)

    def _lead(self, node: NodeModel, before: PartitionModel) -> None:
        """Lead as the view says, or no more. Writes go on to wait for a leader that stays in a new epoch."""
        leads, node.leads, new = node.leads, None, node.view
        if new.leader != node.node_id or len(new.replicas) == 1:
            if leads is not None:
                self._end_writes(leads, OK if new.leader == node.node_id else NOT_LEADER, lambda _: True)
            return
        node.leads = leads or LeaderModel()
        known = node.leads.followers if before.epoch == new.epoch else {}
        others = without(new.replicas, [node.node_id])
        node.leads.followers = {each: known.get(each) or FollowerModel(self.now_ms) for each in others}

    def append(self, node: NodeModel, entry: Entry) -> None:
        node.log.records.append(entry)
        for node_id, follower in () if node.leads is None else node.leads.followers.items():
            if follower.is_fetching:
                self.nodes[node_id].log.records.append(entry)
                follower.end = node.log.end
        self._settle()

    def wait(self, node: NodeModel, key: int, end: int, timeout_ms: int) -> None:
        """Have a write up to end wait for the high watermark."""
        if node.log.high_watermark >= end:
            self.results[key] = OK
        else:
            assert node.leads is not None, "a leader with followers"
            node.leads.waiting.append(WriteModel(key, end, self.now_ms + timeout_ms))

    def delete_before(self, node: NodeModel, offset: int) -> None:
        node.log.start = max(node.log.start, offset)
        self._settle()

    def shrink_isrs(self) -> None:
        """Have every leader propose an ISR without those that lag."""
        for node in self.nodes.values():
            followers = {} if node.leads is None else node.leads.followers
            late = [each for each, follower in followers.items() if self._is_late(follower, node.log)]
            if not set(late).isdisjoint(node.view.isr) and self._may_propose(node):
                self._change(replace(self.partition, isr=without(self.partition.isr, late)))

    def _is_late(self, follower: FollowerModel, log: LogModel) -> bool:
        return not follower.is_fetching and follower.end != log.end and self.now_ms - follower.caught_up_ms > LAG_MS

    def is_under_min(self, node: NodeModel) -> bool:
        return len(node.view.isr) < min(node.min_isr, len(node.view.replicas))

    def _end_writes(self, leads: LeaderModel, result: str, is_due: Callable[[WriteModel], bool]) -> None:
        for write in [write for write in leads.waiting if is_due(write)]:
            leads.waiting.remove(write)
            self.results[write.key] = result

    # -- replication

    def _settle(self) -> None:
        while any(self._replicate(node) for node in self.nodes.values()):
            pass

    def _replicate(self, node: NodeModel) -> bool:
        """Have the followers of a node fetch, and return whether that changed the ISR."""
        if node.leads is None:
            return False
        for each, follower in node.leads.followers.items():
            can_fetch = self._can_fetch(self.nodes[each], node)
            if follower.is_fetching is not can_fetch:
                follower.is_fetching, follower.caught_up_ms = can_fetch, self.now_ms
                if can_fetch:
                    self._copy(self.nodes[each], node.log)
                    follower.end = node.log.end
                    self._move_high_watermark(node, node.leads)
                    if self._propose(node, node.leads):
                        return True
        self._move_high_watermark(node, node.leads)
        return self._propose(node, node.leads)

    def _propose(self, node: NodeModel, leads: LeaderModel) -> bool:
        """Propose a follower that has the whole log for the ISR, and return whether that changed it."""
        for each, follower in leads.followers.items():
            is_eligible = each in self._rules().alive and self._may_propose(node)
            if follower.is_fetching and each not in node.view.isr and is_eligible:
                return self._change(replace(self.partition, isr=tuple(sorted((*self.partition.isr, each)))))
        return False

    def _may_propose(self, node: NodeModel) -> bool:
        return (
            node.hears_controller and node.view.epoch == self.partition.epoch and self.partition.leader == node.node_id
        )

    def _can_fetch(self, follower: NodeModel, leader: NodeModel) -> bool:
        return (
            follower.is_running
            and follower.has_replica
            and not follower.is_paused
            and OTHERS not in follower.cut_off | leader.cut_off
            and (follower.view.leader, follower.view.epoch) == (leader.node_id, leader.view.epoch)
        )

    def _copy(self, follower: NodeModel, source: LogModel) -> None:
        """Remove what the leader does not have, and copy the rest."""
        log = follower.log
        if log.end < source.start:
            log.records, log.start = [], source.start
        kept = _common(log.records, source)
        if kept < log.end:
            self.truncations.append((follower.node_id, kept, log.end))
        log.records, log.start = list(source.records), min(log.start, kept) if log.records else log.start
        log.replicated = min(log.high_watermark, kept)

    def _move_high_watermark(self, node: NodeModel, leads: LeaderModel) -> None:
        log = node.log
        if not self.is_under_min(node):
            ends = [follower.end for each, follower in leads.followers.items() if each in node.view.isr]
            before, log.replicated = log.high_watermark, max(log.high_watermark, min([log.end, *ends]))
            if log.high_watermark > before and node.view.epoch >= self.unclean_epoch:
                self.committed.extend(log.records[len(self.committed) : log.high_watermark])
            self._end_writes(leads, OK, lambda write: write.end <= log.high_watermark)
        for each, follower in leads.followers.items():
            if follower.is_fetching:
                copy = self.nodes[each].log
                copy.start = max(copy.start, log.start)
                copy.replicated = min(log.high_watermark, copy.end)


def _common(records: list[Entry], log: LogModel) -> int:
    """Return the offset up to which the records are those of the log."""
    for offset, (one, other) in enumerate(zip(records, log.records, strict=False)):
        if one != other and offset >= log.start and one is not None and other is not None:
            return offset
    return min(len(records), log.end)
