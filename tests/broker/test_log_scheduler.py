"""Periodic work on logs on disk, with a manual clock."""

import time
from collections.abc import Callable, Iterator

import pytest

from fauxka.broker.lifecycle.log_scheduler import DELETION_INTERVAL_MS
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.testing import Broker

from ..manual_clock import manual_clock
from .steered_file_system import SteeredFileSystem
from .topic_client import TOPIC, TopicClient

SECONDS_MAX = 10.0
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"


@pytest.fixture
def files() -> SteeredFileSystem:
    return SteeredFileSystem(MemoryFileSystem())


@pytest.fixture
def clock() -> AdjustableClock:
    return manual_clock()


@pytest.fixture
def broker(files: SteeredFileSystem, clock: AdjustableClock) -> Iterator[Broker]:
    config = {"log.flush.scheduler.interval.ms": "100", "log.flush.interval.ms": "1000"}
    with Broker(config, clock=clock, file_system=files) as broker:
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1))
        yield broker


def content_of(files: SteeredFileSystem, name: str) -> bytes:
    if not files.exists(name):
        return b""
    file = files.open(name)
    return bytes(file.read(0, file.size))


def wait_until(broker: Broker, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not broker.call(is_so):
        assert time.monotonic() < deadline, "it never was"


def produce(broker: Broker, *sequences: int) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        for sequence in sequences:
            assert client.produce(sequence).error_code == 0


def test_high_watermarks_are_checkpointed_every_five_seconds(
    broker: Broker, files: SteeredFileSystem, clock: AdjustableClock
) -> None:
    produce(broker, 0, 1)

    broker.call(lambda: clock.advance(4_999))
    early = content_of(files, HIGH_WATERMARKS)
    broker.call(lambda: clock.advance(1))
    wait_until(broker, lambda: files.exists(HIGH_WATERMARKS))

    assert early == b""
    assert content_of(files, HIGH_WATERMARKS) == b"0\n1\nevents 0 2\n"


def test_recovery_points_are_checkpointed_every_minute(
    broker: Broker, files: SteeredFileSystem, clock: AdjustableClock
) -> None:
    produce(broker, 0, 1)
    broker.call(lambda: clock.advance(1_000))
    wait_until(broker, lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.recovery_point == 2)

    broker.call(lambda: clock.advance(60_000))
    wait_until(broker, lambda: files.exists(RECOVERY_POINTS) and files.exists(LOG_STARTS))

    assert content_of(files, RECOVERY_POINTS) == b"0\n1\nevents 0 2\n"
    assert content_of(files, LOG_STARTS) == b"0\n0\n"


def test_log_is_flushed_after_flush_ms(broker: Broker, files: SteeredFileSystem, clock: AdjustableClock) -> None:
    produce(broker, 0)

    broker.call(lambda: clock.advance(900))
    early = files.syncs
    broker.call(lambda: clock.advance(100))
    wait_until(broker, lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.recovery_point == 1)

    assert early == 0
    assert files.syncs == 1


def test_files_of_a_deleted_topic_are_deleted_later(
    broker: Broker, files: SteeredFileSystem, clock: AdjustableClock
) -> None:
    produce(broker, 0)
    broker.call(lambda: broker.cluster.controller.delete_topics([broker.cluster.image.topics[TOPIC]]))
    renamed = files.folders()

    broker.call(lambda: clock.advance(59_000))
    early = files.folders()
    broker.call(lambda: clock.advance(1_000 + DELETION_INTERVAL_MS))
    wait_until(broker, lambda: files.folders() == [])

    assert [folder.endswith("-delete") for folder in renamed] == [True]
    assert early == renamed


def test_checkpoint_that_cannot_be_written_is_reported_once_and_retried(
    broker: Broker, files: SteeredFileSystem, clock: AdjustableClock, caplog: pytest.LogCaptureFixture
) -> None:
    produce(broker, 0)
    files.is_full = True
    for _ in range(3):
        broker.call(lambda: clock.advance(5_000))
        wait_until(broker, lambda: broker.cluster.node.replicas.disk_executor.is_idle)

    files.is_full = False
    broker.call(lambda: clock.advance(5_000))
    wait_until(broker, lambda: files.exists(HIGH_WATERMARKS))

    assert len([line for line in caplog.messages if HIGH_WATERMARKS in line]) == 1


def test_in_memory_no_thread_is_started(clock: AdjustableClock) -> None:
    with Broker({"log.flush.interval.messages": "1"}, clock=clock) as broker:
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1))
        produce(broker, 0)
        broker.call(lambda: clock.advance(120_000))

        has_steps = "steps" in vars(broker.cluster)

    assert not has_steps


def test_stop_waits_for_a_flush_in_flight(files: SteeredFileSystem) -> None:
    broker = Broker({"log.flush.interval.messages": "1"}, file_system=files).start()
    broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1))
    files.hold_syncs()
    with TopicClient(broker.bootstrap_servers) as client:
        client.send_produce(0)
        assert files.sync_began.wait(SECONDS_MAX)
    log = broker.cluster.node.replicas.partition_of(TOPIC, 0).log
    before = log.recovery_point

    files.release_syncs()
    broker.stop()

    assert (before, log.recovery_point) == (0, 1)
