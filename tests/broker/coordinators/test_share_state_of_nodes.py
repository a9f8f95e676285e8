"""The state of a share group on several nodes: only its coordinator answers, and the state moves with it."""

from __future__ import annotations

from fauxka.broker.coordinators.internal_topics import CoordinatorType, ensure_internal_topic
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.initialize_share_group_state import InitializeShareGroupStateResponse
from fauxka.protocol.messages.read_share_group_state import ReadShareGroupStateResponse

from ...golden.capture_share_state import Place
from ...wire.message_client import MessageClient
from ..running_cluster import RunningCluster

CONFIG = {
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "1",
}


def read_by(cluster: RunningCluster, node_id: int, place: Place) -> tuple[int, str | None, int]:
    """Return the error, its message and the start offset that a node returns."""
    connection = MessageClient(cluster.address(node_id))
    response = connection.call(place.reading(0), 0)
    connection.close()
    assert isinstance(response, ReadShareGroupStateResponse)
    partition = response.results[0].partitions[0]
    return partition.error_code, partition.error_message, partition.start_offset


def coordinator_of(cluster: RunningCluster) -> int:
    """Return the leader of the only partition of the states."""
    topic = cluster.call(lambda: ensure_internal_topic(cluster.cluster.controller, CoordinatorType.SHARE))
    return topic.partitions[0].leader_id


def test_only_the_coordinator_answers_and_another_node_takes_the_state_over() -> None:
    with RunningCluster(**CONFIG) as cluster:
        topic = cluster.call(lambda: cluster.cluster.controller.create_topic("t", 1))
        place = Place("group", topic.topic_id)
        coordinator = coordinator_of(cluster)
        connection = MessageClient(cluster.address(coordinator))
        initialized = connection.call(place.initializing(1, 42), 0)
        connection.close()
        others = [node_id for node_id in (1, 2, 3) if node_id != coordinator]

        answers = [read_by(cluster, node_id, place) for node_id in (coordinator, *others)]
        cluster.kill(coordinator)
        after = read_by(cluster, coordinator_of(cluster), place)

    assert isinstance(initialized, InitializeShareGroupStateResponse)
    assert initialized.results[0].partitions[0].error_code == ErrorCode.NONE
    refused = (
        ErrorCode.NOT_COORDINATOR,
        "Unable to read share group state: This is not the correct coordinator.",
        0,
    )
    assert answers == [(ErrorCode.NONE, None, 42), refused, refused]
    assert after == (ErrorCode.NONE, None, 42)
