"""The topics of the coordinators on several nodes: how many replicas they have, and how many must be in sync."""

import pytest

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

from .running_cluster import RunningCluster

TOPICS = {0: "__consumer_offsets", 1: "__transaction_state"}


def replicas_of(cluster: RunningCluster, key_type: int) -> int:
    """Have the topic of a type of coordinator created, and return its number of replicas."""
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a"])
    with cluster.client(1) as client:
        client.send(ApiKey.FIND_COORDINATOR, 4, request, FindCoordinatorResponse.read)
    return len(cluster.partition(TOPICS[key_type]).replicas)


@pytest.mark.parametrize("key_type", TOPICS)
def test_internal_topic_has_the_configured_replicas(key_type: int) -> None:
    config = {"offsets.topic.replication.factor": "2", "transaction.state.log.replication.factor": "2"}
    with RunningCluster(**config) as cluster:
        assert replicas_of(cluster, key_type) == 2


@pytest.mark.parametrize("key_type", TOPICS)
def test_internal_topic_has_at_most_as_many_replicas_as_there_are_nodes(key_type: int) -> None:
    with RunningCluster([None, None]) as cluster:
        assert replicas_of(cluster, key_type) == 2
