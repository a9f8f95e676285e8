"""The cleaner thread of a running broker, on disk and in memory."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.partition_log import PartitionLog
from fauxka.testing import Broker

from ..manual_clock import manual_clock
from .steered_file_system import SteeredFileSystem

SECONDS_MAX = 10.0
BACKOFF_MS = 15_000
COMPACTED = {"cleanup.policy": "compact", "internal.segment.bytes": "200", "min.cleanable.dirty.ratio": "0"}


@pytest.fixture(params=["memory", "disk"])
def file_system(request: pytest.FixtureRequest) -> MemoryFileSystem | SteeredFileSystem:
    return MemoryFileSystem() if request.param == "memory" else SteeredFileSystem(MemoryFileSystem())


@pytest.fixture
def clock() -> AdjustableClock:
    return manual_clock()


@pytest.fixture
def broker(file_system: MemoryFileSystem | SteeredFileSystem, clock: AdjustableClock) -> Iterator[Broker]:
    with Broker(clock=clock, file_system=file_system) as broker:
        yield broker


def log_of_same_key(broker: Broker, topic: str = "table") -> PartitionLog:
    """Create a topic with twenty records of one key, two per segment. Return its log."""

    def made() -> PartitionLog:
        broker.cluster.controller.create_topic(topic, 1, configs=COMPACTED)
        partition = broker.cluster.node.replicas.partition_of(topic, 0)
        for index in range(20):
            partition.append(memoryview(build_batch([Record(b"value %d" % index, key=b"key")])), 0)
        return partition.log

    return broker.call(made)


def wait_until(broker: Broker, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not broker.call(is_so):
        assert time.monotonic() < deadline, "it never was"


def test_log_is_cleaned_after_the_backoff(broker: Broker, clock: AdjustableClock) -> None:
    log = log_of_same_key(broker)
    before = log.size_bytes

    broker.call(lambda: clock.advance(BACKOFF_MS))
    wait_until(broker, lambda: log.size_bytes < before / 2)

    assert log.log_end_offset == 20


def test_several_logs_are_cleaned_one_after_the_other(broker: Broker, clock: AdjustableClock) -> None:
    logs = [log_of_same_key(broker, "first"), log_of_same_key(broker, "second")]
    before = logs[0].size_bytes

    broker.call(lambda: clock.advance(BACKOFF_MS))
    wait_until(broker, lambda: all(log.size_bytes < before / 2 for log in logs))

    assert [log.log_end_offset for log in logs] == [20, 20]


def test_broker_without_compacted_topics_starts_no_thread(broker: Broker, clock: AdjustableClock) -> None:
    broker.call(lambda: broker.cluster.controller.create_topic("plain", 1))

    broker.call(lambda: clock.advance(10 * BACKOFF_MS))

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fauxka-cleaner")]


def test_cleaner_that_is_not_enabled_cleans_nothing(clock: AdjustableClock) -> None:
    with Broker({"log.cleaner.enable": "false"}, clock=clock) as broker:
        log = log_of_same_key(broker)
        before = log.size_bytes

        broker.call(lambda: clock.advance(10 * BACKOFF_MS))

        assert not [thread for thread in threading.enumerate() if thread.name.startswith("fauxka-cleaner")]
        assert log.size_bytes == before


def test_shutdown_stops_the_cleaner(clock: AdjustableClock) -> None:
    broker = Broker(clock=clock).start()
    log_of_same_key(broker)

    broker.call(lambda: clock.advance(BACKOFF_MS))
    broker.stop()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fauxka-cleaner")]


def test_cleaning_on_call_fails_if_the_node_crashes(broker: Broker) -> None:
    logs = [log_of_same_key(broker, "first"), log_of_same_key(broker, "second")]
    failed: list[str] = []

    def crash_while_cleaning() -> None:
        server = broker.control.server.servers[0]
        for log in logs:
            cleaned = server.cleaner_thread.clean_log(log)
            cleaned.deliver_to(lambda _: None, partial(failed.append, log.topic_partition))
        server.crash()

    broker.call(crash_while_cleaning)

    assert sorted(failed) == ["first-0", "second-0"]
