"""Any events on three nodes: deaths, cut networks, pauses, elections, writes. Cluster and model agree after each."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fauxka.broker.isolation import Isolation
from fauxka.broker.metadata.replication_control import ElectionType
from fauxka.protocol.batches.record_batch import TRANSACTIONAL_BIT, parse_header
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.coordinator_batch import TransactionMarker
from fauxka.storage.producers.producer_state_entry import ProducerStateEntry

from ..protocol.batch_bytes import batch, record
from ..run_counts import examples
from .cluster_model import CONTROLLER, OTHERS, ClusterModel, LogModel, NodeModel
from .partition_change_model import NO_LEADER
from .replicated_cluster import ReplicatedCluster, configs_of

NODES = (1, 2, 3)
IDEMPOTENT, TRANSACTIONAL = 7, 8
# Never at the time of a session's end.
TIMEOUT_MS = 1_001
nodes = st.sampled_from(NODES)
replica_lists = st.permutations(NODES).flatmap(lambda order: st.integers(1, 3).map(lambda count: order[:count]))


class Replication(RuleBasedStateMachine):
    """Every rule changes both; the invariants compare all that is known and stored."""

    real: ReplicatedCluster
    model: ClusterModel

    @initialize(
        replicas=st.permutations(NODES) | replica_lists,
        min_isr=st.integers(1, 3),
        has_elr=st.booleans(),
        is_unclean_enabled=st.sampled_from([False, False, True]),
    )
    def begin(self, replicas: list[int], min_isr: int, has_elr: bool, is_unclean_enabled: bool) -> None:
        kinds = {"has_elr": has_elr, "is_unclean_enabled": is_unclean_enabled}
        self.real = ReplicatedCluster(replicas, min_isr, has_elr=has_elr, is_unclean_enabled=is_unclean_enabled)
        self.model = ClusterModel(tuple(replicas), min_isr, **kinds, now_ms=self.real.clock.now_ms())
        self.value = 0
        self.was_killed: dict[int, bool] = {}

    # -- writes

    @rule(
        node_id=nodes, is_acks_all=st.booleans(), kind=st.sampled_from(["plain", "next", "again", "gap", "transaction"])
    )
    def produce(self, node_id: int, is_acks_all: bool, kind: str) -> None:
        node = self.model.nodes[node_id]
        if not self._leads(node):
            return
        partition, end = self.real.partition(node_id), node.log.end
        with suppress(AppendRefused):
            if is_acks_all and node.leads is not None:
                assert partition.replication is not None
                partition.replication.check_min_isr()
                assert not self.model.is_under_min(node)
            result = partition.append(memoryview(self._batch(node.log, kind)), self.model.now_ms)
            if not result.is_duplicate:
                assert result.base_offset == end
                self._appended(node)
            if is_acks_all and node.leads is not None:
                self._wait(node, result.last_offset + 1)
            return
        assert partition.log.log_end_offset == end

    @rule(node_id=nodes, is_commit=st.booleans())
    def end_transaction(self, node_id: int, is_commit: bool) -> None:
        node = self.model.nodes[node_id]
        if self._leads(node):
            marker = TransactionMarker(producer_id=TRANSACTIONAL, producer_epoch=0, is_commit=is_commit)
            self.real.partition(node_id).append_coordinated(marker, self.model.now_ms)
            self._appended(node)

    @rule(node_id=nodes, offset=st.integers(0, 12))
    def delete_records(self, node_id: int, offset: int) -> None:
        node = self.model.nodes[node_id]
        if self._leads(node) and node.log.end:
            try:
                self.real.partition(node_id).delete_records_before(offset)
            except KafkaError as error:
                assert error.code == ErrorCode.OFFSET_OUT_OF_RANGE
                assert offset > node.log.high_watermark
            else:
                self.model.delete_before(node, offset)

    # -- nodes

    @rule(node_id=nodes, is_noticed=st.booleans())
    def kill(self, node_id: int, is_noticed: bool) -> None:
        node = self.model.nodes[node_id]
        if node.is_running:
            self.was_killed[node_id] = True
            self.real.kill(node_id, is_noticed=is_noticed)
            self.model.kill(node, is_noticed=is_noticed)

    @rule(node_id=nodes)
    def stop(self, node_id: int) -> None:
        node = self.model.nodes[node_id]
        if node.hears_controller:
            self.was_killed[node_id] = False
            self.real.stop(node_id)
            self.model.stop(node)

    @rule(node_id=nodes)
    def start(self, node_id: int) -> None:
        node = self.model.nodes[node_id]
        if not node.is_running:
            self.real.start(node_id)
            self.model.start(node, was_killed=self.was_killed[node_id])

    @rule(node_id=nodes, cut_off=st.sets(st.sampled_from([CONTROLLER, OTHERS]), min_size=1))
    def isolate(self, node_id: int, cut_off: set[str]) -> None:
        node = self.model.nodes[node_id]
        if node.is_running:
            self.real.membership.isolate(node_id, [Isolation(each) for each in cut_off])
            self.model.cut(node, frozenset(cut_off))

    @rule(node_id=nodes)
    def rejoin(self, node_id: int) -> None:
        node = self.model.nodes[node_id]
        if node.is_running and node.cut_off:
            self.real.membership.rejoin(node_id)
            self.model.rejoin(node)

    @rule(node_id=nodes, is_paused=st.booleans())
    def pause(self, node_id: int, is_paused: bool) -> None:
        self.real.membership.set_paused(node_id, is_paused=is_paused)
        self.model.pause(self.model.nodes[node_id], is_paused=is_paused)

    @rule(by_ms=st.sampled_from([500, 2_000, 9_000, 31_000]))
    def advance(self, by_ms: int) -> None:
        self.real.clock.advance(by_ms)
        self.model.advance(by_ms)

    @rule()
    def shrink_isrs(self) -> None:
        self.real.shrink_isrs()
        self.model.shrink_isrs()

    # -- requests to the controller

    @rule(is_preferred=st.booleans())
    def elect(self, is_preferred: bool) -> None:
        election_type = ElectionType.PREFERRED if is_preferred else ElectionType.UNCLEAN
        code = ErrorCode.NONE
        try:
            self.real.cluster.controller.replication.elect("t", 0, election_type)
        except KafkaError as error:
            code = error.code
        assert code.name == self.model.elect(is_preferred=is_preferred)

    @rule(replicas=replica_lists)
    def reassign(self, replicas: list[int]) -> None:
        self.real.cluster.controller.replication.reassign("t", 0, replicas)
        self.model.reassign(tuple(replicas))

    @rule()
    def cancel(self) -> None:
        code = ErrorCode.NONE
        try:
            self.real.cluster.controller.replication.reassign("t", 0, None)
        except KafkaError as error:
            code = error.code
        assert code.name == self.model.cancel()

    @rule(min_isr=st.integers(1, 3), is_unclean_enabled=st.sampled_from([False, False, True]))
    def set_configs(self, min_isr: int, is_unclean_enabled: bool) -> None:
        configs = configs_of(min_isr, is_unclean_enabled=is_unclean_enabled)
        self.real.cluster.controller.alter_topic_configs(self.real.topic, configs)
        self.model.set_configs(min_isr, is_unclean_enabled=is_unclean_enabled)

    # -- what has to be so

    @invariant()
    def the_controller_decides_as_the_model(self) -> None:
        found, wanted = self.real.registration, self.model.partition
        assert (found.leader_id, found.leader_epoch) == (wanted.leader, wanted.epoch)
        assert (tuple(found.isr), tuple(found.elr)) == (wanted.isr, wanted.elr)
        assert tuple(found.last_known_elr) == wanted.last_known
        assert tuple(found.replicas) == wanted.replicas
        assert (tuple(found.adding), tuple(found.removing)) == (wanted.adding, wanted.removing)

    @invariant()
    def every_node_has_the_logs_of_the_model(self) -> None:
        for node in self._running():
            partition = self.real.partition(node.node_id)
            assert (partition.leader_id, partition.leader_epoch) == (node.view.leader, node.view.epoch)
            found, wanted = self.real.log_of(node.node_id), node.log
            assert (found.start, found.end) == (wanted.start, wanted.end)
            assert found.records[found.start :] == wanted.records[found.start :]
            assert found.high_watermark == wanted.high_watermark

    @invariant()
    def offsets_are_in_order(self) -> None:
        for node in self._running():
            log = self.real.partition(node.node_id).find_log()
            if log is not None and node.has_replica:
                assert log.last_stable_offset <= log.high_watermark <= log.log_end_offset
                if node.leads is not None and CONTROLLER not in node.cut_off:
                    others = [self.model.nodes[each] for each in node.view.isr]
                    assert all(log.high_watermark <= each.log.end for each in others)

    @invariant()
    def what_was_committed_is_kept(self) -> None:
        leader = self.model.nodes.get(self.model.partition.leader)
        if leader is not None and leader.is_running and leader.hears_controller:
            log, committed = self.real.log_of(leader.node_id), self.model.committed
            assert log.records[log.start : len(committed)] == committed[log.start :]

    @invariant()
    def truncations_are_reported(self) -> None:
        assert sorted(self.real.truncations) == sorted(self.model.truncations)

    @invariant()
    def writes_end_once_and_as_in_the_model(self) -> None:
        assert {key: results[0] for key, results in self.real.results.items() if results} == self.model.results
        assert all(len(results) <= 1 for results in self.real.results.values())

    def teardown(self) -> None:
        """Heal everything: the replicas are equal, and no write waits."""
        if not hasattr(self, "model"):
            return
        for node_id in NODES:
            self.start(node_id)
            self.rejoin(node_id)
            self.pause(node_id, is_paused=False)
        self.advance(2_000)
        assert self.model.partition.leader != NO_LEADER
        self.the_controller_decides_as_the_model()
        self.every_node_has_the_logs_of_the_model()
        self.truncations_are_reported()
        self.writes_end_once_and_as_in_the_model()
        replicas = self.model.partition.replicas
        # A new leader that was behind may start before a follower does.
        start = max(self.model.nodes[each].log.start for each in replicas)
        contents = [self._content(each, start) for each in replicas]
        assert all(content == contents[0] for content in contents), contents

    # -- pieces

    def _running(self) -> list[NodeModel]:
        return [node for node in self.model.nodes.values() if node.is_running]

    def _leads(self, node: NodeModel) -> bool:
        return node.is_running and node.view.leader == node.node_id

    def _batch(self, log: LogModel, kind: str) -> bytes:
        self.value += 1
        payload = record(b"%d" % self.value)
        if kind == "plain":
            return batch(payload, base_timestamp=self.model.now_ms)
        producer_id = TRANSACTIONAL if kind == "transaction" else IDEMPOTENT
        sequence = _last_sequence(log, producer_id) + {"again": 0, "gap": 2}.get(kind, 1)
        return batch(
            payload,
            base_timestamp=self.model.now_ms,
            attributes=TRANSACTIONAL_BIT if kind == "transaction" else 0,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=max(sequence, 0),
        )

    def _appended(self, node: NodeModel) -> None:
        """Have the model append what the leader has stored."""
        self.model.append(node, self.real.log_of(node.node_id).records[-1])
        entry = node.log.records[-1]
        assert entry is not None and entry[0] == node.view.epoch

    def _wait(self, node: NodeModel, end: int) -> None:
        self.real.wait(node.node_id, self.value, end, TIMEOUT_MS)
        self.model.wait(node, self.value, end, TIMEOUT_MS)

    def _content(self, node_id: int, start: int) -> object:
        """Return the log of a replica from start on, with its producers and transactions."""
        log = self.real.partition(node_id).find_log()
        if log is None or not log.log_end_offset:
            return None
        # A replica that is new does not learn of producers whose records were deleted before, nor of their open
        # transactions, as in Kafka.
        active = [each for each in log.producers.active_producers() if each.batches]
        known = [each for each in active if each.batches[-1].last_offset >= start]
        producers = sorted(
            (each.producer_id, each.producer_epoch, each.last_sequence, _begin_of(each, start)) for each in known
        )
        found = self.real.log_of(node_id)
        stable = log.last_stable_offset
        if any(each.current_txn_first_offset is not None for each in active if each not in known):
            stable = min([found.high_watermark, *(begin for each in known if (begin := _begin_of(each, start)) >= 0)])
        return found.records[start:], found.high_watermark, producers, stable


def _begin_of(producer: ProducerStateEntry, start: int) -> int:
    """Return where the open transaction of a producer begins, in a log without the records before start; or -1."""
    first = producer.current_txn_first_offset
    return -1 if first is None else max(first, start)


def _last_sequence(log: LogModel, producer_id: int) -> int:
    """Return the last sequence of a producer in a log, or -1."""
    found = -1
    for entry in log.records:
        if entry is not None:
            header = parse_header(bytes(16) + entry[1])
            if header.producer_id == producer_id and not header.is_control:
                found = header.last_sequence
    return found


TestReplication = Replication.TestCase
TestReplication.settings = settings(max_examples=examples(200), stateful_step_count=50, deadline=None)
