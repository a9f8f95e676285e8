"""flush.messages end to end: a produce is answered when it is flushed, many of them by one flush, and in order."""

import errno
import time
from collections.abc import Callable, Iterator

import pytest

from fauxka.broker.replica.partition_flusher import RETRY_MS
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.partition_log import PartitionLog
from fauxka.testing import Broker

from ..manual_clock import manual_clock
from ..wire.wire_connection import still_serves
from .steered_file_system import HELD_SECONDS_MAX, SteeredFileSystem, os_error
from .topic_client import TOPIC, TopicClient


@pytest.fixture
def files() -> SteeredFileSystem:
    return SteeredFileSystem(MemoryFileSystem())


@pytest.fixture
def clock() -> AdjustableClock:
    return manual_clock()


@pytest.fixture
def broker(files: SteeredFileSystem, clock: AdjustableClock) -> Iterator[Broker]:
    """A broker of one topic of two partitions that flushes every message before it answers."""
    with Broker({"log.flush.interval.messages": "1"}, clock=clock, file_system=files) as broker:
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 2))
        yield broker
        files.release_syncs()


def test_produce_is_answered_after_its_flush(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        answer = client.produce(0)

    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    assert files.syncs == 1


def test_sixty_four_producers_wait_for_two_flushes(broker: Broker, files: SteeredFileSystem) -> None:
    clients = [TopicClient(broker.bootstrap_servers) for _ in range(64)]
    files.hold_syncs()
    clients[0].send_produce(0)
    assert files.sync_began.wait(HELD_SECONDS_MAX)

    for sequence, client in enumerate(clients[1:], 1):
        client.send_produce(sequence)
        _wait_until_appended(broker, sequence + 1)
    files.release_syncs()
    answers = [client.receive_produced()[0] for client in clients]

    assert [answer.base_offset for answer in answers] == list(range(64))
    assert files.syncs == 2
    for client in clients:
        client.__exit__()


def test_requests_in_flight_on_one_connection_share_a_flush_and_are_answered_in_order(
    broker: Broker, files: SteeredFileSystem
) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        files.hold_syncs()
        client.send_produce(0)
        assert files.sync_began.wait(HELD_SECONDS_MAX)
        client.send_produce(1, 2, 3, 4)
        _wait_until_appended(broker, 5)
        files.release_syncs()

        answers = [client.receive_produced()[0] for _ in range(5)]

    assert [answer.base_offset for answer in answers] == [0, 1, 2, 3, 4]
    assert files.syncs == 2


def test_request_behind_a_produce_is_answered_after_it(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        files.hold_syncs()
        client.send_produce(0)
        client.send_fetch(max_wait_ms=60_000)
        files.release_syncs()

        produced = client.receive_produced()[0]
        fetched = client.receive_fetched()

    assert produced.base_offset == 0
    assert fetched.records


def test_others_are_answered_while_a_flush_blocks(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        files.hold_syncs()
        client.send_produce(0)
        assert files.sync_began.wait(HELD_SECONDS_MAX)

        is_served = still_serves(broker.bootstrap_servers)
        files.release_syncs()
        answer = client.receive_produced()[0]

    assert is_served
    assert answer.error_code == ErrorCode.NONE


def test_produce_to_several_partitions_waits_for_all_of_them(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        client.send_produce(0, partitions=2)
        answers = client.receive_produced()

    assert [answer.base_offset for answer in answers] == [0, 0]
    assert files.syncs == 2


def test_produce_without_acks_is_flushed_and_waits_for_nothing(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        files.hold_syncs()
        client.send_produce(0, acks=0)
        assert files.sync_began.wait(HELD_SECONDS_MAX)
        earliest = client.list_offset(-2)
        files.release_syncs()

    assert earliest.offset == 0


def test_duplicate_of_a_batch_that_is_not_flushed_waits_for_the_flush(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client, TopicClient(broker.bootstrap_servers) as retrying:
        files.hold_syncs()
        client.send_produce(0)
        assert files.sync_began.wait(HELD_SECONDS_MAX)
        retrying.send_produce(0)
        _wait_until_handled(broker, 2)
        files.sync_error = os_error(errno.EIO)
        files.release_syncs()
        answers = [client.receive_produced()[0], retrying.receive_produced()[0]]

    assert [answer.error_code for answer in answers] == [ErrorCode.KAFKA_STORAGE_ERROR] * 2


def test_consumer_sees_nothing_that_is_not_flushed(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client, TopicClient(broker.bootstrap_servers) as consumer:
        files.hold_syncs()
        client.send_produce(0)
        assert files.sync_began.wait(HELD_SECONDS_MAX)
        before = consumer.fetch()
        latest_before = consumer.list_offset(-1)
        consumer.send_fetch(max_wait_ms=60_000)
        files.release_syncs()
        after = consumer.receive_fetched()

    assert (before.high_watermark, before.records) == (0, b"")
    assert latest_before.offset == 0
    assert after.high_watermark == 1
    assert after.records


def test_failed_flush_is_a_storage_error_and_the_retried_batch_is_there_once(
    broker: Broker, files: SteeredFileSystem, clock: AdjustableClock
) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        files.sync_error = os_error(errno.EIO)
        failed = client.produce(0)
        refused = client.produce(0)
        files.sync_error = None
        broker.call(lambda: clock.advance(RETRY_MS))
        _wait_until(broker, lambda: not _log(broker).flushes.has_failed)
        retried = client.produce(0)
        following = client.produce(1)

    assert failed.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert failed.base_offset == -1
    assert retried.base_offset == 0
    assert following.base_offset == 1


def test_without_flush_messages_nothing_is_synced(files: SteeredFileSystem) -> None:
    with Broker(file_system=files) as broker, TopicClient(broker.bootstrap_servers) as client:
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1))
        answer = client.produce(0)
        syncs = files.syncs

    assert answer.error_code == ErrorCode.NONE
    assert syncs == 0


def test_sealed_segment_is_flushed_without_flush_messages(files: SteeredFileSystem) -> None:
    with Broker(file_system=files) as broker, TopicClient(broker.bootstrap_servers) as client:
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1, configs={"internal.segment.bytes": "200"}))
        for sequence in range(4):
            client.produce(sequence)

        _wait_until(broker, lambda: not _log(broker).has_unflushed_segments)
        flushed = _log(broker).recovery_point

    assert flushed >= 2


def _wait_until_handled(broker: Broker, produced: int) -> None:
    """Return when so many Produce requests have been handled, answered or not."""
    deadline = time.monotonic() + HELD_SECONDS_MAX
    while broker.journal.count(api="Produce") < produced:
        assert time.monotonic() < deadline, "they never came"


def _wait_until_appended(broker: Broker, records: int) -> None:
    _wait_until(broker, lambda: _log(broker).log_end_offset >= records)


def _log(broker: Broker) -> PartitionLog:
    return broker.cluster.node.replicas.partition_of(TOPIC, 0).log


def _wait_until(broker: Broker, is_so: Callable[[], bool]) -> None:
    """Have the broker's thread work until it is so."""
    deadline = time.monotonic() + HELD_SECONDS_MAX
    while not broker.call(is_so):
        assert time.monotonic() < deadline, "it never was"
