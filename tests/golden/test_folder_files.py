"""Each stage of the captured Kafka: fauxka has the same files in its partition folders, with the same sizes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..reference.kafka_process import kafka_process
from ..serving_process import Serving, serving, stop
from .capture_folder_files import CONFIG, Files, capture
from .captures import FOLDER, KAFKA_VERSION

CAPTURED = FOLDER / f"folder_files-{KAFKA_VERSION}.json"
STAGES: dict[str, Files] = json.loads(CAPTURED.read_text())

# The sizes for segment.index.bytes of the captured topics, which are whole entries of 8 and 12 bytes.
PREALLOCATED = {".index": 1000, ".timeindex": 996}
# More than the entries of any index of the capture take.
ENTRIES_BYTES_MAX = 100


@dataclass(frozen=True)
class RunningFauxka:
    """A `fauxka serve` on a data folder."""

    serving: Serving

    @property
    def address(self) -> str:
        return self.serving.bootstrap

    def kill(self) -> None:
        os.kill(self.serving.process.pid, signal.SIGKILL)
        self.serving.process.wait()


@contextmanager
def running_fauxka(
    folder: Path, data: Path, config: Mapping[str, str] = CONFIG
) -> Generator[RunningFauxka, None, None]:
    options = [option for key, value in config.items() for option in ("-c", f"{key}={value}")]
    (folder / "ready.json").unlink(missing_ok=True)
    with serving(folder, "--data-dir", str(data), "--log-level", "error", *options) as started:
        yield RunningFauxka(started)
        if started.process.poll() is None:
            assert stop(started, signal.SIGTERM).exit_code == 0


@pytest.fixture(scope="module")
def files_of_fauxka(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    folder = tmp_path_factory.mktemp("files")
    return capture(lambda: running_fauxka(folder, folder / "data"), folder / "data")


@pytest.mark.parametrize("stage", STAGES)
def test_files_have_the_names_and_sizes_of_kafkas(files_of_fauxka: dict[str, Files], stage: str) -> None:
    assert preallocated_sizes_left_out(files_of_fauxka[stage], STAGES[stage]) == STAGES[stage]


def preallocated_sizes_left_out(files: Files, files_of_kafka: Files) -> Files:
    """Return the files with Kafka's size for each index that Kafka has preallocated and fauxka has not yet.

    Kafka preallocates the indexes when the segment becomes active, fauxka with the first entry.
    """
    return {
        topic: {name: compared_size(name, size, files_of_kafka[topic].get(name)) for name, size in folder.items()}
        for topic, folder in files.items()
    }


def compared_size(name: str, size: int | None, size_of_kafka: int | None) -> int | None:
    is_preallocated = size_of_kafka is not None and size_of_kafka == PREALLOCATED.get(Path(name).suffix)
    return size_of_kafka if is_preallocated and size is not None and size <= ENTRIES_BYTES_MAX else size


@pytest.mark.reference
def test_captured_files_are_those_that_kafka_has_today(tmp_path: Path) -> None:
    data = tmp_path / "data"

    assert capture(lambda: kafka_process(tmp_path / "kafka.log", CONFIG, data), data) == STAGES
