"""Clusters of three brokers, handed over to one real Kafka: the same records, and the same responses to producers."""

import shutil
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from ..serving_process import run, serving, stop
from .cluster_scene import NODES, ClusterScene, Observed
from .handed_over import INTERNAL_TOPICS, RACKS, HandedOver, HandedOverContract
from .kafka_cluster import kafka_cluster
from .kafka_process import kafka_process
from .log_scene import QUIET
from .test_export import settings_in

pytestmark = pytest.mark.reference

RUNNING_KAFKA, RUNNING_NODES, DATA_FOLDER = "a running Kafka", "running nodes", "the data folder of nodes"


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


class TestExportedCluster(HandedOverContract):
    pass
