"""The configs of each of several nodes: static ones, and dynamic ones of one broker and of all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.broker.coordinators.consumer.settings import ConsumerGroupSettings
from fauxka.broker.coordinators.share.settings import ShareGroupSettings
from fauxka.broker.isolation import Isolation
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.create_topics import CreateTopicsResponse
from fauxka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)

from ..golden.capture_nodes import creating
from .blocking_client import BROKER, TOPIC, batch
from .running_cluster import RunningCluster

RETENTION = "log.retention.ms"


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster(["a", "b", None]) as running:
        yield running


def described(
    cluster: RunningCluster, node_id: int, name: str, *keys: str, kind: int = BROKER
) -> DescribeConfigsResult:
    """Return what a node describes of a resource."""
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=list(keys))
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    with cluster.client(node_id) as client:
        return client.send(ApiKey.DESCRIBE_CONFIGS, 4, request, DescribeConfigsResponse.read).results[0]


def value_of(cluster: RunningCluster, node_id: int, key: str) -> str | None:
    return described(cluster, node_id, str(node_id), key).configs[0].value


def altered(cluster: RunningCluster, node_id: int, name: str, key: str, text: str) -> int:
    """Set a config of a broker in a request to a node, and return the error code."""
    with cluster.client(node_id) as client:
        return client.set_config(BROKER, name, key, text)


@pytest.mark.parametrize(("node_id", "rack"), [(1, "a"), (2, "b"), (3, None)])
def test_each_node_describes_its_own_static_configs(cluster: RunningCluster, node_id: int, rack: str | None) -> None:
    keys = ("node.id", "broker.id", "broker.rack", "listeners", "advertised.listeners")

    values = {key: value_of(cluster, node_id, key) for key in keys}

    address = f"PLAINTEXT://{cluster.address(node_id)}"
    assert values == {
        "node.id": str(node_id),
        "broker.id": str(node_id),
        "broker.rack": rack,
        "listeners": address,
        "advertised.listeners": address,
    }


def test_node_describes_and_alters_no_other_broker(cluster: RunningCluster) -> None:
    result = described(cluster, 1, "2", RETENTION)
    code = altered(cluster, 1, "2", RETENTION, "5")

    assert (result.error_code, result.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "Unexpected broker id, expected 1 or empty string, but received 2",
    )
    assert code == ErrorCode.INVALID_REQUEST


def test_dynamic_config_of_one_broker_applies_to_that_node_alone(cluster: RunningCluster) -> None:
    with cluster.client(1) as client:
        client.create_topic("orders")

    assert altered(cluster, 2, "2", RETENTION, "222") == ErrorCode.NONE

    assert [value_of(cluster, node_id, RETENTION) for node_id in (1, 2, 3)] == [None, "222", None]
    values = [described(cluster, each, "orders", "retention.ms", kind=TOPIC).configs[0].value for each in (1, 2)]
    assert values == [str(7 * 24 * 3600 * 1000), "222"]


def test_dynamic_config_of_all_brokers_applies_below_that_of_one(cluster: RunningCluster) -> None:
    altered(cluster, 2, "2", RETENTION, "222")

    assert altered(cluster, 3, "", RETENTION, "333") == ErrorCode.NONE

    assert [value_of(cluster, node_id, RETENTION) for node_id in (1, 2, 3)] == ["333", "222", "333"]
    synonyms = described(cluster, 2, "2", RETENTION).configs[0].synonyms
    assert [(each.value, each.source) for each in synonyms[:2]] == [("222", 2), ("333", 3)]


def test_created_topic_has_the_configs_of_the_controller(cluster: RunningCluster) -> None:
    altered(cluster, 2, "2", RETENTION, "222")
    altered(cluster, 2, "", RETENTION, "333")

    with cluster.client(2) as client:
        request = creating("orders", count=1, factor=1)
        created = client.send(ApiKey.CREATE_TOPICS, 7, request, CreateTopicsResponse.read).topics[0]

    assert [each.value for each in created.configs or () if each.name == "retention.ms"] == ["333"]


def test_largest_batch_of_a_node_is_its_own(cluster: RunningCluster) -> None:
    with cluster.client(1) as client:
        client.send(ApiKey.CREATE_TOPICS, 7, creating("orders", {0: [1], 1: [2]}), CreateTopicsResponse.read)

    altered(cluster, 2, "2", "message.max.bytes", "100")

    with cluster.client(1) as one, cluster.client(2) as two:
        assert one.produce("orders", batch(b"x" * 200)).error_code == ErrorCode.NONE
        assert two.produce("orders", batch(b"x" * 200), 1).error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_coordinator_has_the_configs_of_its_node(cluster: RunningCluster) -> None:
    for kind in ("consumer", "share"):
        assert altered(cluster, 2, "2", f"group.{kind}.assignment.interval.ms", "0") == ErrorCode.NONE

    replicas = [node.replicas for node in cluster.cluster.nodes]
    intervals = [ConsumerGroupSettings(each).assignment_interval_ms("billing") for each in replicas]
    share_intervals = [ShareGroupSettings(each).assignment_interval_ms("sharing") for each in replicas]

    assert (intervals, share_intervals) == ([1000, 0, 1000], [1000, 0, 1000])


def test_node_without_controller_keeps_its_configs(cluster: RunningCluster) -> None:
    cluster.call(lambda: cluster.membership.isolate(3, [Isolation.CONTROLLER]))

    altered(cluster, 1, "", RETENTION, "333")

    assert value_of(cluster, 3, RETENTION) is None
    cluster.call(lambda: cluster.membership.rejoin(3))
    assert value_of(cluster, 3, RETENTION) == "333"


def test_dynamic_configs_outlive_a_restart_of_all_nodes(tmp_path: Path) -> None:
    with RunningCluster(data_dir=str(tmp_path)) as before:
        altered(before, 2, "2", RETENTION, "222")
        altered(before, 2, "", RETENTION, "333")

    with RunningCluster(data_dir=str(tmp_path)) as after:
        assert [value_of(after, node_id, RETENTION) for node_id in (1, 2, 3)] == ["333", "222", "333"]
        folders = [value_of(after, node_id, "log.dirs") for node_id in (1, 2, 3)]

    assert folders == [str(tmp_path / f"node-{node_id}") for node_id in (1, 2, 3)]
