"""Kafka's dump tool prints of the files that fauxka makes of a Kafka's segments what it prints of that Kafka's."""

import shutil
from pathlib import Path

import pytest

from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_loader import LoadState, LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion

from .dump_tool import Dumped, dumped, indexes_checked

pytestmark = pytest.mark.reference

GOLDEN = Path(__file__).parent.parent / "golden" / "kafka-4.3.0-data-dir"
# Shortly after the folder was written, so that no producer is past its time.
GOLDEN_NOW_MS = 1_795_242_100_000
PARTITION = "demo-0"


@pytest.fixture(scope="module")
def remade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden partition, whose indexes and snapshots fauxka made anew of its segments."""
    folder = tmp_path_factory.mktemp("remade")
    (folder / PARTITION).mkdir()
    for segment in (GOLDEN / PARTITION).glob("*.log"):
        shutil.copy(segment, folder / PARTITION)
    place = LogLocation(OsFileSystem(folder), "demo", 0, EmulatedVersion.latest())
    state = LoadState(is_clean=False, recovery_point=0, log_start_offset=0)
    PartitionLog(place, LogConfig(index_interval_bytes=100), now_ms=GOLDEN_NOW_MS, state=state).close()
    return folder / PARTITION


def lines_of(printed: Dumped, suffix: str) -> list[str]:
    """What was printed of the files of one kind; the producers of a snapshot in one order."""
    lines: list[str] = []
    for section in printed.output.split("Dumping ")[1:]:
        name, *rest = section.splitlines()
        if name.endswith(suffix):
            lines += [Path(name).name, *(sorted(rest) if name.endswith(".snapshot") else rest)]
    return lines


def test_tool_accepts_the_files_of_fauxka(remade: Path) -> None:
    assert dumped(remade).complaints == []
    assert indexes_checked(remade).complaints == []


@pytest.mark.parametrize("suffix", [".log", ".index", ".timeindex", ".txnindex"])
def test_tool_prints_the_same_for_fauxkas_files_as_for_kafkas(remade: Path, suffix: str) -> None:
    printed = lines_of(dumped(remade), suffix)

    assert len(printed) > 1
    assert printed == lines_of(dumped(GOLDEN / PARTITION), suffix)


def test_tool_prints_the_same_producers_at_the_end_of_the_log(remade: Path) -> None:
    name = f"{15:020d}.snapshot"
    ours, theirs = (lines_of(dumped(folder), name) for folder in (remade, GOLDEN / PARTITION))

    assert len(ours) == 5
    assert ours == theirs


def test_tool_complains_of_a_damaged_file(remade: Path, tmp_path: Path) -> None:
    damaged = tmp_path / PARTITION
    shutil.copytree(remade, damaged)
    index = damaged / f"{2:020d}.index"
    content = bytearray(index.read_bytes())
    content[7] ^= 1
    index.write_bytes(content)

    assert dumped(damaged).complaints != []
