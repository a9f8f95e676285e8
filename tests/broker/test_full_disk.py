"""A disk that is full or cannot be read, end to end: that partition's error, said once, and all goes on afterwards."""

import logging
from collections.abc import Iterator

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.testing import Broker

from ..wire.wire_connection import still_serves
from .steered_file_system import SteeredFileSystem
from .topic_client import TIMESTAMP_MS, TOPIC, TopicClient

EARLIEST = -2


@pytest.fixture
def files() -> SteeredFileSystem:
    return SteeredFileSystem(MemoryFileSystem())


@pytest.fixture
def broker(files: SteeredFileSystem) -> Iterator[Broker]:
    with Broker(file_system=files) as broker:
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 2))
        yield broker


def lines_of(caplog: pytest.LogCaptureFixture, word: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if word in record.getMessage()]


def test_full_disk_refuses_batches_and_takes_the_retried_one_once_there_is_room(
    broker: Broker, files: SteeredFileSystem
) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        before = client.produce(0)
        files.is_full = True
        refused = [client.produce(1).error_code for _ in range(3)]
        is_served = still_serves(broker.bootstrap_servers)
        files.is_full = False
        retried = client.produce(1)
        repeated = client.produce(1)
        following = client.produce(2)
        fetched = client.fetch()

    assert refused == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
    assert is_served
    assert [before.base_offset, retried.base_offset, repeated.base_offset, following.base_offset] == [0, 1, 1, 2]
    assert fetched.high_watermark == 3


def test_full_disk_is_read_from(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        client.produce(0)
        files.is_full = True
        client.produce(1)
        fetched = client.fetch()

    assert fetched.error_code == ErrorCode.NONE
    assert fetched.high_watermark == 1
    assert fetched.records


def test_full_disk_is_logged_when_it_begins_and_when_it_ends(
    broker: Broker, files: SteeredFileSystem, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with TopicClient(broker.bootstrap_servers) as client:
        client.produce(0)
        files.is_full = True
        for _ in range(20):
            client.produce(1)
        files.is_full = False
        client.produce(1)
        client.produce(2)

    assert len(lines_of(caplog, "append fails")) == 1
    assert len(lines_of(caplog, "No space left")) == 1
    assert len(lines_of(caplog, "append works again")) == 1


def test_partition_whose_folder_is_full_leaves_the_others_of_the_request_alone(
    broker: Broker, files: SteeredFileSystem
) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        files.full_path = f"{TOPIC}-0"
        client.send_produce(0, partitions=2)
        answers = client.receive_produced()

    assert [answer.error_code for answer in answers] == [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE]


def test_unreadable_file_is_a_storage_error_until_it_can_be_read(
    broker: Broker, files: SteeredFileSystem, caplog: pytest.LogCaptureFixture
) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        client.produce(0)
        files.is_unreadable = True
        failed = [client.fetch().error_code for _ in range(5)]
        looked_up = client.list_offset(TIMESTAMP_MS)
        earliest = client.list_offset(EARLIEST)
        files.is_unreadable = False
        fetched = client.fetch()

    assert failed == [ErrorCode.KAFKA_STORAGE_ERROR] * 5
    assert looked_up.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (earliest.error_code, earliest.offset) == (ErrorCode.NONE, 0)
    assert fetched.records
    assert len(lines_of(caplog, "read fails")) == 1
    assert len(lines_of(caplog, "read works again")) == 1


def test_records_are_deleted_from_a_full_disk_too(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        client.produce(0)
        files.is_full = True
        deleted = client.delete_records(1)

    assert (deleted.error_code, deleted.low_watermark) == (ErrorCode.NONE, 1)


def test_topic_that_has_no_room_is_not_created(broker: Broker, files: SteeredFileSystem) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        files.is_full = True
        refused = client.create_topic("more")
        is_there = broker.call(lambda: broker.cluster.image.find_topic("more") is not None)
        files.is_full = False
        created = client.create_topic("more")

    assert refused == ErrorCode.KAFKA_STORAGE_ERROR
    assert not is_there
    assert created == ErrorCode.NONE
