"""What follows from the release of Kafka that a cluster follows: versions, features, and the journal of versions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.data_directory import DataDirectoryError
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from fauxka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse
from fauxka.testing import Broker

from ..golden.raw_apis import FETCH
from ..golden.raw_client import RawConnection
from ..golden.raw_schema import Value
from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError

VERSION = 5
SHARE_VERSION = "share.version"
UNSAFE_DOWNGRADE = 3


def asking(cluster_id: str | None = None, node_id: int = -1) -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name="test", client_software_version="1", cluster_id=cluster_id, node_id=node_id
    )


def ask(broker: Broker, request: ApiVersionsRequest) -> ApiVersionsResponse:
    with MessageClient(broker.bootstrap_servers.split(",")[0]) as client:
        return client.call(request, VERSION, ApiVersionsResponse)


@pytest.mark.parametrize("release", ["2.1", "4.3", "4.3.1"])
def test_version_that_came_with_4_4_closes_the_connection_before(release: str) -> None:
    with (
        Broker(as_version=release) as broker,
        MessageClient(broker.bootstrap_servers) as client,
        pytest.raises(ConnectionClosedError),
    ):
        client.call(DeleteGroupsRequest(groups_names=["billing"]), 3, DeleteGroupsResponse)


@pytest.mark.parametrize("release", ["4.4", "4.4.0", "4.5"])
def test_version_that_came_with_4_4_is_served_since(release: str) -> None:
    with Broker(as_version=release) as broker, MessageClient(broker.bootstrap_servers) as client:
        response = client.call(DeleteGroupsRequest(groups_names=["billing"]), 3, DeleteGroupsResponse)

    assert [each.error_code for each in response.results] == [ErrorCode.GROUP_ID_NOT_FOUND]


def test_misrouted_client_is_refused_with_rebootstrap_required_once() -> None:
    with Broker(as_version="4.4") as broker:
        rule = broker.faults.misrouted()
        with MessageClient(broker.bootstrap_servers) as older:
            of_older_client = older.call(asking(), VERSION - 1, ApiVersionsResponse).error_code
        codes = [ask(broker, asking()).error_code for _ in range(2)]

        assert of_older_client == ErrorCode.NONE
        assert codes == [ErrorCode.REBOOTSTRAP_REQUIRED, ErrorCode.NONE]
        assert rule.hits == 1


def test_client_of_another_cluster_is_told_to_rebootstrap() -> None:
    with Broker(as_version="4.4", nodes=2) as broker:
        with MessageClient(broker.bootstrap_servers.split(",")[0]) as client:
            cluster_id = client.call(DescribeClusterRequest(), 2, DescribeClusterResponse).cluster_id
        codes = [ask(broker, asking(*named)).error_code for named in ((cluster_id, 1), ("other", 1), (cluster_id, 2))]

    assert codes == [ErrorCode.NONE, ErrorCode.REBOOTSTRAP_REQUIRED, ErrorCode.REBOOTSTRAP_REQUIRED]


@pytest.mark.parametrize("release", ["4.3", "4.4"])
@pytest.mark.parametrize("is_armed", [False, True])
def test_journal_has_the_version_of_the_request(release: str, is_armed: bool) -> None:
    with Broker(as_version=release) as broker:
        if is_armed:
            broker.faults.observed(api="ApiVersions", api_version=VERSION)
        with MessageClient(broker.bootstrap_servers) as client:
            client.send(asking("another", 7), VERSION)
            client.wire.receive_frame()
        entries = [(each.api_version, each.first_error) for each in broker.journal.entries(api="ApiVersions")]

    error = "UNSUPPORTED_VERSION" if release == "4.3" else "REBOOTSTRAP_REQUIRED"
    assert [(version, error.error if error else None) for version, error in entries] == [(VERSION, error)]


@pytest.mark.parametrize(("release", "last"), [("4.3", 4), ("4.4", 5)])
def test_injected_unsupported_version_names_the_versions_of_the_release(release: str, last: int) -> None:
    with Broker(as_version=release) as broker:
        broker.faults.refuse("UNSUPPORTED_VERSION", api="ApiVersions")
        with MessageClient(broker.bootstrap_servers) as client:
            response = client.call(asking(), 4, ApiVersionsResponse)

    assert [(each.api_key, each.max_version) for each in response.api_keys] == [(ApiKey.API_VERSIONS, last)]


def test_injected_rebootstrap_is_for_the_next_connection_only() -> None:
    with Broker(as_version="4.4") as broker:
        broker.faults.refuse("REBOOTSTRAP_REQUIRED", api="ApiVersions", api_version=VERSION)
        codes = [ask(broker, asking()).error_code for _ in range(2)]

    assert codes == [ErrorCode.REBOOTSTRAP_REQUIRED, ErrorCode.NONE]


def set_share_version(broker: Broker, level: int) -> int:
    key = FeatureUpdateKey(feature=SHARE_VERSION, max_version_level=level, upgrade_type=UNSAFE_DOWNGRADE)
    with MessageClient(broker.bootstrap_servers) as client:
        response = client.call(UpdateFeaturesRequest(feature_updates=[key]), 2, UpdateFeaturesResponse)
        return response.error_code


def test_data_folder_of_4_3_is_read_by_4_4(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path, as_version="4.3") as broker:
        broker.topics.create("orders")
        assert set_share_version(broker, 0) == ErrorCode.NONE

    with Broker(data_dir=tmp_path, as_version="4.4") as broker:
        assert [each.name for each in broker.topics.list()] == ["orders"]
        levels = {each.name: each.max_version_level for each in ask(broker, asking()).finalized_features}

    assert SHARE_VERSION not in levels


def test_data_folder_with_a_level_of_4_4_is_refused_by_4_3(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path, as_version="4.4") as broker:
        assert set_share_version(broker, 1) == ErrorCode.NONE
        with MessageClient(broker.bootstrap_servers) as client:
            key = FeatureUpdateKey(feature=SHARE_VERSION, max_version_level=2, upgrade_type=1)
            client.call(UpdateFeaturesRequest(feature_updates=[key]), 2, UpdateFeaturesResponse)

    with pytest.raises(DataDirectoryError, match=r"share\.version has level 2"):
        Broker(data_dir=tmp_path, as_version="4.3").start()


@pytest.mark.parametrize(
    ("is_converted", "of_old_version"), [(True, ErrorCode.NONE), (False, ErrorCode.UNSUPPORTED_VERSION)]
)
@pytest.mark.parametrize("is_of_topic", [True, False])
def test_old_fetch_is_refused_where_batches_are_not_converted(
    is_converted: bool, of_old_version: ErrorCode, is_of_topic: bool
) -> None:
    value = str(is_converted).lower()
    config = {} if is_of_topic else {"log.message.downconversion.enable": value}
    partitions: Value = [{"index": 0, "fetch_offset": 0}]
    body: Mapping[str, Value] = {"isolation_level": 0, "topics": [{"name": "orders", "partitions": partitions}]}
    with Broker(as_version="3.9", config=config) as broker:
        broker.topics.create("orders", configs={"message.downconversion.enable": value} if is_of_topic else None)
        broker.topics.seed("orders", [{"value": "tea"}])
        with RawConnection(broker.bootstrap_servers) as connection:
            answers = [connection.call(FETCH, version, body).structs("topics")[0] for version in (3, 4)]

    codes = [answer.structs("partitions")[0].integer("error_code") for answer in answers]
    assert codes == [of_old_version, ErrorCode.NONE]
