"""Every API of a group or a transactional id, asked on a node that is not its coordinator."""

from collections.abc import Iterator
from functools import partial

import pytest

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from ..running_cluster import RunningCluster
from .misdirected_requests import (
    GROUP_REQUESTS,
    SHARE_REQUESTS,
    TOPIC,
    TRANSACTION_REQUESTS,
    Misdirected,
    request_for_named_offsets,
)

GROUP_COORDINATOR, TRANSACTION_COORDINATOR, OTHER = 1, 2, 3
TOPIC_LEADER = 1


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster() as running:
        for name, replicas in (
            ("__consumer_offsets", [GROUP_COORDINATOR, OTHER]),
            ("__transaction_state", [TRANSACTION_COORDINATOR, OTHER]),
            (TOPIC, [TOPIC_LEADER, OTHER]),
        ):
            running.call(partial(running.cluster.controller.create_topic, name, 1, assignments=[replicas]))
        yield running


@pytest.mark.parametrize("asked", [*GROUP_REQUESTS, *SHARE_REQUESTS, *TRANSACTION_REQUESTS], ids=str)
def test_node_that_is_not_the_coordinator_responds_as_kafka_does(cluster: RunningCluster, asked: Misdirected) -> None:
    with cluster.client(OTHER) as client:
        assert client.send(asked.api_key, asked.version, asked.request, asked.read) == asked.response


def test_every_node_knows_the_share_offsets_of_named_partitions(cluster: RunningCluster) -> None:
    with cluster.client(OTHER) as client:
        asked = request_for_named_offsets(client.topic_ids()[TOPIC])
        assert client.send(asked.api_key, asked.version, asked.request, asked.read) == asked.response


@pytest.mark.parametrize("asked", GROUP_REQUESTS, ids=str)
def test_coordinator_of_the_group_has_other_errors_or_none(cluster: RunningCluster, asked: Misdirected) -> None:
    with cluster.client(GROUP_COORDINATOR) as client:
        response = client.send(asked.api_key, asked.version, asked.request, asked.read)

    assert f"={int(ErrorCode.NOT_COORDINATOR)}," not in str(response)


@pytest.mark.parametrize(
    ("node_id", "error_code"),
    [
        (TOPIC_LEADER, ErrorCode.NONE),
        (OTHER, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (TRANSACTION_COORDINATOR, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_marker_is_written_by_the_leader_alone(cluster: RunningCluster, node_id: int, error_code: ErrorCode) -> None:
    topic = WritableTxnMarkerTopic(name=TOPIC, partition_indexes=[0])
    marker = WritableTxnMarker(producer_id=77, producer_epoch=0, transaction_result=True, topics=[topic])

    with cluster.client(node_id) as client:
        response = client.send(
            ApiKey.WRITE_TXN_MARKERS, 1, WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse.read
        )

    assert response.markers[0].topics[0].partitions[0].error_code == error_code
