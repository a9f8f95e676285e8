"""The steps of scenarios with Spark that need no Spark."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fauxka.scenarios.brokers.cluster_broker import ClusterBroker
from fauxka.scenarios.brokers.in_process_broker import InProcessBroker
from fauxka.scenarios.clients.clients import client_of
from fauxka.scenarios.report.stored_log import read_log
from fauxka.scenarios.spark.job_scenario import (
    AnyJobStep,
    AwaitRows,
    Crash,
    JobExpectation,
    JobScenario,
    LoseWrites,
    Recreate,
    Send,
)
from fauxka.scenarios.spark.job_step_runner import JobRunContext, JobStepRunner
from fauxka.scenarios.steps import Batch, StartNode, StopNode

TOPIC = "events"
SEND_A = Send(topic=TOPIC, batches=["A"])
SEND_B = Send(topic=TOPIC, batches=["B"])


@pytest.fixture
def broker() -> Iterator[InProcessBroker]:
    broker = InProcessBroker("4.3")
    yield broker
    broker.close()


def perform(broker: InProcessBroker, folder: Path, steps: Sequence[AnyJobStep]) -> list[str]:
    """Run the steps, and return the events in the log."""
    scenario = JobScenario(
        name="test",
        title="",
        story="",
        topics={TOPIC: 1},
        steps=list(steps),
        expect=JobExpectation(),
        batches={"A": Batch("A", 0, 2), "B": Batch("B", 3, 4)},
    )
    runner = JobStepRunner(JobRunContext(scenario, client_of("raw"), broker, folder))
    runner.run()
    runner.close()
    return [event for batch in read_log(broker.bootstrap_servers, TOPIC, 1) for event in batch.events]


@pytest.fixture
def cluster() -> Iterator[ClusterBroker]:
    broker = ClusterBroker("4.3", 3)
    yield broker
    broker.close()


def test_events_that_are_sent_again_get_the_next_sequences(broker: InProcessBroker, tmp_path: Path) -> None:
    stored = perform(broker, tmp_path, [SEND_A, SEND_B, Send(topic=TOPIC, batches=["A"], again=True)])

    assert stored == ["A-1", "A-2", "A-3", "B-1", "B-2", "A-1", "A-2", "A-3"]
    batches = [batch for request in broker.journal() for batch in request.batches if batch.decision == "appended"]
    assert [(batch.base_sequence, batch.last_sequence) for batch in batches] == [(0, 2), (3, 4), (5, 7)]


def test_a_crash_loses_exactly_what_the_disk_lost(broker: InProcessBroker, tmp_path: Path) -> None:
    lost = Send(topic=TOPIC, batches=["B"])

    stored = perform(broker, tmp_path, [SEND_A, LoseWrites(topic=TOPIC), lost, Crash(), SEND_A, Crash()])

    assert stored == ["A-1", "A-2", "A-3", "A-1", "A-2", "A-3"]


def test_a_recreated_topic_is_empty(broker: InProcessBroker, tmp_path: Path) -> None:
    assert perform(broker, tmp_path, [SEND_A, Recreate(topic=TOPIC)]) == []


def test_the_application_writes_to_the_new_leader_while_a_node_is_down(cluster: ClusterBroker, tmp_path: Path) -> None:
    stop = StopNode(node=1, controlled=True)

    stored = perform(cluster, tmp_path, [SEND_A, stop, SEND_B, AwaitRows(topic=TOPIC, rows=5), StartNode(node=1)])

    assert stored == ["A-1", "A-2", "A-3", "B-1", "B-2"]
    appended = [
        request.node for request in cluster.journal() for each in request.batches if each.decision == "appended"
    ]
    assert appended == [1, 2]
