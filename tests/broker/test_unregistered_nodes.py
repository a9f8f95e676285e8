"""UnregisterBroker on several nodes."""

from collections.abc import Iterator

import pytest

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.create_topics import CreateTopicsResponse
from fauxka.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

from ..golden.capture_nodes import creating
from .blocking_client import batch
from .running_cluster import RunningCluster


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster(["a", "b", "c"]) as running:
        yield running


def unregister(cluster: RunningCluster, broker_id: int) -> UnregisterBrokerResponse:
    """Have node 1 unregister a broker."""
    with cluster.client(1) as client:
        request = UnregisterBrokerRequest(broker_id=broker_id)
        return client.send(ApiKey.UNREGISTER_BROKER, 0, request, UnregisterBrokerResponse.read)


def brokers(cluster: RunningCluster, node_id: int = 1) -> list[tuple[int, str | None]]:
    """Return the ids and racks that a node returns."""
    with cluster.client(node_id) as client:
        return [(each.node_id, each.rack) for each in client.metadata().brokers]


def create(cluster: RunningCluster, *replicas: int) -> int:
    """Have node 1 create a topic with these replicas, and return the error code."""
    with cluster.client(1) as client:
        request = creating("orders", {0: replicas})
        return client.send(ApiKey.CREATE_TOPICS, 7, request, CreateTopicsResponse.read).topics[0].error_code


def test_stopped_broker_leaves_the_cluster(cluster: RunningCluster) -> None:
    cluster.shut_down(3)

    assert unregister(cluster, 3).error_code == ErrorCode.NONE

    assert brokers(cluster) == [(1, "a"), (2, "b")]
    again = unregister(cluster, 3)
    assert (again.error_code, again.error_message) == (
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        "Broker ID 3 is not currently registered",
    )
    assert create(cluster, 1, 3) == ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.parametrize("broker_id", [4, 100, -1])
def test_unknown_broker_and_the_controller_are_not_registered(cluster: RunningCluster, broker_id: int) -> None:
    assert unregister(cluster, broker_id).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_unregistered_broker_registers_again_when_it_starts(cluster: RunningCluster) -> None:
    create(cluster, 2, 3)
    cluster.kill(2)
    unregister(cluster, 2)
    assert cluster.partition("orders").isr == [3]

    cluster.restart(2)

    assert brokers(cluster) == brokers(cluster, 2) == [(1, "a"), (2, "b"), (3, "c")]
    assert cluster.partition("orders").isr == [2, 3]


def test_running_broker_that_is_unregistered_leads_no_more(cluster: RunningCluster) -> None:
    create(cluster, 2, 3)

    assert unregister(cluster, 2).error_code == ErrorCode.NONE

    after = cluster.partition("orders")
    assert (after.leader_id, after.isr) == (3, [3])
    with cluster.client(2) as unregistered:
        assert unregistered.produce("orders", batch(b"a")).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        metadata = unregistered.metadata()
    assert ([each.node_id for each in metadata.brokers], metadata.controller_id) == ([1, 3], 1)
    with cluster.client(3) as leader:
        assert leader.produce("orders", batch(b"a")).error_code == ErrorCode.NONE
    cluster.kill(2)
    cluster.restart(2)
    assert cluster.partition("orders").isr == [2, 3]


def test_last_registered_broker_cannot_be_unregistered(cluster: RunningCluster) -> None:
    assert [unregister(cluster, broker_id).error_code for broker_id in (2, 3)] == [ErrorCode.NONE] * 2

    assert unregister(cluster, 1).error_code == ErrorCode.INVALID_REQUEST
