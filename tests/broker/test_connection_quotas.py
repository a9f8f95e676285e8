"""Maximum numbers of connections, and the end of idle ones; what a client of Kafka sees of them is in tests/golden."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.config.connection_overrides import parse_overrides
from fauxka.broker.network.connection_quotas import ConnectionQuotas
from fauxka.broker.runtime.clock import AdjustableClock

from ..wire.frames import api_versions_request
from ..wire.wire_connection import WireConnection
from .running_node import Node
from .topic_client import TopicClient

IDLE_MS = 600_000
ADDRESS, OTHER_ADDRESS = "127.0.0.1", "::1"


class IdleConnection:
    """A connection that stores the order of the closes."""

    def __init__(self, name: str, last_read_ms: int, closed: list[str]) -> None:
        self._name = name
        self._closed = closed
        self.last_read_ns = last_read_ms * 1_000_000

    def close(self) -> None:
        self._closed.append(self._name)


class Scene:
    """Quotas with a clock that stands, and the connections that they closed."""

    def __init__(self, config: Mapping[str, str] | None = None, listeners: tuple[str, ...] = ("PLAINTEXT",)) -> None:
        self.clock = AdjustableClock(standing_at_ms=0)
        self.config = BrokerConfig.from_entries(config or {})
        self.quotas = ConnectionQuotas(self.clock, lambda: self.config)
        for listener in listeners:
            self.quotas.listen(listener)
        self.closed: list[str] = []

    def open(
        self, name: str, listener: str = "PLAINTEXT", address: str = ADDRESS, last_read_ms: int = 0
    ) -> IdleConnection:
        connection = IdleConnection(name, last_read_ms, self.closed)
        self.quotas.opened(connection, listener, address)
        self.quotas.attached(connection)
        return connection

    def change(self, config: Mapping[str, str]) -> None:
        self.config = BrokerConfig.from_entries(config)
        self.quotas.close_excess()


def test_a_connection_is_closed_when_nothing_was_read_for_the_configured_time() -> None:
    scene = Scene()
    scene.open("idle")

    scene.clock.advance(IDLE_MS - 1)
    before = list(scene.closed)
    scene.clock.advance(1)

    assert before == []
    assert scene.closed == ["idle"]


def test_idle_connections_are_closed_in_the_order_of_their_last_reads() -> None:
    scene = Scene()
    for name, last_read_ms in {"second": 20, "third": 30, "first": 10}.items():
        scene.open(name, last_read_ms=last_read_ms)

    scene.clock.advance(2 * IDLE_MS)

    assert scene.closed == ["first", "second", "third"]


def test_a_read_delays_the_close() -> None:
    scene = Scene()
    connection = scene.open("active")

    scene.clock.advance(IDLE_MS - 1)
    connection.last_read_ns = scene.clock.elapsed_ns()
    scene.clock.advance(IDLE_MS - 1)
    before = list(scene.closed)
    scene.clock.advance(1)

    assert before == []
    assert scene.closed == ["active"]


def test_connections_after_a_time_without_any_are_closed_when_idle() -> None:
    scene = Scene()
    first = scene.open("first")
    scene.quotas.closed(first)
    scene.clock.advance(3 * IDLE_MS)

    scene.open("later", last_read_ms=3 * IDLE_MS)
    scene.clock.advance(IDLE_MS)

    assert scene.closed == ["later"]


def test_no_connection_is_closed_with_a_negative_idle_time() -> None:
    scene = Scene({"connections.max.idle.ms": "-1"})
    scene.open("kept")

    scene.clock.advance(1000 * IDLE_MS)

    assert scene.closed == []
    assert scene.clock.pending_count == 0


def test_no_timer_runs_for_a_connection_that_is_established_after_the_stop() -> None:
    scene = Scene()
    scene.quotas.stop()

    scene.open("late")

    assert scene.clock.pending_count == 0


def test_all_connections_have_one_timer() -> None:
    scene = Scene()

    for number in range(100):
        scene.open(str(number), last_read_ms=number)

    assert scene.clock.pending_count == 1


def test_a_listener_has_a_slot_until_the_maximum_is_open() -> None:
    scene = Scene({"max.connections": "2"})
    first = scene.open("first")
    before = scene.quotas.has_slot("PLAINTEXT")
    scene.open("second")
    full = scene.quotas.has_slot("PLAINTEXT")
    scene.quotas.closed(first)

    assert (before, full, scene.quotas.has_slot("PLAINTEXT")) == (True, False, True)
    assert scene.closed == []


def test_a_lower_maximum_closes_the_least_recently_used_connections() -> None:
    scene = Scene()
    for name, last_read_ms in {"a": 30, "b": 10, "c": 20}.items():
        scene.open(name, last_read_ms=last_read_ms)

    scene.change({"max.connections": "1"})
    scene.change({"max.connections": "1"})

    assert scene.closed == ["b", "c"]


def test_the_listener_between_brokers_accepts_beyond_the_maximum_and_another_listener_loses_a_connection() -> None:
    config = {"max.connections": "2", "inter.broker.listener.name": "internal"}
    scene = Scene(config, listeners=("INTERNAL", "EXTERNAL"))
    scene.open("oldest, internal", "INTERNAL", last_read_ms=1)
    scene.open("external", "EXTERNAL", last_read_ms=2)
    slots = scene.quotas.has_slot("EXTERNAL"), scene.quotas.has_slot("INTERNAL")

    scene.open("internal", "INTERNAL", last_read_ms=3)

    assert slots == (False, True)
    assert scene.closed == ["external"]


def test_an_only_listener_is_not_exempt_from_the_maximum() -> None:
    scene = Scene({"max.connections": "0", "inter.broker.listener.name": "PLAINTEXT"})

    assert not scene.quotas.has_slot("PLAINTEXT")


def test_an_address_may_open_as_many_connections_as_its_override_says() -> None:
    scene = Scene({"max.connections.per.ip": "1", "max.connections.per.ip.overrides": "127.0.0.1:2,::1:0"})
    first = scene.open("first")
    after_one = scene.quotas.find_exceeded_maximum(ADDRESS)
    scene.open("second")
    after_two = scene.quotas.find_exceeded_maximum(ADDRESS)
    scene.quotas.closed(first)
    scene.quotas.closed(first)

    assert (after_one, after_two, scene.quotas.find_exceeded_maximum(ADDRESS)) == (None, 2, None)
    assert scene.quotas.find_exceeded_maximum(OTHER_ADDRESS) == 0
    assert scene.quotas.find_exceeded_maximum("127.0.0.9") is None


def test_a_changed_override_applies_to_the_next_connection() -> None:
    scene = Scene()
    scene.open("first")

    scene.change({"max.connections.per.ip.overrides": "localhost:1"})

    assert scene.quotas.find_exceeded_maximum(ADDRESS) == 1


def test_an_override_of_an_unknown_host_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene({"max.connections.per.ip.overrides": "no.such.host.invalid:1,127.0.0.1:0"})

    assert scene.quotas.find_exceeded_maximum(ADDRESS) == 0
    assert "no address of no.such.host.invalid is known" in caplog.text


def test_overrides_are_parsed_as_in_kafka() -> None:
    assert parse_overrides("a:1 , ::1:2,a:3,,") == {"a": 3, "::1": 2}
    assert parse_overrides("") == {}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"max.connections.per.ip": "0"}, "can be set to zero only if max.connections.per.ip.overrides"),
        ({"max.connections.per.ip.overrides": "a b:1"}, "contains invalid addresses : a b"),
        ({"max.connections.per.ip.overrides": "127.0.0.1:x"}, 'For input string: "x"'),
        ({"socket.listen.backlog.size": "0"}, "Value must be at least 1"),
    ],
)
def test_values_that_kafka_refuses_are_refused_at_start_up(config: Mapping[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        BrokerConfig.from_entries(config)


def test_a_connection_that_is_idle_for_the_configured_time_is_closed_even_while_it_waits() -> None:
    with (
        Node(config={"connections.max.idle.ms": "300"}) as node,
        WireConnection(node.address) as idle,
        TopicClient(node.address) as waiting,
    ):
        idle.send(api_versions_request())
        idle.receive_frame()
        assert waiting.create_topic("events") == 0
        waiting.send_fetch(max_wait_ms=60_000)

        assert (idle.receive_until_closed(), waiting.wire.is_closed()) == (b"", True)


def test_an_advanced_clock_makes_no_connection_idle() -> None:
    with Node(clock=AdjustableClock()) as node, WireConnection(node.address) as client:
        client.send(api_versions_request())
        client.receive_frame()

        node.call(lambda: node.cluster.clock.advance(1000 * IDLE_MS))

        client.send(api_versions_request())
        assert client.receive_frame()


def test_a_connection_that_may_not_be_idle_at_all_is_closed() -> None:
    with Node(config={"connections.max.idle.ms": "0"}) as node, WireConnection(node.address) as idle:
        assert idle.receive_until_closed() == b""


def test_a_restarted_broker_closes_idle_connections() -> None:
    with Node(config={"connections.max.idle.ms": "300"}) as node:
        WireConnection(node.address).close()
        node.crash()
        node.restart()
        with WireConnection(node.address) as idle:
            idle.send(api_versions_request())
            idle.receive_frame()

            assert idle.receive_until_closed() == b""


def test_the_backlog_is_that_of_the_config() -> None:
    # Both waiting connections and one more: the kernel's queue has one place more than its size.
    config = {"socket.listen.backlog.size": "1", "max.connections": "0"}
    with (
        Node(config=config) as node,
        WireConnection(node.address),
        WireConnection(node.address),
        pytest.raises(TimeoutError),
    ):
        WireConnection(node.address, seconds_max=0.3)
