"""Random failovers: the verdict agrees with the responses to the client and with the leader's log.

FAILOVER_SEEDS=1500 runs as many seeds. A failure prints the steps of its seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from random import Random

import pytest

from fauxka.admin.operations.topic_logs import ClusterLogs
from fauxka.broker.isolation import Surroundings
from fauxka.broker.node import Node
from fauxka.protocol.batches.records import decode_batch
from fauxka.protocol.batches.whole_batches import split_batches
from fauxka.protocol.error_codes import ErrorCode
from fauxka.testing import Broker, CallError

from ..broker.blocking_client import BlockingClient, batch

TOPIC = "orders"
NODES = (1, 2, 3)
# Changes and requests of one run.
STEPS = 60
BYTES_MAX = 1024 * 1024
SEEDS = range(int(os.environ.get("FAILOVER_SEEDS", "5")))
CUTS: Sequence[Sequence[Surroundings]] = (["controller"], ["nodes"], ["controller", "nodes"])
ADVANCES_MS = (1_000, 9_000, 46_000)


class Scene:
    """Three nodes, and the records of a client that were acknowledged."""

    def __init__(self, broker: Broker, random: Random) -> None:
        self.broker = broker
        self.random = random
        self.acknowledged: set[bytes] = set()
        self.sent = 0
        self.trace: list[str] = []
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1, assignments=[NODES]))

    def step(self) -> None:
        """Send a record, or change a node or a replica; what the state does not allow changes nothing."""
        node = self.random.choice(NODES)
        changes: list[Callable[[int], object]] = [
            self.send_again,
            self.kill,
            self.start,
            self.isolate,
            self.broker.rejoin,
            self.broker.pause_replication,
            self.broker.resume_replication,
            self.move_leader,
            self.advance,
        ]
        change = self.send if self.random.random() < 0.5 else self.random.choice(changes)
        self.trace.append(f"{change.__name__} {node}")
        try:
            change(node)
        except CallError as error:
            self.trace[-1] += f": {error}"

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
        """Send the record of this number, each by its own idempotent producer."""
        if self.broker.nodes()[node - 1].state != "running":
            return
        value, acks = b"%d" % number, self.random.choice((-1, 1))
        records = batch(value, producer_id=number, sequence=0)
        with BlockingClient(self.broker.bootstrap_servers.split(",")[node - 1]) as client:
            response = client.produce(TOPIC, records, acks=acks, timeout_ms=10)
        self.trace[-1] += f" {number} acks={acks}: {response.error_code} {response.base_offset}"
        if response.error_code == ErrorCode.NONE:
            self.acknowledged.add(value)

    def kill(self, node: int) -> None:
        self.broker.stop_node(node, controlled=False, noticed=self.random.random() < 0.5)

    def start(self, node: int) -> None:
        self.broker.start_node(node)

    def isolate(self, node: int) -> None:
        self.broker.isolate(node, self.random.choice(CUTS))

    def move_leader(self, node: int) -> None:
        if self.broker.nodes()[node - 1].state == "running" and not self.broker.nodes()[node - 1].isolated_from:
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
        for node in self.broker.nodes():
            if node.state != "running":
                self.broker.start_node(node.node)
            self.broker.rejoin(node.node)
            self.broker.resume_replication(node.node)
        if self.leader() < 0:
            self.broker.move_leader(TOPIC, 0, 1, unclean=True)

    def counts(self) -> tuple[int, int, int]:
        """Return what the verdict must count: stored batches, lost ones, and stored ones without a success."""
        stored = self.stored()
        return len(stored), len(self.acknowledged.difference(stored)), len(set(stored) - self.acknowledged)


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
    with Broker({"default.replication.factor": "3"}, nodes=3) as broker:
        scene = Scene(broker, Random(seed))
        for _ in range(STEPS):
            scene.step()

            if scene.has_leader():
                found = broker.verdict(TOPIC).batches
                counted = (found.appended_once, found.acknowledged_lost, found.stored_unacknowledged)
                assert counted == scene.counts(), "\n".join(scene.trace)

        scene.heal()
        (partition,) = broker.partitions(TOPIC)
        logs = broker.call(lambda: [log_of(node) for node in broker.cluster.nodes])
        assert (partition.isr, logs) == (list(NODES), [logs[0]] * 3), "\n".join(scene.trace)
