"""Dead-letter queues of share groups (KIP-1191): which records become dead letters, where, and with what."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing

import pytest

from fauxka.broker.replica.record_reader import StoredRecord
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse
from fauxka.testing import Broker

from ..golden.capture_recorder import Recorder
from ..golden.capture_share_groups import ACCEPT, LOCK_MS, REJECT, RELEASE, Story

QUEUE = "dlq.billing"
ENABLED = {"errors.deadletterqueue.group.enable": True}
UNSAFE_DOWNGRADE = 3


@pytest.fixture
def broker() -> Iterator[Broker]:
    config = {"group.share.min.record.lock.duration.ms": LOCK_MS, "share.coordinator.state.topic.num.partitions": 1}
    with Broker(config, as_version="4.4") as started:
        yield started


class Group:
    """A share group whose only member has the records of a partition, and gives them back one by one."""

    def __init__(self, broker: Broker, topic: str = QUEUE, partition_count: int = 1, **configs: str) -> None:
        self._recorder = Recorder(broker.bootstrap_servers, io.StringIO())
        configs["errors_deadletterqueue_topic_name"] = topic
        self.story = Story(self._recorder, "billing", partition_count, **configs)
        self.story.join()
        self.story.first_fetch()
        self._session_epoch = 0

    def close(self) -> None:
        self._recorder.connection.close()

    def fetch(self, partition: int = 0) -> None:
        self._session_epoch += 1
        self.story.fetch("fetch", self._session_epoch, partitions=(partition,))

    def acknowledge(self, types: Sequence[int], partition: int = 0) -> None:
        self._session_epoch += 1
        last = len(types) - 1
        self.story.acknowledge("acknowledge", self._session_epoch, (0, last, list(types)), partition=partition)

    def append(self, *records: Record) -> None:
        self._recorder.produce(self.story.topic, build_batch(records))

    def reject_one(self) -> None:
        """Have one record appended, acquired and rejected."""
        self.story.produce(1)
        self.fetch()
        self.acknowledge([REJECT])


OpenGroup = Callable[..., Group]


@pytest.fixture
def open_group() -> Iterator[OpenGroup]:
    """Opens groups, whose connections are closed after the test."""
    with ExitStack() as stack:
        yield lambda *arguments, **configs: stack.enter_context(closing(Group(*arguments, **configs)))


def texts_of(record: StoredRecord) -> dict[str, str]:
    return {name.removeprefix("__dlq.errors."): (value or b"").decode() for name, value in record.headers}


def dead_letters(broker: Broker, count: int, topic: str = QUEUE) -> list[StoredRecord]:
    broker.wait_for_records(topic, count)
    return broker.records(topic)


def test_rejected_record_is_written_with_six_headers_and_without_key_and_value(
    broker: Broker, open_group: OpenGroup
) -> None:
    broker.topics.create(QUEUE, configs=ENABLED)
    group = open_group(broker)
    group.story.produce(3)
    group.fetch()

    group.acknowledge([ACCEPT, REJECT, ACCEPT])

    (found,) = dead_letters(broker, 1)
    assert (found.key, found.value) == (None, None)
    assert texts_of(found) == {
        "topic": group.story.topic,
        "partition": "0",
        "offset": "1",
        "group": "billing",
        "delivery.count": "1",
        "message": "Offset rejected by client.",
    }


def test_copy_has_key_and_value_and_not_the_headers_of_the_record(broker: Broker, open_group: OpenGroup) -> None:
    broker.topics.create(QUEUE, configs=ENABLED)
    group = open_group(broker, errors_deadletterqueue_copy_record_enable="true")
    group.append(Record(key=b"k", value=b"v", timestamp=1, headers=(("trace", b"a"),)), Record(value=b"w", timestamp=1))
    group.fetch()

    group.acknowledge([REJECT, REJECT])

    found = dead_letters(broker, 2)
    assert [(each.key, each.value) for each in found] == [(b"k", b"v"), (None, b"w")]
    assert [name for name, _ in found[0].headers if not name.startswith("__dlq.errors.")] == []


def test_record_that_was_released_as_often_as_the_limit_is_written(broker: Broker, open_group: OpenGroup) -> None:
    broker.topics.create(QUEUE, configs=ENABLED)
    group = open_group(broker, share_delivery_count_limit="2")
    group.story.produce(1)
    for _ in range(2):
        group.fetch()
        group.acknowledge([RELEASE])

    (found,) = dead_letters(broker, 1)
    assert (texts_of(found)["delivery.count"], texts_of(found)["message"]) == (
        "2",
        "Offset delivery count exceeded the threshold.",
    )


def test_record_whose_last_lock_ends_is_written(broker: Broker, open_group: OpenGroup) -> None:
    broker.topics.create(QUEUE, configs=ENABLED)
    group = open_group(broker, share_delivery_count_limit="2", share_record_lock_duration_ms=str(LOCK_MS))
    group.story.produce(1)
    group.fetch()
    group.acknowledge([RELEASE])
    group.fetch()

    broker.clock.advance(LOCK_MS + 1)

    (found,) = dead_letters(broker, 1)
    assert texts_of(found)["delivery.count"] == "2"


def test_partition_of_the_queue_is_that_of_the_record_modulo_their_number(
    broker: Broker, open_group: OpenGroup
) -> None:
    broker.topics.create(QUEUE, partitions=3, configs=ENABLED)
    group = open_group(broker, partition_count=5)
    group.story.produce(1, partition=4)
    # The first fetch of a partition reads its state, and the second one its records.
    for _ in range(2):
        group.fetch(partition=4)

    group.acknowledge([REJECT], partition=4)

    (found,) = dead_letters(broker, 1)
    assert (found.partition, texts_of(found)["partition"]) == (1, "4")


def test_missing_queue_is_created_if_the_cluster_creates_such_topics(open_group: OpenGroup) -> None:
    config = {"errors.deadletterqueue.auto.create.topics.enable": True, "num.partitions": 2}
    with Broker(config, as_version="4.4") as broker:
        open_group(broker).reject_one()

        assert len(dead_letters(broker, 1)) == 1
        created = broker.topics.get(QUEUE)
        assert len(created.partitions) == 2


@pytest.mark.parametrize(
    ("topic", "configs"), [("dlq.missing", None), ("dlq.plain", {}), ("queue", ENABLED)], ids=lambda value: str(value)
)
def test_topic_that_may_not_be_used_gets_nothing_and_the_record_is_done(
    broker: Broker, open_group: OpenGroup, topic: str, configs: dict[str, bool] | None, caplog: pytest.LogCaptureFixture
) -> None:
    if configs is not None:
        broker.topics.create(topic, configs=configs)
    group = open_group(broker, topic)

    group.reject_one()

    assert f"no dead letters of 0-0 in {topic}" in caplog.text
    assert configs is None or broker.records(topic) == []


def test_share_version_1_has_no_dead_letters(broker: Broker, open_group: OpenGroup) -> None:
    broker.topics.create(QUEUE, configs=ENABLED)
    group = open_group(broker)
    update = FeatureUpdateKey(feature="share.version", max_version_level=1, upgrade_type=UNSAFE_DOWNGRADE)
    updated = group.story.recorder.call(UpdateFeaturesRequest(feature_updates=[update]), 1, UpdateFeaturesResponse)
    assert updated.error_code == 0

    group.reject_one()

    assert broker.records(QUEUE) == []
