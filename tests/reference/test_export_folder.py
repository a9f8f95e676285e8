"""The data folder of a stopped or killed fauxka, handed over: Kafka serves it, and answers as fauxka does."""

import shutil
import signal
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..serving_process import run, serving, stop
from .kafka_process import kafka_process
from .log_client import ProduceAnswer, Stored, log_client
from .log_scene import QUIET, TOPICS, WRAPPING_PRODUCER, LogScene, answers_to, stored_in, wait_until_led

pytestmark = pytest.mark.reference

SIGNALS = {"stopped cleanly": signal.SIGTERM, "killed": signal.SIGKILL}


@dataclass(frozen=True)
class HandedOver:
    """What fauxka serves when it is started again, and what Kafka serves of the same folder."""

    was_left_alone: bool
    logs_of_fauxka: Mapping[str, list[Stored]]
    logs_of_kafka: Mapping[str, list[Stored]]
    answers_of_fauxka: Mapping[str, ProduceAnswer]
    answers_of_kafka: Mapping[str, ProduceAnswer]
    new_producer_id: int


def files_in(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of all files."""
    return {
        str(file.relative_to(folder)): (file.stat().st_size, file.stat().st_mtime_ns)
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.fixture(scope="module", params=SIGNALS)
def handed_over(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[HandedOver, None, None]:
    folder = tmp_path_factory.mktemp("folder")
    data, scene = folder / "fauxka", LogScene()
    with serving(folder, "--data-dir", str(data), *QUIET) as fauxka:
        with log_client(fauxka.bootstrap) as client:
            scene.fill(client)
        stop(fauxka, SIGNALS[request.param])
    (folder / "ready.json").unlink(missing_ok=True)
    before = files_in(data)
    ended = run("export", str(folder / "exported"), "--data-dir", str(data))
    assert ended.exit_code == 0, ended.log
    was_left_alone = files_in(data) == before
    with serving(folder, "--data-dir", str(data), *QUIET) as fauxka, log_client(fauxka.bootstrap) as client:
        logs_of_fauxka = stored_in(client)
        answers_of_fauxka = answers_to(client, scene.questions())
    exported = folder / "exported"
    with kafka_process(folder / "kafka.log", data=exported) as kafka, log_client(kafka.address) as client:
        wait_until_led(client)
        logs_of_kafka = stored_in(client)
        answers_of_kafka = answers_to(client, scene.questions())
        new_producer_id = client.new_producer_id()
    yield HandedOver(
        was_left_alone, logs_of_fauxka, logs_of_kafka, answers_of_fauxka, answers_of_kafka, new_producer_id
    )
    shutil.rmtree(folder)


@pytest.mark.parametrize("topic", TOPICS)
def test_kafka_serves_the_batches_that_fauxka_serves(handed_over: HandedOver, topic: str) -> None:
    assert handed_over.logs_of_kafka[topic] == handed_over.logs_of_fauxka[topic]


def test_producers_get_the_answers_that_fauxka_gives_after_its_restart(handed_over: HandedOver) -> None:
    assert handed_over.answers_of_kafka == handed_over.answers_of_fauxka


def test_kafka_gives_a_new_producer_an_id_that_no_log_holds(handed_over: HandedOver) -> None:
    assert handed_over.new_producer_id > WRAPPING_PRODUCER


def test_export_leaves_the_data_folder_alone(handed_over: HandedOver) -> None:
    assert handed_over.was_left_alone
