"""A real Kafka's folder, read by fauxka as it is: the same records, and the same answers as the Kafka itself gives."""

import shutil
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..serving_process import serving
from .kafka_process import kafka_process
from .log_client import ProduceAnswer, Stored, log_client
from .log_scene import QUIET, TOPICS, LogScene, answers_to, stored_in, wait_until_led

pytestmark = pytest.mark.reference

Logs = Mapping[str, list[Stored]]
Answers = Mapping[str, ProduceAnswer]
CLEAN, KILLED = "stopped cleanly", "killed"


@dataclass(frozen=True)
class Imported:
    """What Kafka had stored, what fauxka serves of it, and what both answered afterwards."""

    folder: Path
    files_before: Mapping[str, bytes]
    logs_before: Logs
    logs_of_kafka: Logs
    logs_of_fauxka: Logs
    answers_of_kafka: Answers
    answers_of_fauxka: Answers


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module", params=[CLEAN, KILLED])
def imported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Imported, None, None]:
    folder = tmp_path_factory.mktemp("import")
    scene, data, log = LogScene(), folder / "kafka", folder / "kafka.log"
    with kafka_process(log, data=data) as kafka, log_client(kafka.address) as client:
        scene.fill(client)
        logs_before = stored_in(client)
        if request.param == KILLED:
            kafka.kill()
    shutil.copytree(data, folder / "copy")
    files_before = files_in(folder / "copy")
    with (
        serving(folder, "--import-logs", str(folder / "copy"), *QUIET) as fauxka,
        log_client(fauxka.bootstrap) as client,
    ):
        logs_of_fauxka = stored_in(client)
        answers_of_fauxka = answers_to(client, scene.questions())
    with kafka_process(log, data=data) as kafka, log_client(kafka.address) as client:
        wait_until_led(client)
        logs_of_kafka = stored_in(client)
        answers_of_kafka = answers_to(client, scene.questions())
    yield Imported(
        folder / "copy", files_before, logs_before, logs_of_kafka, logs_of_fauxka, answers_of_kafka, answers_of_fauxka
    )


@pytest.mark.parametrize("topic", TOPICS)
def test_imported_topic_has_the_batches_that_kafka_has_after_its_restart(imported: Imported, topic: str) -> None:
    assert imported.logs_of_fauxka[topic] == imported.logs_of_kafka[topic]


@pytest.mark.parametrize("topic", TOPICS)
def test_imported_topic_lacks_nothing_that_kafka_had_acknowledged(imported: Imported, topic: str) -> None:
    """A Kafka that is killed may forget where a log began, which it notes once a minute: it then serves more."""
    for fauxka, before in zip(imported.logs_of_fauxka[topic], imported.logs_before[topic], strict=True):
        assert fauxka.log_end_offset == before.log_end_offset
        assert fauxka.batches[len(fauxka.batches) - len(before.batches) :] == before.batches


def test_producers_get_the_answers_that_kafka_gives_after_its_restart(imported: Imported) -> None:
    assert imported.answers_of_fauxka == imported.answers_of_kafka


def test_import_leaves_the_folder_as_it_was(imported: Imported) -> None:
    assert files_in(imported.folder) == imported.files_before
