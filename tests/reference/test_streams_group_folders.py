"""Streams groups in a data folder: what one broker has written, the other one serves as the first one does."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ..clients.java_program import JavaProgram
from ..golden.capture_streams_tools import KAFKA_VERSION
from ..golden.line_comparison import check_lines
from ..golden.streams_tools.groups import CONFIG
from ..serving_process import run, serving
from .kafka_process import kafka_process
from .log_scene import QUIET
from .streams_folder_scene import OPTIONS, make_groups, seen_by_clients

pytestmark = [pytest.mark.reference, pytest.mark.java]

KAFKA = {"KAFKA_VERSION": KAFKA_VERSION}
CLEAN, KILLED = "stopped cleanly", "killed"


@dataclass(frozen=True)
class Seen:
    """What clients see of the groups on each of the brokers."""

    of_kafka: list[str]
    of_fauxka: list[str]


@pytest.fixture(scope="module")
def program() -> Iterator[JavaProgram]:
    runner = JavaProgram("ToolRunner", version=KAFKA_VERSION)
    yield runner
    runner.close()


@pytest.fixture(scope="module", params=[CLEAN, KILLED])
def imported(request: pytest.FixtureRequest, program: JavaProgram, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Groups of a Kafka that has ended; fauxka has a copy of its folder."""
    folder = tmp_path_factory.mktemp("import")
    data, log = folder / "kafka", folder / "kafka.log"
    with kafka_process(log, CONFIG, data, variables=KAFKA) as kafka:
        make_groups(kafka.address)
        if request.param == KILLED:
            kafka.kill()
    shutil.copytree(data, folder / "copy")
    with serving(folder, "--import-logs", str(folder / "copy"), *OPTIONS, *QUIET) as fauxka:
        of_fauxka = seen_by_clients(fauxka.bootstrap, program)
    with kafka_process(log, CONFIG, data, variables=KAFKA) as kafka:
        of_kafka = seen_by_clients(kafka.address, program)
    return Seen(of_kafka, of_fauxka)


@pytest.fixture(scope="module")
def exported(program: JavaProgram, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Groups of a fauxka that was killed; Kafka has an export of its folder."""
    folder = tmp_path_factory.mktemp("export")
    with serving(folder, "--data-dir", str(folder / "data"), *OPTIONS, *QUIET) as fauxka:
        make_groups(fauxka.bootstrap)
    (folder / "ready.json").unlink()
    ended = run("export", str(folder / "exported"), "--data-dir", str(folder / "data"))
    assert ended.exit_code == 0, ended.log
    with serving(folder, "--data-dir", str(folder / "data"), *OPTIONS, *QUIET) as fauxka:
        of_fauxka = seen_by_clients(fauxka.bootstrap, program)
    with kafka_process(folder / "kafka.log", CONFIG, folder / "exported", variables=KAFKA) as kafka:
        of_kafka = seen_by_clients(kafka.address, program)
    return Seen(of_kafka, of_fauxka)


def test_groups_of_an_imported_folder_are_those_of_kafka_after_its_restart(imported: Seen) -> None:
    check_lines(imported.of_fauxka, imported.of_kafka)


def test_kafka_has_the_groups_of_an_exported_folder(exported: Seen) -> None:
    check_lines(exported.of_kafka, exported.of_fauxka)
