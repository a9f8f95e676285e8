"""Requests for the controller on a node that is cut off from it."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import pytest

from fauxka.broker.isolation import Isolation
from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.create_topics import CreateTopicsResponse
from fauxka.protocol.messages.describe_quorum import DescribeQuorumResponse
from fauxka.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from fauxka.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from fauxka.protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from fauxka.protocol.primitives import Reader

from ..golden.capture_nodes import creating
from ..golden.capture_quorum import METADATA_TOPIC, describing
from .blocking_client import BlockingClient, batch
from .running_cluster import SECONDS_MAX, RunningCluster

Result = TypeVar("Result")

CUT_OFF = 3
FORWARDING_TIMEOUT_MS = 60_000
BLOCK_SIZE = 1000


class Asked(NamedTuple):
    """A request. read: decodes its response."""

    api_key: ApiKey
    version: int
    request: RequestMessage
    read: Callable[[Reader, int], object]


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster() as running:
        running.call(lambda: running.cluster.controller.create_topic("orders", 1, assignments=[[CUT_OFF]]))
        running.call(lambda: running.membership.isolate(CUT_OFF, [Isolation.CONTROLLER]))
        yield running


@pytest.fixture
def client(cluster: RunningCluster) -> Iterator[BlockingClient]:
    with cluster.client(CUT_OFF) as connected:
        yield connected


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def waiting(cluster: RunningCluster) -> int:
    """Return how many requests wait for the controller."""
    return cluster.call(lambda: len(cluster.cluster.nodes[CUT_OFF - 1].waiting_for_controller))


def wait_until_waiting(cluster: RunningCluster, answer: Future[Result]) -> None:
    while not waiting(cluster):
        assert not answer.done(), answer.result()


def test_topic_is_created_when_the_controller_is_reached_again(
    cluster: RunningCluster, client: BlockingClient, pool: ThreadPoolExecutor
) -> None:
    answer = pool.submit(create, client, "late")
    wait_until_waiting(cluster, answer)
    assert cluster.call(lambda: cluster.cluster.image.find_topic("late")) is None

    cluster.call(lambda: cluster.membership.rejoin(CUT_OFF))

    assert answer.result(SECONDS_MAX).topics[0].error_code == ErrorCode.NONE
    assert [len(node.replicas.partition_of("late", 0).topic_name) for node in cluster.cluster.nodes] == [4, 4, 4]
    assert waiting(cluster) == 0


def create(client: BlockingClient, name: str) -> CreateTopicsResponse:
    return client.send(ApiKey.CREATE_TOPICS, 7, creating(name, count=1, factor=1), CreateTopicsResponse.read)


@pytest.mark.parametrize(
    "asked",
    [
        Asked(ApiKey.DESCRIBE_QUORUM, 2, describing((METADATA_TOPIC, [0])), DescribeQuorumResponse.read),
        Asked(ApiKey.ELECT_LEADERS, 2, ElectLeadersRequest(topic_partitions=None), ElectLeadersResponse.read),
        Asked(ApiKey.UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id=9), UnregisterBrokerResponse.read),
        Asked(ApiKey.UPDATE_FEATURES, 1, UpdateFeaturesRequest(), UpdateFeaturesResponse.read),
    ],
    ids=lambda asked: asked.api_key.name,
)
def test_request_fails_after_a_minute_without_the_controller(
    cluster: RunningCluster, client: BlockingClient, pool: ThreadPoolExecutor, asked: Asked
) -> None:
    answer = pool.submit(lambda: client.send(asked.api_key, asked.version, asked.request, asked.read))
    wait_until_waiting(cluster, answer)
    cluster.advance(FORWARDING_TIMEOUT_MS // 2)
    assert waiting(cluster) == 1

    cluster.advance(FORWARDING_TIMEOUT_MS // 2)

    assert getattr(answer.result(SECONDS_MAX), "error_code", None) == ErrorCode.REQUEST_TIMED_OUT
    assert waiting(cluster) == 0


def test_topics_are_refused_one_by_one_after_a_minute(
    cluster: RunningCluster, client: BlockingClient, pool: ThreadPoolExecutor
) -> None:
    answer = pool.submit(create, client, "late")
    wait_until_waiting(cluster, answer)

    cluster.advance(FORWARDING_TIMEOUT_MS)

    (topic,) = answer.result(SECONDS_MAX).topics
    assert (topic.name, topic.error_code, topic.error_message) == ("late", ErrorCode.REQUEST_TIMED_OUT, None)


def test_request_of_a_closed_connection_is_dropped(
    cluster: RunningCluster, client: BlockingClient, pool: ThreadPoolExecutor
) -> None:
    answer = pool.submit(create, client, "late")
    wait_until_waiting(cluster, answer)

    cluster.drop_connections(CUT_OFF)

    assert waiting(cluster) == 0
    cluster.call(lambda: cluster.membership.rejoin(CUT_OFF))
    assert cluster.call(lambda: cluster.cluster.image.find_topic("late")) is None
    with pytest.raises(ConnectionFailed):
        answer.result(SECONDS_MAX)


def test_node_that_was_killed_without_the_controller_reaches_it_again(cluster: RunningCluster) -> None:
    cluster.kill(CUT_OFF)

    cluster.restart(CUT_OFF)

    with cluster.client(CUT_OFF) as client:
        assert create(client, "late").topics[0].error_code == ErrorCode.NONE


def test_records_and_metadata_need_no_controller(client: BlockingClient) -> None:
    assert client.produce("orders", batch(b"a")).error_code == ErrorCode.NONE
    assert client.read_values("orders") == [b"a"]
    assert client.partition_counts() == {"orders": 1}


def test_no_topic_is_created_on_demand(cluster: RunningCluster, client: BlockingClient) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name="late")], allow_auto_topic_creation=True)

    (topic,) = client.send(ApiKey.METADATA, 9, request, MetadataResponse.read).topics

    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert cluster.call(lambda: cluster.cluster.image.find_topic("late")) is None


def test_no_coordinator_is_found_before_its_topic_exists(client: BlockingClient) -> None:
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["a-group"])

    (found,) = client.send(ApiKey.FIND_COORDINATOR, 4, request, FindCoordinatorResponse.read).coordinators

    assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_producer_ids_go_on_until_the_block_is_used_up(cluster: RunningCluster, client: BlockingClient) -> None:
    assert allocate(client).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    cluster.call(lambda: cluster.membership.rejoin(CUT_OFF))
    first = allocate(client)
    cluster.call(lambda: cluster.membership.isolate(CUT_OFF, [Isolation.CONTROLLER]))

    others = [allocate(client) for _ in range(BLOCK_SIZE)]

    assert [each.producer_id for each in others[:-1]] == list(range(first.producer_id + 1, first.producer_id + 1000))
    assert others[-1].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def allocate(client: BlockingClient) -> InitProducerIdResponse:
    request = InitProducerIdRequest(transactional_id=None, producer_id=-1, producer_epoch=-1)
    return client.send(ApiKey.INIT_PRODUCER_ID, 4, request, InitProducerIdResponse.read)
