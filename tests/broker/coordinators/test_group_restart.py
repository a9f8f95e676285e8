"""Groups of a broker after a shutdown, a crash or the deletion of their topic, and records that cannot be decoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from fauxka.broker.coordinators.coordinator_log import CoordinatorRecord
from fauxka.broker.coordinators.group.group import OffsetCommitter
from fauxka.broker.coordinators.group.group_offsets import OffsetToCommit
from fauxka.protocol.stored_records.group_log_records import GroupMetadataKey, OffsetCommitKey, OffsetCommitValue
from fauxka.testing import Broker

from .group_harness import GROUP, GroupHarness

PARTITIONS = {"offsets.topic.num.partitions": "1"}
NEWER_TYPE = b"\x7f\xff"


def commit(broker: Broker, offset: int, *topics: str) -> None:
    offsets = [OffsetToCommit(topic_name=topic, partition=0, offset=offset) for topic in topics]
    broker.call(
        lambda: broker.cluster.node.coordinators.groups.offsets.commit(
            OffsetCommitter(group_id="g", api_version=9), offsets
        )
    )


def committed(broker: Broker, topic: str) -> int | None:
    found = broker.call(lambda: broker.cluster.node.coordinators.groups.offsets.find("g", topic, 0))
    return None if found is None else found.offset


def test_offsets_in_a_data_folder_are_restored_after_a_shutdown(tmp_path: Path) -> None:
    with Broker(PARTITIONS, data_dir=tmp_path) as broker:
        commit(broker, 5, "events", "others")

    with Broker(PARTITIONS, data_dir=tmp_path) as broker:
        assert (committed(broker, "events"), committed(broker, "others")) == (5, 5)


@pytest.mark.parametrize("is_on_disk", [False, True])
def test_offsets_are_restored_after_a_crash(*, is_on_disk: bool, tmp_path: Path) -> None:
    with Broker(PARTITIONS, data_dir=tmp_path if is_on_disk else None) as broker:
        commit(broker, 5, "events")
        commit(broker, 6, "events")

        broker.crash()
        broker.restart()

        assert committed(broker, "events") == 6


def test_offsets_of_a_deleted_topic_stay_deleted_after_a_crash() -> None:
    with Broker(PARTITIONS) as broker:
        topic = broker.call(lambda: broker.cluster.controller.create_topic("events", 1))
        commit(broker, 5, "events", "others")
        broker.call(lambda: broker.cluster.controller.delete_topics([topic]))

        broker.crash()
        broker.restart()

        assert (committed(broker, "events"), committed(broker, "others")) == (None, 5)


def test_a_coordinator_whose_topic_is_deleted_has_no_groups() -> None:
    with Broker(PARTITIONS) as broker:
        commit(broker, 5, "events")

        broker.call(
            lambda: broker.cluster.controller.delete_topics([broker.cluster.image.topics["__consumer_offsets"]])
        )

        assert committed(broker, "events") is None
        commit(broker, 1, "events")
        assert committed(broker, "events") == 1


def test_a_reset_broker_has_no_groups_and_no_records() -> None:
    with Broker(PARTITIONS) as broker:
        commit(broker, 5, "events")

        broker.reset()
        broker.crash()
        broker.restart()

        assert broker.call(lambda: broker.cluster.node.coordinators.groups.list_groups((), ())) == []


@pytest.mark.parametrize(
    "record",
    [
        CoordinatorRecord(NEWER_TYPE, b"whatever"),
        CoordinatorRecord(b"", b"no key"),
        CoordinatorRecord(GroupMetadataKey(GROUP).encode(), b"\x00\x63 of version 99"),
        CoordinatorRecord(GroupMetadataKey(GROUP).encode(), b"\x00\x03"),
    ],
    ids=["another type", "no type", "another version", "cut short"],
)
def test_a_record_that_cannot_be_decoded_is_skipped(record: CoordinatorRecord) -> None:
    harness = GroupHarness()
    harness.commit(1)
    harness.log.append(GROUP, [record])
    harness.commit(2)

    harness.crash()

    assert harness.committed() == 2


def test_offsets_of_the_oldest_kafka_are_read() -> None:
    harness = GroupHarness()
    key = OffsetCommitKey(GROUP, "t", 0).encode()
    harness.log.append(
        GROUP, [CoordinatorRecord(b"\0\0" + key[2:], OffsetCommitValue(offset=3, commit_timestamp=1).encode())]
    )

    harness.crash()

    assert harness.committed() == 3
