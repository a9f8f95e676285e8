"""The APIs and features in ApiVersions responses, compared with those of real brokers of each minor release."""

from __future__ import annotations

from typing import Any

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.handlers.cluster import api_versions
from fauxka.broker.network.listeners import Listener
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ...golden.capture_releases import captured_releases, keys_of, levels_of

RELEASES = captured_releases()
# Groups of Kafka Streams are not served: level 0 alone, and the versions of 4.2.
STREAMS = "streams.version"
STREAMS_KEYS: dict[int, list[int]] = {ApiKey.STREAMS_GROUP_HEARTBEAT: [0, 0], ApiKey.STREAMS_GROUP_DESCRIBE: [0, 0]}
STREAMS_TOPOLOGY = 93


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


def finalized(response: ApiVersionsResponse) -> Any:
    return levels_of(response)["finalized"]


def without_streams(levels: dict[str, Any]) -> dict[str, Any]:
    """Return the levels of ApiVersions, but for groups of Kafka Streams."""
    features = {
        kind: {name: level for name, level in levels[kind].items() if name != STREAMS}
        for kind in ("supported", "finalized")
    }
    return levels | features


def as_served(keys: list[list[int]]) -> list[list[int]]:
    """Return the captured versions, but for groups of Kafka Streams."""
    return [[key, *STREAMS_KEYS.get(key, versions)] for key, *versions in keys if key != STREAMS_TOPOLOGY]


def test_every_minor_release_is_captured() -> None:
    minors = {2: range(1, 9), 3: range(10), 4: range(5)}

    assert list(RELEASES) == [f"{major}.{minor}" for major, numbers in minors.items() for minor in numbers]


@pytest.mark.parametrize("release", RELEASES)
def test_advertised_apis_and_versions_are_those_of_the_release(release: str) -> None:
    captured = RELEASES[release]
    advertised = [keys_of(asked(version, version=release)) for version in captured["versions"]]

    assert advertised == [as_served(captured["api_keys"])] * len(captured["versions"])


@pytest.mark.parametrize("release", RELEASES)
def test_an_unsupported_version_gets_the_error_and_the_versions_of_the_release(release: str) -> None:
    response = asked(99, version=release)

    assert (response.error_code, keys_of(response)) == (35, RELEASES[release]["unsupported"])


@pytest.mark.parametrize("release", RELEASES)
def test_levels_of_features_are_those_of_the_release(release: str) -> None:
    captured = RELEASES[release]["features"]
    answered = {version: levels_of(asked(int(version), version=release)) for version in captured}

    assert {version: without_streams(each) for version, each in answered.items()} == {
        version: without_streams(each) for version, each in captured.items()
    }


@pytest.mark.parametrize("release", ["4.2", "4.3", "4.4"])
def test_groups_of_kafka_streams_have_level_0_only(release: str) -> None:
    assert levels_of(asked(4, version=release))["supported"][STREAMS] == [0, 0]


@pytest.mark.parametrize(("level", "told"), [("1", [1, 1]), ("2", [2, 2]), ("0", None)])
def test_the_level_of_transactions_is_as_configured(level: str, told: list[int] | None) -> None:
    assert finalized(asked(3, {"fauxka.transaction.version": level})).get("transaction.version") == told


def test_older_clients_receive_no_levels_that_they_cannot_read() -> None:
    assert supported(asked(3)) == {"metadata.version": [7, 30]}
