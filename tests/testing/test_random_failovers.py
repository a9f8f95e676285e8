"""Random failovers: the verdict agrees with the client and with the leader's log, and names what is lost.

A call fails with status 409 if the state of its node does not allow it, and only then.
A request to a node that is cut off from its clients is handled when the node rejoins, or never if the node ends before.

FAILOVER_SEEDS=1500 runs as many seeds. A failure prints the steps of its seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from random import Random
from typing import NamedTuple

import pytest

from fauxka.admin.operations.topic_logs import ClusterLogs
from fauxka.broker.isolation import Surroundings
from fauxka.broker.lifecycle.cluster_server import NodeState
from fauxka.broker.node import Node
from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.batches.records import decode_batch
from fauxka.protocol.batches.whole_batches import split_batches
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.produce import PartitionProduceResponse
from fauxka.testing import CallError

from ..broker.blocking_client import BlockingClient, batch
from .transports import Broker

TOPIC = "orders"
NODES = (1, 2, 3)
# Changes and requests of one run.
STEPS = 60
BYTES_MAX = 1024 * 1024
SEEDS = range(int(os.environ.get("FAILOVER_SEEDS", "5")))
CUTS: Sequence[Sequence[Surroundings]] = (
    ["controller"],
    ["nodes"],
    ["clients"],
    ["controller", "nodes"],
    ["controller", "nodes", "clients"],
)
ADVANCES_MS = (1_000, 9_000, 46_000)
CONFLICT = 409

Change = Callable[[int], object]


class NodeModel:
    """What the calls so far have made of a node, and which calls its state allows."""

    def __init__(self) -> None:
        self.state: NodeState = "running"
        self.cut_off: set[Surroundings] = set()

    @property
    def is_running(self) -> bool:
        return self.state == "running"

    def end(self, state: NodeState) -> None:
        self.state, self.cut_off = state, set()


class PendingProduce(NamedTuple):
    """A request to a node that is cut off from its clients."""

    client: BlockingClient
    number: int
    response: Future[PartitionProduceResponse]


class Scene:
    """Three nodes, and the records of a client that were acknowledged."""

    def __init__(self, broker: Broker, random: Random, pool: ThreadPoolExecutor) -> None:
        self.broker = broker
        self.random = random
        self.acknowledged: set[bytes] = set()
        self.sent = 0
        self.trace: list[str] = []
        self.nodes = {node: NodeModel() for node in NODES}
        self._pool = pool
        self._pending: dict[int, PendingProduce] = {}
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1, assignments=[NODES]))

    def step(self) -> None:
        """Send a record, or change a node or a replica; a change that the state does not allow must fail."""
        node = self.random.choice(NODES)
        changes: list[Change] = [
            self.send_again,
            self.kill,
            self.stop,
            self.start,
            self.isolate,
            self.rejoin,
            self.broker.pause_replication,
            self.broker.resume_replication,
            self.move_leader,
            self.advance,
        ]
        change = self.send if self.random.random() < 0.5 else self.random.choice(changes)
        self.trace.append(f"{change.__name__} {node}")
        is_allowed = self.is_allowed(change, node)
        try:
            change(node)
        except CallError as error:
            self.trace[-1] += f": {error}"
            assert (error.status, is_allowed) == (CONFLICT, False), str(self)
        else:
            assert is_allowed, str(self)
        found = {each.node: (each.state, set(each.isolated_from)) for each in self.broker.nodes()}
        assert found == {node: (model.state, model.cut_off) for node, model in self.nodes.items()}, str(self)

    def is_allowed(self, change: Change, node: int) -> bool:
        """Return whether the state of the node allows the change."""
        if change == self.start:
            return not self.nodes[node].is_running
        if change in (self.kill, self.stop, self.isolate):
            return self.nodes[node].is_running
        return True

    # -- records

    def send(self, node: int) -> None:
        """Send a record to a node that runs, which may not be the leader."""
        self.sent += 1
        self.produce(node, self.sent)

    def send_again(self, node: int) -> None:
        """Send a record again that was not acknowledged."""
        unacknowledged = [each for each in range(1, self.sent + 1) if b"%d" % each not in self.acknowledged]
        if unacknowledged:
            self.produce(node, self.random.choice(unacknowledged))

    def produce(self, node: int, number: int) -> None:
        """Send the record of this number, each by its own idempotent producer.

        One request at most waits for a node that is cut off from its clients: then their order is known.
        """
        if not self.nodes[node].is_running or node in self._pending:
            return
        records, acks = batch(b"%d" % number, producer_id=number, sequence=0), self.random.choice((-1, 1))
        self.trace[-1] += f" {number} acks={acks}"
        client = BlockingClient(self.broker.bootstrap_servers.split(",")[node - 1])
        response = self._pool.submit(client.produce, TOPIC, records, acks=acks, timeout_ms=10)
        self._pending[node] = PendingProduce(client, number, response)
        if "clients" not in self.nodes[node].cut_off:
            self.receive(node)

    def receive(self, node: int) -> None:
        """Receive the response of a node, if one is pending. A node that ends closes the connection instead."""
        if (pending := self._pending.pop(node, None)) is None:
            return
        with pending.client:
            try:
                response = pending.response.result()
            except ConnectionFailed:
                assert not self.nodes[node].is_running, str(self)
                return
        self.trace[-1] += f": {pending.number} {response.error_code} {response.base_offset}"
        if response.error_code == ErrorCode.NONE:
            self.acknowledged.add(b"%d" % pending.number)

    # -- nodes

    def kill(self, node: int) -> None:
        self.broker.stop_node(node, controlled=False, noticed=self.random.random() < 0.5)
        self.nodes[node].end("crashed")
        self.receive(node)

    def stop(self, node: int) -> None:
        self.broker.stop_node(node)
        self.nodes[node].end("stopped")
        self.receive(node)

    def start(self, node: int) -> None:
        self.broker.start_node(node)
        self.nodes[node].state = "running"

    def isolate(self, node: int) -> None:
        cut = self.random.choice(CUTS)
        self.trace[-1] += f" {cut}"
        self.broker.isolate(node, cut)
        self.nodes[node].cut_off.update(cut)

    def rejoin(self, node: int) -> None:
        self.broker.rejoin(node)
        self.nodes[node].cut_off.clear()
        self.receive(node)

    def move_leader(self, node: int) -> None:
        if self.nodes[node].is_running and "controller" not in self.nodes[node].cut_off:
            self.broker.move_leader(TOPIC, 0, node, unclean=True)

    def advance(self, _: int) -> None:
        self.broker.clock.advance(self.random.choice(ADVANCES_MS))

    def has_leader(self) -> bool:
        """Whether the leader runs: a verdict is on its log."""
        return any(node.state == "running" and node.node == self.leader() for node in self.broker.nodes())

    def leader(self) -> int:
        """Return the leader as the controller knows it, or -1."""
        return self.broker.call(lambda: self.broker.cluster.image.topics[TOPIC].partitions[0].leader_id)

    def stored(self) -> list[bytes]:
        """Return the values in the log of the leader."""
        logs = ClusterLogs(self.broker.cluster)
        return self.broker.call(
            lambda: [
                record.value or b"" for each in logs.batches(TOPIC, 0, 0) for record in decode_batch(memoryview(each))
            ]
        )

    def heal(self) -> None:
        """Have all nodes run, fetch and reach each other, and elect node 1 if there is no leader."""
        self.trace.append("heal")
        for node in NODES:
            if not self.nodes[node].is_running:
                self.start(node)
            self.rejoin(node)
            self.broker.resume_replication(node)
        if self.leader() < 0:
            self.broker.move_leader(TOPIC, 0, 1, unclean=True)

    def counts(self) -> tuple[int, int, int]:
        """Return what the verdict must count: stored batches, lost ones, and stored ones without a success."""
        stored = self.stored()
        return len(stored), len(self.lost()), len(set(stored) - self.acknowledged)

    def lost(self) -> set[bytes]:
        """Return the values that were acknowledged, and that the leader does not have."""
        return self.acknowledged.difference(self.stored())

    def sent_by(self, request_ids: list[int]) -> set[str]:
        """Return the values that the requests sent: each has its own producer."""
        found = [entry for entry in self.broker.journal.entries(api="Produce") if entry.id in request_ids]
        assert [entry.id for entry in found] == request_ids
        return {str(batch.producer_id) for entry in found for batch in entry.batches}

    def __str__(self) -> str:
        """Return the steps so far, one a line."""
        return "\n".join(self.trace)


def log_of(node: Node) -> bytes:
    """Return the bytes of a node's log, whose epochs must be those of its batches."""
    log = node.replicas.partition_of(TOPIC, 0).log
    fetched = log.read(0, BYTES_MAX, upper_offset=log.log_end_offset, min_one_batch=True)
    stored = b"".join(fetched.views)
    for each in split_batches(memoryview(stored)):
        assert log.leader_epochs.epoch_of(each.header.base_offset) == each.header.partition_leader_epoch
    return stored


@pytest.mark.parametrize("seed", SEEDS)
def test_the_verdict_agrees_with_the_client_and_the_log(seed: int) -> None:
    with Broker({"default.replication.factor": "3"}, nodes=3) as broker, ThreadPoolExecutor() as pool:
        scene = Scene(broker, Random(seed), pool)
        for _ in range(STEPS):
            scene.step()

            if scene.has_leader():
                verdict = broker.verdict(TOPIC, event_id="value")
                found = verdict.batches
                counted = (found.appended_once, found.acknowledged_lost, found.stored_unacknowledged)
                assert counted == scene.counts(), str(scene)
                lost = [each for each in verdict.findings if each.kind == "acknowledged_lost"]
                assert {event.encode() for each in lost for event in each.events} == scene.lost(), str(scene)
                for each in lost:
                    assert scene.sent_by(each.requests) == set(each.events), str(scene)

        scene.heal()
        (partition,) = broker.partitions(TOPIC)
        logs = broker.call(lambda: [log_of(node) for node in broker.cluster.nodes])
        assert (partition.isr, logs) == (list(NODES), [logs[0]] * 3), str(scene)
