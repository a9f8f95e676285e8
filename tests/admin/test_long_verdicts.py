"""The verdict on a long topic, and on a group that reads it, delays no client."""

from collections.abc import Generator
from types import SimpleNamespace
from typing import cast

import pytest

from fauxka.admin.control import Control
from fauxka.admin.operations.group_verdicts import judge_group
from fauxka.admin.operations.verdict_operations import VerdictQuery, read_verdict
from fauxka.faults.consumption.facts import Cause, Fact, Kind
from fauxka.faults.journal.journal import Journal
from fauxka.faults.verdict.topic_verdict import TopicVerdict
from fauxka.protocol.batches.records import Record, build_batch

from ..broker.loop_pauses import PAUSE_SECONDS_MAX, LoopPauses, measured_loop
from ..broker.running_node import Node

TOPIC, GROUP = "long", "billing"
BATCHES, RECORDS = 200, 1000


class Scene:
    """A node with a topic of one partition, and a journal."""

    def __init__(self, node: Node, pauses: LoopPauses) -> None:
        self.node, self.pauses = node, pauses
        self.journal = Journal(1)
        self.control = cast(
            Control,
            SimpleNamespace(
                cluster=node.cluster, node=node.cluster.node, journal=self.journal, check_running=lambda: None
            ),
        )
        node.call(lambda: node.cluster.controller.create_topic(TOPIC, 1))

    def append(self, batch: bytes, *, times: int) -> None:
        partition = self.node.cluster.node.replicas.partition_of(TOPIC, 0)
        for _ in range(times):
            self.node.call(lambda: partition.append(memoryview(batch), 0))


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Generator[Scene]:
    with measured_loop(monkeypatch) as (loop, pauses), Node(loop=loop) as node:
        yield Scene(node, pauses)


@pytest.mark.pauses
def test_verdict_by_event_id_does_not_hold_the_event_loop(scene: Scene) -> None:
    scene.append(build_batch([Record(b"%d" % number) for number in range(RECORDS)]), times=BATCHES)
    scene.pauses.longest = 0.0

    verdict = scene.node.run(lambda: read_verdict(scene.control, VerdictQuery(topic=TOPIC, event_id="value")))

    assert isinstance(verdict, TopicVerdict)
    assert (verdict.records.in_log, verdict.records.duplicates) == (BATCHES * RECORDS, (BATCHES - 1) * RECORDS)
    assert scene.pauses.longest < PAUSE_SECONDS_MAX


@pytest.mark.pauses
def test_verdict_on_a_group_does_not_hold_the_event_loop(scene: Scene) -> None:
    without_keys = build_batch([Record(b"") for _ in range(RECORDS)])
    scene.append(without_keys, times=BATCHES)
    history = scene.journal.consumption.histories.group(GROUP)
    history.partition((TOPIC, 0)).facts.append(Fact(Kind.DELIVERED_TWICE, Cause.SEEK, 0, BATCHES * RECORDS))
    scene.pauses.longest = 0.0

    verdict = scene.node.run(lambda: judge_group(scene.control, GROUP))

    (finding,) = verdict.findings
    assert (finding.offsets, finding.keys) == ([0, BATCHES * RECORDS - 1], [])
    assert scene.pauses.longest < PAUSE_SECONDS_MAX
