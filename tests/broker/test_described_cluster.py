"""What each of several nodes returns about the cluster: its brokers, fenced or not, and the controller."""

from collections.abc import Iterator

import pytest

from fauxka.broker.metadata.quorum_observers import OBSERVER_SESSION_TIMEOUT_MS
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from fauxka.protocol.messages.describe_quorum import DescribeQuorumResponse, ResponsePartitionData

from ..golden.capture_quorum import METADATA_TOPIC, describing
from .running_cluster import RunningCluster

NODES = (1, 2, 3)


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster() as running:
        yield running


def described(cluster: RunningCluster, node_id: int, *, has_fenced: bool) -> DescribeClusterResponse:
    request = DescribeClusterRequest(include_fenced_brokers=has_fenced)
    with cluster.client(node_id) as client:
        return client.send(ApiKey.DESCRIBE_CLUSTER, 2, request, DescribeClusterResponse.read)


def test_dead_node_is_described_as_fenced_if_asked_for(cluster: RunningCluster) -> None:
    cluster.kill(3)

    with_fenced = described(cluster, 1, has_fenced=True).brokers
    without = described(cluster, 1, has_fenced=False).brokers

    assert [(each.broker_id, each.is_fenced) for each in with_fenced] == [(1, False), (2, False), (3, True)]
    assert f"{with_fenced[2].host}:{with_fenced[2].port}" == cluster.address(3)
    assert [(each.broker_id, each.is_fenced) for each in without] == [(1, False), (2, False)]


@pytest.mark.parametrize("node_id", NODES)
def test_each_node_names_itself_as_the_controller(cluster: RunningCluster, node_id: int) -> None:
    with cluster.client(node_id) as client:
        assert client.metadata().controller_id == node_id

    assert described(cluster, node_id, has_fenced=False).controller_id == node_id


def quorum(cluster: RunningCluster) -> ResponsePartitionData:
    with cluster.client(1) as client:
        request = describing((METADATA_TOPIC, [0]))
        response = client.send(ApiKey.DESCRIBE_QUORUM, 2, request, DescribeQuorumResponse.read)
    return response.topics[0].partitions[0]


def test_fenced_node_stays_an_observer_of_the_controller(cluster: RunningCluster) -> None:
    cluster.kill(3)

    partition = quorum(cluster)

    assert (partition.leader_id, [each.replica_id for each in partition.current_voters]) == (4, [4])
    directories = [node.replicas.log_directory_id for node in cluster.cluster.nodes]
    observers = [(each.replica_id, each.replica_directory_id) for each in partition.observers or ()]
    assert observers == [(1, directories[0]), (2, directories[1]), (3, directories[2])]


def test_observer_keeps_what_it_had_at_its_last_fetch_for_five_minutes(cluster: RunningCluster) -> None:
    cluster.call(lambda: cluster.cluster.controller.create_topic("before", 1))
    alive = quorum(cluster)
    cluster.kill(3)
    dead = quorum(cluster)
    cluster.call(lambda: cluster.cluster.controller.create_topic("after", 1))
    cluster.advance(OBSERVER_SESSION_TIMEOUT_MS - 1000)
    later = quorum(cluster)
    cluster.advance(1000)
    gone = quorum(cluster)

    killed = of_node_3(dead)
    assert killed == of_node_3(later)
    assert killed is not None
    assert killed[0] == alive.high_watermark < later.high_watermark
    assert of_node_3(gone) is None


def test_observer_that_is_back_fetches_again(cluster: RunningCluster) -> None:
    cluster.kill(3)
    cluster.restart(3)

    partition = quorum(cluster)

    assert (of_node_3(partition) or (0, 0))[0] == partition.high_watermark


def of_node_3(partition: ResponsePartitionData) -> tuple[int, int] | None:
    """Return the log end offset of node 3 and the time of its last fetch; None if it is no observer."""
    found = [
        (each.log_end_offset, each.last_fetch_timestamp) for each in partition.observers or () if each.replica_id == 3
    ]
    return found[0] if found else None


def test_node_describes_the_logs_of_its_replicas_and_creates_none(cluster: RunningCluster) -> None:
    layout = [[1, 2], [2, 3], [3, 1]]
    topic = cluster.call(lambda: cluster.cluster.controller.create_topic("orders", 3, assignments=layout))

    with cluster.client(3) as client:
        (described,) = client.log_directory().topics

    assert [(each.partition_index, each.partition_size) for each in described.partitions] == [(1, 0), (2, 0)]
    partitions = cluster.cluster.nodes[2].replicas.partitions_of(topic)
    assert partitions[0].find_log() is None
