"""Levels of features that UpdateFeatures has changed: in ApiVersions, and after a crash, a restart or a reset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.handlers.cluster.update_features import HASHED_CHARACTERS_MAX, updates_of
from fauxka.client.broker_connection import BrokerConnection
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse

from .running_node import Node
from .steps import result_of

UPGRADE, DOWNGRADE = 1, 2
TRANSACTION_VERSION = "transaction.version"


@pytest.fixture(params=["in memory", "on disk"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    with Node(None if request.param == "in memory" else tmp_path / "data") as node:
        yield node


def connect(node: Node) -> BrokerConnection:
    host, port = node.address.rsplit(":", 1)
    return BrokerConnection(host, int(port), timeout_seconds=20.0, response_bytes_max=1_000_000)


def update(node: Node, level: int, *, feature: str = TRANSACTION_VERSION, upgrade_type: int = DOWNGRADE) -> int:
    """Change the level of a feature, and return the error code."""
    key = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=upgrade_type)
    connection = connect(node)
    try:
        request = UpdateFeaturesRequest(feature_updates=[key])
        response = connection.send_request(ApiKey.UPDATE_FEATURES, 2, request, UpdateFeaturesResponse.read)
    finally:
        connection.close()
    return response.error_code


def finalized(node: Node) -> tuple[int, dict[str, int]]:
    """Return the epoch and the levels of the features."""
    connection = connect(node)
    try:
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        response = connection.send_request(ApiKey.API_VERSIONS, 4, request, ApiVersionsResponse.read)
    finally:
        connection.close()
    levels = {each.name: each.max_version_level for each in response.finalized_features}
    return response.finalized_features_epoch, levels


def level(node: Node) -> int | None:
    return finalized(node)[1].get(TRANSACTION_VERSION)


def test_each_change_begins_a_later_epoch(node: Node) -> None:
    before, _ = finalized(node)

    assert update(node, 1) == 0
    lowered, levels = finalized(node)
    assert update(node, 2, upgrade_type=UPGRADE) == 0
    raised, _ = finalized(node)

    assert levels[TRANSACTION_VERSION] == 1
    assert before < lowered < raised


def test_update_to_the_same_level_begins_no_epoch(node: Node) -> None:
    before = finalized(node)

    assert update(node, 2) == 0

    assert finalized(node) == before


def test_level_outlives_a_crash_and_the_epoch_does_not_decrease(node: Node) -> None:
    assert update(node, 0) == 0
    before, _ = finalized(node)

    node.crash()
    node.restart()

    assert level(node) is None
    assert finalized(node)[0] >= before


def test_level_outlives_the_process(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node:
        assert update(node, 1) == 0
        before = finalized(node)

    with Node(tmp_path / "data") as node:
        assert finalized(node) == before


def test_updated_level_has_precedence_over_the_configured_one(tmp_path: Path) -> None:
    config = {"fauxka.transaction.version": "0"}
    with Node(tmp_path / "data", config=config) as node:
        before = level(node)
        assert update(node, 1, upgrade_type=UPGRADE) == 0

    with Node(tmp_path / "data", config=config) as node:
        assert (before, level(node)) == (None, 1)


def test_reset_restores_the_levels_in_a_later_epoch(node: Node) -> None:
    assert update(node, 1) == 0
    before, _ = finalized(node)

    node.reset()

    assert level(node) == 2
    assert finalized(node)[0] > before


def test_restored_snapshot_has_its_levels_in_a_later_epoch() -> None:
    with Node() as node:
        snapshot = node.take_snapshot()
        assert update(node, 1) == 0
        before, _ = finalized(node)

        node.restore(snapshot)

        assert level(node) == 2
        assert finalized(node)[0] > before


def test_names_of_features_are_hashed_up_to_a_limit() -> None:
    names = ["not.there", "share.version", "x" * HASHED_CHARACTERS_MAX]
    updates = [FeatureUpdateKey(feature=name, max_version_level=1) for name in reversed(names)]

    hashed = result_of(updates_of(UpdateFeaturesRequest(feature_updates=updates[1:])))
    too_long = result_of(updates_of(UpdateFeaturesRequest(feature_updates=updates)))

    assert list(hashed) == ["not.there", "share.version"]
    assert list(too_long) == list(reversed(names))


def test_only_broker_is_not_unregistered() -> None:
    cluster = Cluster(BrokerConfig.from_entries({"node.id": "3"}))

    with pytest.raises(KafkaError, match="Broker ID 3 is the only broker") as raised:
        cluster.controller.unregister_broker(3)

    assert raised.value.code is ErrorCode.INVALID_REQUEST
    assert [broker.node_id for broker in cluster.image.brokers] == [3]
