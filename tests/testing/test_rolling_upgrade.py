"""Nodes of one cluster that follow several releases of Kafka, as in a rolling upgrade."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from fauxka.testing import Broker, CallError, InvalidValueError

from ..wire.message_client import MessageClient

TOPIC, NODES = "orders", 3
PRODUCE, SHARE_VERSION, UPGRADE = 0, "share.version", 1
PRODUCE_OF_3_9, PRODUCE_OF_4_4 = 11, 13


@pytest.fixture
def cluster() -> Iterator[Broker]:
    with Broker(nodes=NODES, as_version="3.9", config={"default.replication.factor": "3"}) as broker:
        broker.topics.create(TOPIC)
        yield broker


def api_versions(broker: Broker, node: int) -> ApiVersionsResponse:
    (address,) = (each.bootstrap for each in broker.nodes() if each.node == node)
    with MessageClient(address) as client:
        return client.call(
            ApiVersionsRequest(client_software_name="test", client_software_version="1"), 3, ApiVersionsResponse
        )


def produce_versions(broker: Broker) -> list[int]:
    """Return the last version of Produce that each node serves."""
    answers = [api_versions(broker, each.node) for each in broker.nodes()]
    return [next(api.max_version for api in answer.api_keys if api.api_key == PRODUCE) for answer in answers]


def level_of(broker: Broker, feature: str) -> int:
    levels = {each.name: each.max_version_level for each in api_versions(broker, 1).finalized_features}
    return levels.get(feature, 0)


def set_level(broker: Broker, feature: str, level: int) -> tuple[int, str | None]:
    key = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=UPGRADE)
    with MessageClient(broker.bootstrap_servers.split(",")[0]) as client:
        response = client.call(UpdateFeaturesRequest(feature_updates=[key]), 1, UpdateFeaturesResponse)
    # From version 1 on an error of one feature is that of all.
    refused = next((each for each in response.results if each.error_code), response)
    return refused.error_code, refused.error_message


def test_each_node_serves_the_apis_of_its_release(cluster: Broker) -> None:
    cluster.restart_node(2, as_version="4.4")

    assert [each.as_version for each in cluster.nodes()] == ["3.9", "4.4", "3.9"]
    assert produce_versions(cluster) == [PRODUCE_OF_3_9, PRODUCE_OF_4_4, PRODUCE_OF_3_9]


def test_producer_and_consumer_go_on_during_a_rolling_upgrade(cluster: Broker) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True})
    settings = {"group.id": "billing", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, **settings})
    consumer.subscribe([TOPIC])
    events = [f"order {number}" for number in range(2 * NODES)]
    for number, event in enumerate(events):
        producer.produce(TOPIC, event)
        producer.flush()
        if number < NODES:
            cluster.restart_node(number + 1, as_version="4.4")
    read: list[str] = []
    while len(read) < len(events):
        message = consumer.poll(60)
        assert message is not None and message.error() is None
        read.append((message.value() or b"").decode())
    consumer.close()

    assert read == events
    assert produce_versions(cluster) == [PRODUCE_OF_4_4] * NODES
    assert cluster.verdict(TOPIC).findings == []


def test_levels_of_features_stay_until_they_are_updated(cluster: Broker) -> None:
    cluster.restart_node(1, as_version="4.4")
    cluster.restart_node(2, as_version="4.4")
    before = level_of(cluster, SHARE_VERSION)
    of_mixed, reason = set_level(cluster, SHARE_VERSION, 1)

    cluster.restart_node(3, as_version="4.4")

    assert (before, of_mixed) == (0, ErrorCode.INVALID_UPDATE_VERSION)
    assert reason is not None and "does not support this feature" in reason
    assert level_of(cluster, SHARE_VERSION) == 0
    assert set_level(cluster, SHARE_VERSION, 2)[0] == ErrorCode.NONE
    assert level_of(cluster, SHARE_VERSION) == 2


def test_release_without_a_finalized_level_cannot_join() -> None:
    with Broker(nodes=NODES) as broker:
        broker.stop_node(2)
        with pytest.raises(CallError, match=r"does not support finalized version 33 of metadata\.version") as caught:
            broker.start_node(2, as_version="4.3")

        assert caught.value.status == 409
        assert [each.as_version for each in broker.nodes()] == ["4.4"] * NODES
        broker.start_node(2)


@pytest.mark.parametrize(
    ("as_version", "why"), [("2.8", "ZooKeeper"), ("4", "expected a version like"), ("9.9", "0.11 to 4.5")]
)
def test_release_that_is_impossible_is_refused(cluster: Broker, as_version: str, why: str) -> None:
    cluster.stop_node(1)

    with pytest.raises((CallError, InvalidValueError), match=why):
        cluster.start_node(1, as_version=as_version)


def test_config_that_the_release_lacks_is_refused() -> None:
    with Broker(nodes=NODES, as_version="3.9", config={"log.message.format.version": "3.0"}) as broker:
        broker.stop_node(2)

        with pytest.raises(CallError, match=r"log\.message\.format\.version"):
            broker.start_node(2, as_version="4.0")


def test_node_that_crashed_restarts_with_another_release_and_keeps_its_topics(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path, as_version="3.9") as broker:
        broker.topics.create(TOPIC)
        broker.crash()
        broker.restart(as_version="4.0")

        assert [each.name for each in broker.topics.list()] == [TOPIC]
        assert [each.as_version for each in broker.nodes()] == ["4.0"]


def test_reset_leads_back_to_the_release_of_the_start(cluster: Broker) -> None:
    cluster.restart_node(2, as_version="4.4")

    cluster.reset()

    assert [each.as_version for each in cluster.nodes()] == ["3.9"] * NODES
    assert produce_versions(cluster) == [PRODUCE_OF_3_9] * NODES


def test_marks_name_the_release(cluster: Broker) -> None:
    cluster.restart_node(2, as_version="4.0")

    assert "node 2 follows Kafka 4.0" in [mark.text for mark in cluster.journal.marks()]
