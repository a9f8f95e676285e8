"""The metadata store: changes are saved, and responses wait for the save."""

import errno
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.handlers.transactions import init_producer_id
from fauxka.broker.lifecycle.cluster_loader import load_cluster
from fauxka.broker.lifecycle.cluster_reset import reset_cluster
from fauxka.broker.lifecycle.metadata_store import MetadataFileStore
from fauxka.broker.lifecycle.storage_options import StorageOptions
from fauxka.broker.metadata.cluster_metadata import ClusterMetadata, decode_metadata
from fauxka.broker.metadata.metadata_fields import METADATA_FILE
from fauxka.broker.metadata.metadata_image import TRANSACTION_STATE_TOPIC
from fauxka.broker.network.listeners import Listener
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.broker.runtime.deferred import Deferred
from fauxka.broker.runtime.disk_executor import Step, StepDone
from fauxka.broker.runtime.long_work import LongWork
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.producers.producer_snapshots import ProducerSnapshots

from ..manual_clock import manual_clock

NODE_ID = 1
FLUSHED = {"log.flush.interval.messages": "1"}
LISTENER = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)


class StepsOnDemand:
    """A disk executor that runs a step only when the test calls run_next."""

    def __init__(self) -> None:
        self._steps: list[tuple[Step, StepDone]] = []

    def __len__(self) -> int:
        return len(self._steps)

    def run(self, step: Step, done: StepDone) -> None:
        self._steps.append((step, done))

    def soon(self, callback: Callable[[], None]) -> None:
        raise AssertionError("nothing here is put off")

    def run_next(self) -> None:
        step, done = self._steps.pop(0)
        try:
            step()
        except OSError as error:
            done(error)
        else:
            done(None)


class FullDisk(OsFileSystem):
    """A disk whose `replace` fails while it is full."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.is_full = False
        self.syncs = 0
        self.replaced: list[str] = []

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.syncs += is_synced
        self.replaced.append(path)
        super().replace(path, content, is_synced=is_synced)


class Scene:
    """A cluster on a data folder with a manual clock, a disk that can be full, and steps on demand."""

    def __init__(self, folder: Path, config: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.clock = manual_clock()
        self.steps = StepsOnDemand()
        options = StorageOptions(data_dir=str(folder))
        self.cluster: Cluster = load_cluster(BrokerConfig.from_entries(config or {}), options, clock=self.clock)
        self.disk = FullDisk(folder)
        vars(self.cluster.node.replicas)["disk_executor"] = self.steps
        assert isinstance(self.cluster.controller.store, MetadataFileStore)
        self.cluster.controller.store.directory.file_system = self.disk

    def written(self) -> ClusterMetadata:
        return decode_metadata((self.folder / METADATA_FILE).read_bytes())

    def written_topics(self) -> list[str]:
        return [topic.name for topic in self.written().topics]

    def saved(self) -> Deferred[KafkaError | None]:
        return self.cluster.controller.saved()


def test_change_is_in_the_file_when_it_is_answered(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 2, configs={"retention.ms": "1"})

    saved = scene.saved()

    assert (saved.is_done, saved.response()) == (True, None)
    assert [(topic.name, topic.partition_count, topic.configs) for topic in scene.written().topics] == [
        ("events", 2, {"retention.ms": "1"})
    ]


def test_changes_of_one_request_are_written_once(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    for number in range(3):
        scene.cluster.controller.create_topic(f"events-{number}", 1)

    scene.saved()
    scene.clock.advance(0)

    assert scene.disk.replaced == [METADATA_FILE]


def test_change_without_a_waiting_request_is_written_when_the_loop_is_idle(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 1)

    scene.clock.advance(0)

    assert scene.written_topics() == ["events"]


def test_nothing_is_written_without_a_change(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.disk.is_full = True

    saved = scene.saved()

    assert (saved.is_done, saved.response()) == (True, None)


def test_synced_file_is_written_in_a_disk_thread_and_the_response_waits(tmp_path: Path) -> None:
    scene = Scene(tmp_path, FLUSHED)
    scene.cluster.controller.create_topic("events", 1)

    saved = scene.saved()
    topics_before = scene.written_topics()
    is_saved_before = saved.is_done
    scene.steps.run_next()

    assert (topics_before, is_saved_before) == ([], False)
    assert (saved.is_done, saved.response()) == (True, None)
    assert scene.written_topics() == ["events"]
    assert scene.disk.syncs == 1


def test_changes_during_a_write_go_into_the_next_write_together(tmp_path: Path) -> None:
    scene = Scene(tmp_path, FLUSHED)
    saved: list[Deferred[KafkaError | None]] = []
    for name in ("first", "second", "third"):
        scene.cluster.controller.create_topic(name, 1)
        saved.append(scene.saved())

    scene.steps.run_next()
    after_first = [each.is_done for each in saved]
    topics_after_first = scene.written_topics()
    scene.steps.run_next()

    assert after_first == [True, False, False]
    assert topics_after_first == ["first"]
    assert [each.is_done for each in saved] == [True, True, True]
    assert scene.written_topics() == ["first", "second", "third"]
    assert len(scene.steps) == 0


def test_change_without_a_waiting_request_is_written_after_the_write_in_flight(tmp_path: Path) -> None:
    scene = Scene(tmp_path, FLUSHED)
    scene.cluster.controller.create_topic("first", 1)
    scene.saved()
    scene.cluster.controller.create_topic("second", 1)
    scene.clock.advance(0)

    scene.steps.run_next()
    scene.steps.run_next()

    assert scene.written_topics() == ["first", "second"]


@pytest.mark.parametrize("config", [{}, FLUSHED])
def test_failed_write_returns_a_storage_error_and_is_retried(
    tmp_path: Path, config: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene(tmp_path, config)
    scene.cluster.controller.create_topic("events", 1)
    scene.disk.is_full = True

    saved = scene.saved()
    if not saved.is_done:
        scene.steps.run_next()
    error = saved.response()
    topics_meanwhile = scene.written_topics()
    scene.disk.is_full = False
    scene.clock.advance(1000)
    if len(scene.steps):
        scene.steps.run_next()

    assert error is not None
    assert error.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert topics_meanwhile == []
    assert scene.written_topics() == ["events"]
    assert "No space left on device" in caplog.text


def test_producer_id_waits_for_its_block(tmp_path: Path) -> None:
    scene = Scene(tmp_path, FLUSHED)
    scene.cluster.controller.claim_producer_ids(NODE_ID)
    saved = scene.saved()
    before = scene.cluster.controller.producer_ids.generate(NODE_ID)

    scene.steps.run_next()

    assert saved.is_done
    assert before is None
    assert scene.cluster.controller.producer_ids.generate(NODE_ID) == 0
    assert scene.written().next_producer_id == 1000


def test_no_id_is_allocated_from_a_block_that_cannot_be_saved(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.disk.is_full = True
    scene.cluster.controller.claim_producer_ids(NODE_ID)

    error = scene.saved().response()

    assert error is not None
    assert error.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert scene.cluster.controller.producer_ids.generate(NODE_ID) is None


def test_topic_whose_folders_cannot_be_created_does_not_exist(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    # A file has the name of the folder of the second partition.
    (tmp_path / "events-1").write_bytes(b"")
    with pytest.raises(KafkaError) as raised:
        scene.cluster.controller.create_topic("events", 2)
    (tmp_path / "events-1").unlink()

    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert scene.cluster.image.topics == {}
    scene.cluster.controller.create_topic("events", 2)
    assert scene.cluster.node.replicas.partition_of("events", 0).log.log_end_offset == 0


def test_deleted_topic_is_removed_from_the_file_before_its_folders(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    topic = scene.cluster.controller.create_topic("events", 1)
    scene.saved()

    scene.cluster.controller.delete_topics([topic])

    assert scene.written_topics() == []
    assert [path.name for path in tmp_path.glob("events-0*")] == [path.name for path in tmp_path.glob("*-delete")]


def test_start_up_without_changes_writes_nothing(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 1)
    scene.cluster.close()
    written = (tmp_path / METADATA_FILE).stat().st_mtime_ns

    Scene(tmp_path).cluster.close()

    assert (tmp_path / METADATA_FILE).stat().st_mtime_ns == written


def test_stop_writes_pending_changes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 1)

    scene.cluster.close()

    assert scene.written_topics() == ["events"]
    assert (tmp_path / ".kafka_cleanshutdown").exists()
    assert not caplog.records


def test_shutdown_with_a_log_that_cannot_be_closed_closes_the_others_and_is_unclean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 20)

    closed = set[str]()
    write = ProducerSnapshots.write

    def write_all_but_one(snapshots: ProducerSnapshots, offset: int, *args: Any, **named: Any) -> None:
        folder = snapshots.path(offset).partition("/")[0]
        if folder == "events-0":
            raise OSError(errno.EIO, "Input/output error")
        write(snapshots, offset, *args, **named)
        closed.add(folder)

    # A log is created with its first use.
    for index in range(20):
        assert scene.cluster.node.replicas.partition_of("events", index).log
    # A log that is closed writes one.
    monkeypatch.setattr(ProducerSnapshots, "write", write_all_but_one)
    scene.cluster.close()

    assert not (tmp_path / ".kafka_cleanshutdown").exists()
    assert closed == {f"events-{index}" for index in range(1, 20)}
    assert "Input/output error" in caplog.text


def test_a_transactional_id_that_waits_for_a_producer_id_is_not_created_after_a_reset(tmp_path: Path) -> None:
    scene = Scene(tmp_path, FLUSHED)
    cluster, request = scene.cluster, InitProducerIdRequest(transactional_id="transfers", transaction_timeout_ms=1000)
    cluster.controller.create_topic(TRANSACTION_STATE_TOPIC, 1)
    context = RequestContext(cluster.node, ConnectionInfo(1, LISTENER))
    context.api_version = 4
    steps = init_producer_id.handle(context, request)
    assert isinstance(steps, Coroutine)
    response = LongWork().run(steps, context.connection)
    assert isinstance(response, Deferred)

    reset_cluster(cluster)
    cluster.controller.create_topic(TRANSACTION_STATE_TOPIC, 1)
    while len(scene.steps):
        scene.steps.run_next()

    assert cluster.node.coordinators.transactions.list_all() == []
    answer = response.response()
    assert answer is not None
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
