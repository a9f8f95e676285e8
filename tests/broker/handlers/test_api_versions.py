"""The features in ApiVersions responses, compared with those of a real broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.handlers.cluster import api_versions
from fauxka.broker.network.listeners import Listener
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.storage.producers.emulated_version import EmulatedVersion

GOLDEN = Path(__file__).parents[2] / "golden"


def captured(version: str = "4.3") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / f"api_versions-{version}.0.json").read_text())
    return content


def asked(api_version: int, config: dict[str, str] | None = None, version: str = "4.3") -> ApiVersionsResponse:
    cluster = Cluster(BrokerConfig.from_entries(config or {}), emulated_version=EmulatedVersion.parse(version))
    context = RequestContext(
        cluster.node, ConnectionInfo(1, Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092))
    )
    context.api_version = api_version
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    return api_versions.handle(context, request)


def supported(response: ApiVersionsResponse) -> dict[str, list[int]]:
    return {each.name: [each.min_version, each.max_version] for each in response.supported_features}


def finalized(response: ApiVersionsResponse) -> dict[str, list[int]]:
    return {each.name: [each.min_version_level, each.max_version_level] for each in response.finalized_features}


def without_streams(levels: dict[str, list[int]]) -> dict[str, list[int]]:
    return {name: level for name, level in levels.items() if name != "streams.version"}


def test_advertised_apis_and_versions_are_those_of_a_real_broker() -> None:
    advertised = [[each.api_key, each.min_version, each.max_version] for each in asked(4).api_keys]

    assert advertised == captured()["api_keys"]


@pytest.mark.parametrize("version", ["4.3", "4.4"])
def test_supported_levels_are_those_of_a_real_broker_but_for_streams(version: str) -> None:
    levels = supported(asked(4, version=version))

    assert without_streams(levels) == without_streams(captured(version)["supported_features"])
    assert levels["streams.version"] == [0, 0]


@pytest.mark.parametrize("version", ["4.3", "4.4"])
def test_finalized_levels_are_those_of_a_real_broker_but_for_streams(version: str) -> None:
    assert finalized(asked(4, version=version)) == without_streams(captured(version)["finalized_features"])


@pytest.mark.parametrize(("level", "told"), [("1", [1, 1]), ("2", [2, 2]), ("0", None)])
def test_the_level_of_transactions_is_as_configured(level: str, told: list[int] | None) -> None:
    assert finalized(asked(3, {"fauxka.transaction.version": level})).get("transaction.version") == told


def test_older_clients_receive_no_levels_that_they_cannot_read() -> None:
    assert supported(asked(3)) == {"metadata.version": [7, 30]}
