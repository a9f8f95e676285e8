"""The folders of a real Kafka of three brokers, read by three nodes: the same records, and the same responses."""

import shutil
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..serving_process import serving
from .cluster_scene import GROUPS, NODES, PARTITIONS, TRANSACTIONAL_IDS, ClusterScene, Observed, name_of
from .kafka_cluster import KafkaCluster, kafka_cluster
from .log_scene import QUIET
from .test_import import CLEAN, KILLED, files_in

pytestmark = pytest.mark.reference

NAMES = [name_of(*each) for each in PARTITIONS]
RACKS = ("a", "b", "c")
# Where the imported logs are served, and the options for it.
READ_IN_PLACE, COPIED = "read in place", "copied"
PLACES = {READ_IN_PLACE: (), COPIED: ("--data-dir", "DATA")}


@dataclass(frozen=True)
class Imported:
    """What clients see of Kafka after its restart, and of fauxka with the same folders."""

    folders: list[Path]
    files_before: list[dict[str, bytes]]
    of_kafka: Observed
    of_fauxka: Mapping[str, Observed]


def end(cluster: KafkaCluster, how: str) -> None:
    """End all nodes of a cluster: how a rolling restart does, or all at once."""
    if how == CLEAN:
        for node in reversed(NODES):
            cluster.stop(node)
    cluster.end_all()


@pytest.fixture(scope="module", params=[CLEAN, KILLED])
def imported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Imported, None, None]:
    folder = tmp_path_factory.mktemp("import")
    scene = ClusterScene()
    folders = [folder / f"copy-{node}" for node in NODES]
    with kafka_cluster(folder / "kafka", {}, RACKS) as cluster:
        bootstrap = ",".join(cluster.address(node) for node in NODES)
        scene.fill(bootstrap)
        end(cluster, request.param)
        for node, copy in zip(NODES, folders, strict=True):
            shutil.copytree(folder / "kafka" / f"node-{node}", copy)
        files_before = [files_in(copy) for copy in folders]
        options = [word for copy in folders for word in ("--import-logs", str(copy))]
        of_fauxka: dict[str, Observed] = {}
        for place, words in PLACES.items():
            words_here = [word.replace("DATA", str(folder / "data")) for word in words]
            with serving(folder, "--nodes", "3", *options, *words_here, *QUIET) as fauxka:
                of_fauxka[place] = scene.observe(fauxka.bootstrap)
            (folder / "ready.json").unlink(missing_ok=True)
        cluster.start_all()
        of_kafka = scene.observe(bootstrap)
    yield Imported(folders, files_before, of_kafka, of_fauxka)
    shutil.rmtree(folder)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES)
def test_imported_partition_has_the_batches_that_kafka_has_after_its_restart(
    imported: Imported, place: str, name: str
) -> None:
    assert imported.of_fauxka[place].logs[name] == imported.of_kafka.logs[name]
    assert imported.of_fauxka[place].logs[name].log_end_offset > 0


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES)
def test_consumers_of_committed_records_read_what_they_read_from_kafka(
    imported: Imported, place: str, name: str
) -> None:
    assert imported.of_fauxka[place].committed_values[name] == imported.of_kafka.committed_values[name]
    assert b"transaction 1" not in imported.of_fauxka[place].committed_values[name]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("group", GROUPS)
def test_groups_have_their_committed_offsets(imported: Imported, place: str, group: str) -> None:
    assert imported.of_fauxka[place].committed_offsets[group] == imported.of_kafka.committed_offsets[group]
    assert max(imported.of_fauxka[place].committed_offsets[group].values()) > 0


@pytest.mark.parametrize("place", PLACES)
def test_producers_get_the_answers_that_kafka_gives_after_its_restart(imported: Imported, place: str) -> None:
    assert imported.of_fauxka[place].answers == imported.of_kafka.answers


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("transactional_id", TRANSACTIONAL_IDS)
def test_transactional_producers_continue_with_the_id_and_epoch_that_kafka_gives(
    imported: Imported, place: str, transactional_id: str
) -> None:
    assert imported.of_fauxka[place].initialized[transactional_id] == imported.of_kafka.initialized[transactional_id]


@pytest.mark.parametrize("place", PLACES)
def test_logs_end_where_they_end_in_kafka_after_the_producers_continued(imported: Imported, place: str) -> None:
    assert imported.of_fauxka[place].ends == imported.of_kafka.ends


def test_import_leaves_the_folders_as_they_were(imported: Imported) -> None:
    assert [files_in(folder) for folder in imported.folders] == imported.files_before
