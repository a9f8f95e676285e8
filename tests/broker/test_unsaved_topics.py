"""Topics and partitions whose metadata cannot be saved: the request fails, and they exist neither then nor later."""

import importlib
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException

from fauxka.protocol.error_codes import ErrorCode
from fauxka.testing import Broker

# Its stubs do not export its classes.
confluent_admin = importlib.import_module("confluent_kafka.admin")
TOPIC = "events"
FLUSHED = {"log.flush.interval.messages": "1"}
SECONDS_MAX = 60.0
FAILING = ("write", "fsync", "rename")


@pytest.fixture(params=FAILING)
def failing(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with Broker(FLUSHED, data_dir=tmp_path / "data") as broker:
        yield broker


def fail_metadata(broker: Broker, operation: str) -> None:
    rule = {"action": "fail", "operation": operation, "path": "cluster-metadata.json", "when": {"times": None}}
    broker.files.add(**rule)


def admin_of(broker: Broker) -> Any:
    return confluent_admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})


def create_topic(admin: Any, name: str) -> int:
    """Return the error code."""
    return _code_of(admin.create_topics([confluent_admin.NewTopic(name, 1, 1)], request_timeout=SECONDS_MAX)[name])


def add_partitions(admin: Any, name: str, total: int) -> int:
    """Return the error code."""
    wanted = [confluent_admin.NewPartitions(name, total)]
    return _code_of(admin.create_partitions(wanted, request_timeout=SECONDS_MAX)[name])


def _code_of(future: Future[None]) -> int:
    try:
        future.result(SECONDS_MAX)
    except KafkaException as error:
        return int(error.args[0].code())
    return 0


def partition_counts(admin: Any) -> dict[str, int]:
    return {name: len(topic.partitions) for name, topic in admin.list_topics(timeout=SECONDS_MAX).topics.items()}


def test_topic_that_could_not_be_saved_does_not_exist(broker: Broker, failing: str) -> None:
    admin = admin_of(broker)
    fail_metadata(broker, failing)

    code = create_topic(admin, TOPIC)

    assert (code, partition_counts(admin)) == (ErrorCode.KAFKA_STORAGE_ERROR, {})


def test_topic_that_could_not_be_saved_does_not_exist_after_a_restart(tmp_path: Path, failing: str) -> None:
    with Broker(FLUSHED, data_dir=tmp_path / "data") as broker:
        fail_metadata(broker, failing)
        code = create_topic(admin_of(broker), TOPIC)
        broker.files.clear()

    with Broker(FLUSHED, data_dir=tmp_path / "data") as broker:
        found = partition_counts(admin_of(broker))

    assert (code, found) == (ErrorCode.KAFKA_STORAGE_ERROR, {})


def test_topic_can_be_created_when_the_disk_works_again(broker: Broker, failing: str) -> None:
    admin = admin_of(broker)
    fail_metadata(broker, failing)
    first = create_topic(admin, TOPIC)
    broker.files.clear()

    again = create_topic(admin, TOPIC)

    assert (first, again, partition_counts(admin)) == (ErrorCode.KAFKA_STORAGE_ERROR, 0, {TOPIC: 1})


def test_partitions_that_could_not_be_saved_do_not_exist_after_a_restart(tmp_path: Path, failing: str) -> None:
    with Broker(FLUSHED, data_dir=tmp_path / "data") as broker:
        admin = admin_of(broker)
        assert create_topic(admin, TOPIC) == 0
        fail_metadata(broker, failing)
        code = add_partitions(admin, TOPIC, 3)
        before = partition_counts(admin)
        broker.files.clear()

    with Broker(FLUSHED, data_dir=tmp_path / "data") as broker:
        after = partition_counts(admin_of(broker))

    assert (code, before, after) == (ErrorCode.KAFKA_STORAGE_ERROR, {TOPIC: 1}, {TOPIC: 1})


def test_partition_whose_files_cannot_be_created_leaves_no_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Broker(FLUSHED, data_dir=data) as broker:
        broker.files.add(action="fail", operation="write", path=f"{TOPIC}-0/leader-epoch-checkpoint")

        code = create_topic(admin_of(broker), TOPIC)

        assert (code, sorted(data.glob(f"{TOPIC}-*"))) == (ErrorCode.KAFKA_STORAGE_ERROR, [])
