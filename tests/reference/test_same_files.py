"""The same requests to a real Kafka and to fauxka: the files they leave are equal, byte for byte.

Apart from: topic ids, which each broker draws; the order of the entries of a producer snapshot, and with it the
snapshot's CRC; after a restart, the leader epochs, which Kafka raises.
"""

import signal
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from fauxka.storage.producers.producer_snapshot import decode_snapshot

from ..serving_process import serving, stop
from .dump_tool import SUFFIXES, dumped, indexes_checked, log_files
from .kafka_process import kafka_process
from .log_client import NO_ERROR, LogClient, batches_in, log_client, without_leader_epoch
from .log_scene import PARTITION_COUNTS, QUIET, TOPICS, LogScene, wait_until_led

pytestmark = pytest.mark.reference

# Kafka makes a topic's folders only after it answered that it made the topic, and looks after its logs after 30 s.
PARTITIONS = [f"{topic}-{partition}" for topic in TOPICS for partition in range(PARTITION_COUNTS[topic])]
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
Step = Callable[[LogClient], None]


class Folders:
    """The data folders that both brokers left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.kafka = folder / "kafka"
        self.fauxka = folder / "fauxka"
        self.scene = LogScene()

    def run(self, step: Step) -> None:
        """Start both brokers, one after the other, on what is there, and stop them cleanly after the step."""
        with kafka_process(self._folder / "kafka.log", data=self.kafka) as kafka, log_client(kafka.address) as client:
            step(client)
        with serving(self._folder, "--data-dir", str(self.fauxka), *QUIET) as fauxka:
            with log_client(fauxka.bootstrap) as client:
                step(client)
            assert stop(fauxka, signal.SIGTERM).exit_code == 0

    def fill(self, client: LogClient) -> None:
        self.scene.fill(client)

    def go_on(self, client: LogClient) -> None:
        wait_until_led(client)
        self.scene.append_more(client)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Generator[Folders, None, None]:
    folders = Folders(tmp_path_factory.mktemp("filled"))
    folders.run(folders.fill)
    yield folders


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Generator[Folders, None, None]:
    folders = Folders(tmp_path_factory.mktemp("restarted"))
    folders.run(folders.fill)
    folders.run(folders.go_on)
    yield folders


def contents(folder: Path) -> dict[str, bytes]:
    """The log files of a partition, with the entries of snapshots in one order."""
    return {file.name: content_of(file) for file in log_files(folder)}


def content_of(file: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix != ".snapshot":
        return content
    return repr(sorted(decode_snapshot(content), key=lambda entry: entry.producer_id)).encode()


def test_drawn_batches_are_answered_alike(filled: Folders) -> None:
    answers_of_kafka, answers_of_fauxka = filled.scene.drawn_answers

    assert answers_of_fauxka == answers_of_kafka
    assert {answer.error_code for answer in answers_of_kafka} >= {NO_ERROR, OUT_OF_ORDER_SEQUENCE_NUMBER}


@pytest.mark.parametrize("partition", PARTITIONS)
def test_files_of_both_brokers_have_the_same_names(filled: Folders, partition: str) -> None:
    names = [sorted(file.name for file in (side / partition).iterdir()) for side in (filled.kafka, filled.fauxka)]

    assert names[0] == names[1]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("partition", PARTITIONS)
def test_files_of_both_brokers_are_equal(filled: Folders, partition: str, suffix: str) -> None:
    kafka, fauxka = (contents(side / partition) for side in (filled.kafka, filled.fauxka))

    assert {name: data for name, data in fauxka.items() if name.endswith(suffix)} == {
        name: data for name, data in kafka.items() if name.endswith(suffix)
    }


@pytest.mark.parametrize("partition", PARTITIONS)
def test_leader_epoch_checkpoints_are_equal(filled: Folders, partition: str) -> None:
    name = "leader-epoch-checkpoint"

    assert (filled.fauxka / partition / name).read_bytes() == (filled.kafka / partition / name).read_bytes()


@pytest.mark.parametrize(
    "name", ["recovery-point-offset-checkpoint", "log-start-offset-checkpoint", "replication-offset-checkpoint"]
)
def test_offset_checkpoints_are_equal_but_for_their_order(filled: Folders, name: str) -> None:
    kafka, fauxka = ((side / name).read_text().splitlines() for side in (filled.kafka, filled.fauxka))

    assert [*fauxka[:2], *sorted(fauxka[2:])] == [*kafka[:2], *sorted(kafka[2:])]


@pytest.mark.parametrize("partition", PARTITIONS)
def test_files_are_equal_after_a_restart_but_for_the_leader_epochs(restarted: Folders, partition: str) -> None:
    kafka, fauxka = (
        {
            name: b"".join(map(without_leader_epoch, batches_in(data))) if name.endswith(".log") else data
            for name, data in contents(side / partition).items()
        }
        for side in (restarted.kafka, restarted.fauxka)
    )

    assert fauxka == kafka


@pytest.mark.parametrize("partition", PARTITIONS)
def test_dump_tool_prints_every_file_without_complaint(filled: Folders, partition: str) -> None:
    printed = dumped(filled.fauxka / partition)

    assert printed.complaints == []
    assert printed.files == [file.name for file in log_files(filled.fauxka / partition)]


@pytest.mark.parametrize("partition", PARTITIONS)
def test_dump_tool_finds_the_indexes_sane(filled: Folders, partition: str) -> None:
    assert indexes_checked(filled.fauxka / partition).complaints == []
