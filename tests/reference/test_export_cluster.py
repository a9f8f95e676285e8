"""Clusters of three brokers, handed over to one real Kafka: the same records, and the same responses to producers."""

import shutil
import signal
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..serving_process import run, serving, stop
from .cluster_scene import GROUPS, NODES, PARTITIONS, TRANSACTIONAL_IDS, ClusterScene, Observed, name_of
from .kafka_cluster import kafka_cluster
from .kafka_process import kafka_process
from .log_scene import QUIET
from .test_export import settings_in

pytestmark = pytest.mark.reference

NAMES = [name_of(*each) for each in PARTITIONS]
RACKS = ("a", "b", "c")
RUNNING_KAFKA, RUNNING_NODES, DATA_FOLDER = "a running Kafka", "running nodes", "the data folder of nodes"
# One partition, as that of the real cluster.
INTERNAL_TOPICS = (
    *("-c", "offsets.topic.num.partitions=1", "-c", "transaction.state.log.num.partitions=1"),
    *("-c", "offsets.topic.replication.factor=3", "-c", "transaction.state.log.replication.factor=3"),
)


@dataclass(frozen=True)
class HandedOver:
    """What clients see of the cluster, and of the one Kafka that serves what was exported."""

    of_cluster: Observed
    of_kafka: Observed


def export(folder: Path, *source: str) -> None:
    ended = run("export", str(folder / "exported"), *source, seconds_max=60)
    assert ended.exit_code == 0, ended.log


def observe_kafka(folder: Path, scene: ClusterScene) -> Observed:
    """Export and observe a running Kafka of three brokers."""
    with kafka_cluster(folder / "kafka", {}, RACKS) as cluster:
        bootstrap = ",".join(cluster.address(node) for node in NODES)
        scene.fill(bootstrap)
        # Any broker leads to the leaders of all partitions.
        export(folder, "--from", cluster.address(2))
        return scene.observe(bootstrap)


def observe_nodes(folder: Path, scene: ClusterScene, *, is_running: bool) -> Observed:
    """Export and observe three nodes, while they run or from their folders."""
    options = ("--nodes", "3", "--data-dir", str(folder / "data"), *INTERNAL_TOPICS, *QUIET)
    with serving(folder, *options) as fauxka:
        scene.fill(fauxka.bootstrap)
        if is_running:
            export(folder, "--from", fauxka.bootstrap)
        stop(fauxka, signal.SIGTERM)
    if not is_running:
        export(folder, "--data-dir", str(folder / "data"))
    with serving(folder, *options) as fauxka:
        return scene.observe(fauxka.bootstrap)


@pytest.fixture(scope="module", params=[RUNNING_KAFKA, RUNNING_NODES, DATA_FOLDER])
def handed_over(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[HandedOver, None, None]:
    folder, scene = tmp_path_factory.mktemp("export"), ClusterScene()
    if request.param == RUNNING_KAFKA:
        of_cluster = observe_kafka(folder, scene)
    else:
        of_cluster = observe_nodes(folder, scene, is_running=request.param == RUNNING_NODES)
    exported = folder / "exported"
    with kafka_process(folder / "kafka.log", settings_in(exported), exported) as kafka:
        of_kafka = scene.observe(kafka.address)
    yield HandedOver(of_cluster, of_kafka)
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", NAMES)
def test_kafka_serves_the_batches_of_the_leader(handed_over: HandedOver, name: str) -> None:
    assert handed_over.of_kafka.logs[name] == handed_over.of_cluster.logs[name]
    assert handed_over.of_kafka.logs[name].log_end_offset > 0


@pytest.mark.parametrize("name", NAMES)
def test_consumers_of_committed_records_read_the_same(handed_over: HandedOver, name: str) -> None:
    assert handed_over.of_kafka.committed_values[name] == handed_over.of_cluster.committed_values[name]
    assert b"transaction 1" not in handed_over.of_kafka.committed_values[name]


@pytest.mark.parametrize("group", GROUPS)
def test_groups_have_their_committed_offsets(handed_over: HandedOver, group: str) -> None:
    assert handed_over.of_kafka.committed_offsets[group] == handed_over.of_cluster.committed_offsets[group]
    assert max(handed_over.of_kafka.committed_offsets[group].values()) > 0


def test_producers_get_the_answers_that_the_cluster_gives(handed_over: HandedOver) -> None:
    assert handed_over.of_kafka.answers == handed_over.of_cluster.answers


@pytest.mark.parametrize("transactional_id", TRANSACTIONAL_IDS)
def test_transactional_producers_continue_with_the_id_and_epoch_that_the_cluster_gives(
    handed_over: HandedOver, transactional_id: str
) -> None:
    assert handed_over.of_kafka.initialized[transactional_id] == handed_over.of_cluster.initialized[transactional_id]


def test_logs_end_where_they_end_in_the_cluster_after_the_producers_continued(handed_over: HandedOver) -> None:
    assert handed_over.of_kafka.ends == handed_over.of_cluster.ends
