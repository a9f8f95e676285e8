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
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ...golden.capture_releases import captured_releases, keys_of, levels_of

RELEASES = captured_releases()


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


def test_every_minor_release_is_captured() -> None:
    minors = {2: range(1, 9), 3: range(10), 4: range(5)}

    assert list(RELEASES) == [f"{major}.{minor}" for major, numbers in minors.items() for minor in numbers]


@pytest.mark.parametrize("release", RELEASES)
def test_advertised_apis_and_versions_are_those_of_the_release(release: str) -> None:
    captured = RELEASES[release]
    advertised = [keys_of(asked(version, version=release)) for version in captured["versions"]]

    assert advertised == [captured["api_keys"]] * len(captured["versions"])


@pytest.mark.parametrize("release", RELEASES)
def test_an_unsupported_version_gets_the_error_and_the_versions_of_the_release(release: str) -> None:
    response = asked(99, version=release)

    assert (response.error_code, keys_of(response)) == (35, RELEASES[release]["unsupported"])


@pytest.mark.parametrize("release", RELEASES)
def test_levels_of_features_are_those_of_the_release(release: str) -> None:
    captured = RELEASES[release]["features"]
    answered = {version: levels_of(asked(int(version), version=release)) for version in captured}

    assert answered == captured


@pytest.mark.parametrize(("level", "told"), [("1", [1, 1]), ("2", [2, 2]), ("0", None)])
def test_the_level_of_transactions_is_as_configured(level: str, told: list[int] | None) -> None:
    assert finalized(asked(3, {"fauxka.transaction.version": level})).get("transaction.version") == told


def test_older_clients_receive_no_levels_that_they_cannot_read() -> None:
    assert supported(asked(3)) == {"metadata.version": [7, 30]}
