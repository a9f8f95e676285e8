"""Client quotas beyond the answers that are compared with Kafka: exact times on a clock moved by hand, and nodes."""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fauxka.broker.isolation import Isolation
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.protocol.messages.alter_client_quotas import AlterClientQuotasResponse
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.create_topics import CreateTopicsResponse
from fauxka.protocol.messages.describe_client_quotas import DescribeClientQuotasResponse
from fauxka.protocol.messages.fetch import FetchResponse
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.protocol.messages.produce import ProduceResponse

from ..golden.quota_effects import TOPIC, creating, fetching, producing
from ..golden.quota_requests import CONNECTION, FETCH, MUTATION, PRODUCE, REQUEST, altering, describing, entry
from ..manual_clock import manual_clock
from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError, WireConnection
from .running_cluster import RunningCluster
from .running_node import Node

APP = "app"
# The size of one batch of 90,000 bytes, with its request around it.
BATCH_BYTES = 90_000
# Longer than a broker on a busy machine takes for a response.
SILENCE_SECONDS = 0.2
Entity = Mapping[str, str | None]


@pytest.fixture
def clock() -> AdjustableClock:
    return manual_clock()


@pytest.fixture
def node(clock: AdjustableClock) -> Iterator[Node]:
    with Node(clock=clock) as running:
        with running.client() as client:
            client.create_topic(TOPIC)
        yield running


def set_quota(address: str, key: str, value: float | None, entity: Entity | None = None) -> None:
    with MessageClient(address, "admin") as admin:
        response = admin.call(altering(entry({"client-id": APP} if entity is None else entity, {key: value})), 1)
    assert isinstance(response, AlterClientQuotasResponse)
    assert [each.error_code for each in response.entries] == [0], response


def quotas_at(address: str) -> dict[str, float]:
    with MessageClient(address, "admin") as admin:
        response = admin.call(describing(), 1)
    assert isinstance(response, DescribeClientQuotasResponse)
    return {value.key: value.value for each in response.entries or [] for value in each.values}


def produce(client: MessageClient, size: int) -> int:
    response = client.call(producing(size, APP), 9, ProduceResponse)
    assert response.responses[0].partition_responses[0].error_code == 0
    return response.throttle_time_ms


def fetch(client: MessageClient, position: int = 0) -> FetchResponse:
    return client.call(fetching(position, BATCH_BYTES), 11, FetchResponse)


def is_muted(client: MessageClient) -> bool:
    """Send an ApiVersions, and return whether it has no response yet; the next call of receive returns it."""
    client.send(ApiVersionsRequest(), 0)
    return not client.wire.has_received(SILENCE_SECONDS)


def advance(node: Node, clock: AdjustableClock, ms: int) -> None:
    node.call(lambda: clock.advance(ms))


def test_producer_is_throttled_for_the_time_of_the_formula(node: Node, clock: AdjustableClock) -> None:
    set_quota(node.address, PRODUCE, 10_000)
    with MessageClient(node.address, APP) as client:
        assert produce(client, 100_000) == 0
        assert produce(client, 5_000) == 500
        advance(node, clock, 500)
        # 105,000 and 9,950 bytes in 10.5 s.
        assert produce(client, 9_950) == 995


def test_muted_connection_is_served_when_its_throttle_time_has_passed(node: Node, clock: AdjustableClock) -> None:
    set_quota(node.address, PRODUCE, 10_000)
    with MessageClient(node.address, APP) as client:
        assert produce(client, 110_000) == 1000
        assert is_muted(client)

        advance(node, clock, 999)
        assert not client.wire.has_received(SILENCE_SECONDS)
        advance(node, clock, 1)

        client.receive()


def test_other_connections_of_a_throttled_client_are_served(node: Node) -> None:
    set_quota(node.address, PRODUCE, 1)
    with MessageClient(node.address, APP) as client, MessageClient(node.address, APP) as other:
        assert produce(client, 10_000) > 0

        other.call(ApiVersionsRequest(), 0)
        assert is_muted(client)


def test_requests_sent_at_once_are_each_throttled(node: Node, clock: AdjustableClock) -> None:
    set_quota(node.address, PRODUCE, 10_000)
    with MessageClient(node.address, APP) as client:
        client.send_each([(producing(110_000, APP), 9)] * 2)
        first = client.receive(ProduceResponse).throttle_time_ms
        advance(node, clock, first)
        second = client.receive(ProduceResponse).throttle_time_ms

    # The second one makes it 220,000 bytes in 10 s.
    assert (first, second) == (1000, 12_000)


def test_quota_applies_to_connections_and_routes_from_before_it(node: Node) -> None:
    with MessageClient(node.address, APP) as client:
        assert [produce(client, 110_000) for _ in range(3)] == [0, 0, 0]
        set_quota(node.address, PRODUCE, 10_000)

        assert produce(client, 110_000) == 1000


def test_throttled_fetch_is_empty_and_its_bytes_do_not_count(node: Node, clock: AdjustableClock) -> None:
    with MessageClient(node.address, APP) as client:
        produce(client, 90_000)
        produce(client, 90_000)
        set_quota(node.address, FETCH, 10_000)
        first = fetch(client, 0)
        assert first.throttle_time_ms == 0 and first.responses
        second = fetch(client, 1)
        assert 7000 < second.throttle_time_ms < 9000 and not second.responses
        advance(node, clock, second.throttle_time_ms)
        third = fetch(client, 1)
        assert 0 < third.throttle_time_ms < second.throttle_time_ms
        advance(node, clock, 11_000)

        assert fetch(client, 1).responses


def test_mutations_above_the_quota_are_refused_until_the_bucket_owes_nothing(
    node: Node, clock: AdjustableClock
) -> None:
    set_quota(node.address, MUTATION, 2)
    with MessageClient(node.address, APP) as client:
        results: list[tuple[int, int]] = []
        for name, count, ms in (("first", 25, 0), ("second", 1, 1500), ("second", 1, 0)):
            response = client.call(creating(name, count), 7, CreateTopicsResponse)
            results.append((response.topics[0].error_code, response.throttle_time_ms))
            advance(node, clock, ms)

    assert results == [(0, 0), (89, 1500), (0, 0)]


def test_request_time_throttles_for_a_window_at_most(node: Node) -> None:
    set_quota(node.address, REQUEST, 1e-9)
    with MessageClient(node.address, APP) as client:
        response = client.call(MetadataRequest(topics=[]), 12)

    assert isinstance(response, MetadataResponse)
    assert response.throttle_time_ms == 1000


def opened_above_quota(node: Node) -> list[WireConnection]:
    """Open connections from one address, of which the last is above the quota of the address."""
    set_quota(node.address, CONNECTION, 1, {"ip": "127.0.0.2"})
    opened = [WireConnection(node.address, source="127.0.0.2") for _ in range(11)]
    with node.client() as other:
        # All are accepted in the order of their arrival.
        other.metadata()
    return opened


def test_connection_above_the_quota_of_its_address_is_closed_after_its_throttle_time(
    node: Node, clock: AdjustableClock
) -> None:
    opened = opened_above_quota(node)
    assert not opened[-1].has_received(SILENCE_SECONDS)
    advance(node, clock, 1000)

    assert opened[-1].is_closed_by_fin()
    for each in opened:
        each.close()


HOST, ADDRESS_OF_HOST = "host.of.a.quota", "127.0.0.2"


def name_server(monkeypatch: pytest.MonkeyPatch, answering: Callable[[], object]) -> list[int]:
    """Have HOST looked up with this delay. Return the threads that look it up."""
    threads: list[int] = []
    system = socket.getaddrinfo

    def look_up(host: str, *arguments: Any, **options: Any) -> Any:
        if host == HOST:
            threads.append(threading.get_ident())
            answering()
        return system(ADDRESS_OF_HOST if host == HOST else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return threads


def is_throttled(node: Node) -> bool:
    """Record more connections from the address of HOST than a rate of 1 allows."""
    quotas = node.cluster.node.client_quotas
    assert quotas is not None
    return any(node.call(lambda: [quotas.record_connection(ADDRESS_OF_HOST) for _ in range(11)]))


def test_host_of_a_quota_is_looked_up_once_and_not_on_the_event_loop(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = name_server(monkeypatch, lambda: None)
    set_quota(node.address, CONNECTION, 1, {"ip": HOST})
    set_quota(node.address, PRODUCE, 1)

    assert is_throttled(node)
    assert len(threads) == 1
    assert node.call(threading.get_ident) not in threads


def test_host_of_a_stored_quota_is_looked_up_while_the_node_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    answered.set()
    threads = name_server(monkeypatch, lambda: answered.wait(10))
    with Node(tmp_path) as node:
        set_quota(node.address, CONNECTION, 1, {"ip": HOST})
    answered.clear()

    with Node(tmp_path) as node:
        before = is_throttled(node)
        set_quota(node.address, PRODUCE, 1)
        answered.set()
        while not is_throttled(node):
            set_quota(node.address, PRODUCE, 1)

    assert not before
    assert len(threads) == 2


def test_stopped_node_closes_throttled_connections(clock: AdjustableClock) -> None:
    with Node(clock=clock) as node:
        opened = opened_above_quota(node)

    assert opened[-1].is_closed_by_fin()
    for each in opened:
        each.close()


def test_replaced_state_ends_throttled_connections(node: Node) -> None:
    opened = opened_above_quota(node)

    node.call(node.server.drop_connections)

    assert opened[-1].is_closed_by_fin()
    for each in opened:
        each.close()


def test_client_that_leaves_while_it_is_muted_leaves_nothing(node: Node, clock: AdjustableClock) -> None:
    set_quota(node.address, PRODUCE, 1)
    pending = node.call(lambda: clock.pending_count)
    with MessageClient(node.address, APP) as client:
        assert produce(client, 10_000) > 0
    with MessageClient(node.address, "other") as other:
        while node.call(lambda: node.server.connection_count) > 1:
            other.call(ApiVersionsRequest(), 0)

    advance(node, clock, 3_600_000)
    assert node.call(lambda: clock.pending_count) <= pending + 1


def test_reset_deletes_quotas_and_what_was_measured(node: Node) -> None:
    set_quota(node.address, PRODUCE, 10_000)
    with MessageClient(node.address, APP) as client:
        assert produce(client, 110_000) == 1000
    node.reset()
    assert quotas_at(node.address) == {}
    with node.client() as admin:
        admin.create_topic(TOPIC)
    set_quota(node.address, PRODUCE, 10_000)

    with MessageClient(node.address, APP) as client:
        assert produce(client, 100_000) == 0


def test_restored_snapshot_has_its_quotas(node: Node) -> None:
    set_quota(node.address, PRODUCE, 10_000)
    snapshot = node.take_snapshot()
    set_quota(node.address, PRODUCE, None)
    set_quota(node.address, FETCH, 5)

    node.restore(snapshot)

    assert quotas_at(node.address) == {PRODUCE: 10_000}
    with MessageClient(node.address, APP) as client:
        assert produce(client, 110_000) == 1000


def create_topic_code(client: MessageClient, name: str, partitions: int) -> int:
    response = client.call(creating(name, partitions), 7, CreateTopicsResponse)
    return response.topics[0].error_code


@pytest.mark.parametrize("is_restored", [False, True])
def test_reset_and_restored_snapshot_fill_the_buckets_of_mutations(node: Node, is_restored: bool) -> None:
    set_quota(node.address, MUTATION, 1)
    snapshot = node.take_snapshot()
    with MessageClient(node.address, APP) as client:
        # The bucket has eleven tokens.
        assert [create_topic_code(client, name, 20) for name in ("first", "second")] == [0, 89]

    if is_restored:
        node.restore(snapshot)
    else:
        node.reset()
        set_quota(node.address, MUTATION, 1)

    with MessageClient(node.address, APP) as client:
        assert create_topic_code(client, "second", 1) == 0


@pytest.mark.parametrize("value", [1234.5, 1e300, float("inf")])
def test_quotas_are_kept_in_the_data_folder_and_apply_after_a_restart(tmp_path: Path, value: float) -> None:
    with Node(tmp_path) as node:
        with node.client() as client:
            client.create_topic(TOPIC)
        set_quota(node.address, PRODUCE, 10_000, {"user": None, "client-id": APP})
        set_quota(node.address, REQUEST, value)
        set_quota(node.address, CONNECTION, 1_000_000, {"ip": None})
    with Node(tmp_path) as node:
        assert quotas_at(node.address) == {PRODUCE: 10_000, REQUEST: value, CONNECTION: 1_000_000}
        with MessageClient(node.address, APP) as client:
            assert produce(client, 110_000) == 1000


def test_all_nodes_have_the_quotas_and_measure_on_their_own() -> None:
    with RunningCluster() as cluster:
        set_quota(cluster.address(2), REQUEST, 1e-9)
        throttle_ms: list[int] = []
        for node_id in (1, 2, 3):
            with MessageClient(cluster.address(node_id), APP) as client:
                response = client.call(MetadataRequest(topics=[]), 12, MetadataResponse)
                throttle_ms.append(response.throttle_time_ms)

    assert throttle_ms == [1000, 1000, 1000]


def test_node_that_was_cut_off_applies_the_quotas_when_it_reaches_the_controller() -> None:
    with RunningCluster() as cluster:
        cluster.isolate(3, [Isolation.CONTROLLER])
        set_quota(cluster.address(1), REQUEST, 1e-9)
        assert quotas_at(cluster.address(3)) == {}
        cluster.call(lambda: cluster.membership.rejoin(3))
        assert quotas_at(cluster.address(3)) == {REQUEST: 1e-9}

        with MessageClient(cluster.address(3), APP) as client:
            response = client.call(MetadataRequest(topics=[]), 12)

    assert isinstance(response, MetadataResponse)
    assert response.throttle_time_ms == 1000


def test_unacknowledged_batch_that_is_refused_still_closes_the_connection(node: Node) -> None:
    set_quota(node.address, PRODUCE, 1)
    request = producing(1000, APP, acks=0)
    request.topic_data[0].name = "missing"
    with MessageClient(node.address, APP) as client:
        client.send(request, 9)
        with pytest.raises(ConnectionClosedError):
            client.call(ApiVersionsRequest(), 0)


def test_question_for_quotas_begins_no_measuring() -> None:
    with Node() as node:
        with node.client() as client:
            client.create_topic(TOPIC)
        assert quotas_at(node.address) == {}

        assert node.cluster.node.client_quotas is None
