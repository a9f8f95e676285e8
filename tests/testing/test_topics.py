"""Topics, groups, snapshots and exports of a broker in process."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fauxka.admin.errors import CallError
from fauxka.admin.methods import base
from fauxka.faults.rule_error import InvalidValueError

from .transports import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def test_topic_is_created_with_its_partitions_and_configs(broker: Broker) -> None:
    created = broker.topics.create(
        "orders", partitions=3, configs={"cleanup.policy": "compact", "retention.ms": 1000, "preallocate": False}
    )

    assert [partition.partition for partition in created.partitions] == [0, 1, 2]
    assert created.configs == {"cleanup.policy": "compact", "retention.ms": "1000", "preallocate": "false"}
    assert broker.topics.get("orders") == created
    assert broker.topics.list() == [created]


def test_topic_has_the_default_number_of_partitions() -> None:
    with Broker({"num.partitions": "4"}) as broker:
        assert len(broker.topics.create("orders").partitions) == 4


@pytest.mark.parametrize(
    ("arguments", "status", "field", "message"),
    [
        ({"name": "or ders"}, 400, "name", "INVALID_TOPIC_EXCEPTION: Topic name is invalid: 'or ders' contains"),
        ({"name": "a" * 250}, 400, "name", "is longer than the max allowed length 249"),
        ({"name": "a.b"}, 400, "name", "Topic 'a.b' collides with existing topic: a_b"),
        ({"name": "a_b"}, 409, "name", "TOPIC_ALREADY_EXISTS: Topic 'a_b' already exists."),
        ({"name": "__cluster_metadata"}, 400, "name", "Creation of internal topic __cluster_metadata is prohibited."),
        ({"name": "x", "partitions": 10_001}, 400, "partitions", "POLICY_VIOLATION"),
        (
            {"name": "x", "configs": {"retention": "1"}},
            400,
            "configs.retention",
            "INVALID_CONFIG: Unknown topic config name: retention",
        ),
        ({"name": "x", "configs": {"retention.ms": "soon"}}, 400, "configs.retention.ms", "Not a number of type LONG"),
        (
            {"name": "x", "configs": {"min.compaction.lag.ms": 5, "max.compaction.lag.ms": 4}},
            400,
            "configs",
            "conflict topic config setting",
        ),
    ],
)
def test_topic_that_kafka_refuses_is_an_error_with_its_message(
    broker: Broker, arguments: Mapping[str, Any], status: int, field: str, message: str
) -> None:
    broker.topics.create("a_b")

    with pytest.raises(CallError) as raised:
        broker.topics.create(**arguments)

    assert message in str(raised.value)
    assert (raised.value.status, raised.value.detail.field) == (status, field)
    assert [topic.name for topic in broker.topics.list()] == ["a_b"]


@pytest.mark.parametrize(
    ("arguments", "field"), [({"partitions": 0}, "partitions"), ({"configs": {"a": []}}, "configs")]
)
def test_wrong_type_is_an_error_with_its_field(broker: Broker, arguments: Mapping[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        broker.topics.create("orders", **arguments)


def test_deleted_topic_is_returned_as_it_was(broker: Broker) -> None:
    broker.topics.create("orders")
    broker.topics.seed("orders", [{"value": "a"}])

    deleted = broker.topics.delete("orders")

    assert (deleted.name, deleted.partitions[0].log_end_offset) == ("orders", 1)
    assert broker.topics.list() == []
    with pytest.raises(CallError, match="there is no topic 'orders'"):
        broker.topics.delete("orders")


def test_topic_is_not_deleted_without_delete_topic_enable() -> None:
    with Broker({"delete.topic.enable": "false"}) as broker:
        broker.topics.create("orders")

        with pytest.raises(CallError, match="orders cannot be deleted: TOPIC_DELETION_DISABLED"):
            broker.topics.delete("orders")


def test_topics_are_not_changed_while_the_node_is_down(broker: Broker) -> None:
    broker.topics.create("orders")
    broker.crash()

    for call in (broker.topics.create, broker.topics.delete, broker.topics.get, broker.records):
        with pytest.raises(CallError, match="the node is down"):
            call("orders")


def test_lists_have_the_items_of_all_pages(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LIMIT_MAX", 2)
    for number in range(5):
        broker.topics.create(f"topic-{number}")

    assert [topic.name for topic in broker.topics.list()] == [f"topic-{number}" for number in range(5)]


def test_configs_that_are_no_mapping_are_an_error_with_their_field(broker: Broker) -> None:
    not_a_mapping: Any = ["cleanup.policy"]

    with pytest.raises(InvalidValueError, match="configs"):
        broker.topics.create("orders", configs=not_a_mapping)


def test_created_topic_survives_a_restart(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path) as broker:
        broker.topics.create("orders", partitions=2)

    with Broker(data_dir=tmp_path) as again:
        assert len(again.topics.get("orders").partitions) == 2


def test_snapshots_are_listed_and_deleted(broker: Broker) -> None:
    first, second = broker.snapshot(), broker.snapshot()

    deleted = broker.snapshots.delete(first)

    assert deleted.id == first
    assert [each.id for each in broker.snapshots.list()] == [second]
    with pytest.raises(CallError):
        broker.restore(first)


def test_export_writes_the_topics_to_a_folder(broker: Broker, tmp_path: Path) -> None:
    broker.topics.create("orders", partitions=1)
    broker.topics.seed("orders", [{"value": "a"}])

    exported = broker.export(tmp_path / "kafka")

    assert exported.dir == str(tmp_path / "kafka")
    assert (tmp_path / "kafka").is_dir()
    assert list((tmp_path / "kafka").rglob("orders-0/*.log")) != []
    with pytest.raises(CallError, match="cannot export"):
        broker.export(tmp_path / "kafka")


def test_version_and_metrics_are_those_of_the_broker(broker: Broker) -> None:
    broker.topics.create("orders")

    assert broker.version().name == "fauxka"
    assert "fauxka_topics 1.0" in broker.metrics()


def test_unknown_group_and_transactional_id_are_errors(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no group 'readers'"):
        broker.groups.get("readers")
    with pytest.raises(CallError, match="there is no transaction"):
        broker.transactions.delete("transfers")
    assert (broker.groups.list(), broker.transactions.list()) == ([], [])
