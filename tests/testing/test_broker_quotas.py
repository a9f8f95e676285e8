"""Client quotas in process and over HTTP, and the throttle times that clients get at once."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from fauxka import testing
from fauxka.broker.metadata.client_quotas_image import IP
from fauxka.faults.strict_json import encode
from fauxka.protocol.messages.produce import ProduceResponse
from fauxka.testing import CallError, InvalidValueError
from fauxka.testing.remote_broker import RemoteBroker

from ..golden.quota_effects import TOPIC, producing
from ..serving_process import serving
from ..wire.message_client import MessageClient
from .transports import Broker

APP = "my-app"
SECONDS_MAX = 20
# The bytes of two requests are above what a rate of 10,000 allows at once.
VALUE_BYTES = 90_000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as started:
        yield started


@pytest.fixture(scope="module")
def serving_remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteBroker]:
    with serving(tmp_path_factory.mktemp("remote"), "--admin-port", "0") as started:
        assert started.admin is not None
        yield RemoteBroker(started.admin)


def produce(client: MessageClient, client_id: str = APP) -> int:
    """Write once, and return the throttle time of the response in ms."""
    response = client.call(producing(VALUE_BYTES, client_id), 9, ProduceResponse)
    return response.throttle_time_ms


def produce_twice(address: str, client_id: str = APP) -> int:
    """Write twice, and return the throttle time of the second response in ms."""
    with MessageClient(address, client_id) as client:
        produce(client, client_id)
        return produce(client, client_id)


def as_json(quotas: object) -> bytes:
    return encode(quotas)


def test_quota_throttles_on_every_node_from_the_next_request_on() -> None:
    with Broker(nodes=3) as broker:
        broker.topics.create(TOPIC)
        addresses = broker.bootstrap_servers.split(",")
        leader = addresses[broker.partitions(TOPIC)[0].leader - 1]
        with MessageClient(leader, APP) as client:
            before = produce(client)
            broker.quotas.set(client_id=APP, producer_byte_rate=5_000)
            after = produce(client)
        described = broker.ask(lambda control: [len(node.image.client_quotas) for node in control.cluster.nodes])

    assert (before, described) == (0, [1, 1, 1])
    assert after > 0


def test_removed_quota_throttles_no_more(broker: Broker) -> None:
    broker.topics.create(TOPIC)
    broker.quotas.set(client_id=None, producer_byte_rate=10_000)
    throttled = produce_twice(broker.bootstrap_servers, "first")
    broker.quotas.delete(client_id=None)

    assert throttled > 0
    assert produce_twice(broker.bootstrap_servers, "second") == 0


def test_quotas_of_an_entity_are_set_and_removed_one_by_one(broker: Broker) -> None:
    broker.quotas.set(user="alice", client_id=None, producer_byte_rate=1, consumer_byte_rate=2)
    changed = broker.quotas.set(user="alice", client_id=None, producer_byte_rate=None, request_percentage=0.5)
    emptied = broker.quotas.set(user="alice", client_id=None, consumer_byte_rate=None, request_percentage=None)

    assert as_json(changed) == b'{"user":"alice","client_id":null,"consumer_byte_rate":2.0,"request_percentage":0.5}'
    assert as_json(emptied) == b'{"user":"alice","client_id":null}'
    assert broker.quotas.list() == []


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"user": "alice"}, [1, 2]),
        ({"user": "alice", "strict": True}, [1]),
        ({"client_id": "app"}, [2]),
        ({"client_id": None}, [3]),
        ({"ip": None}, [4]),
        ({"ip": "10.0.0.1"}, [5]),
        ({"user": None}, []),
    ],
)
@pytest.mark.parametrize("is_remote", [False, True])
def test_quotas_are_listed_and_deleted_by_names(
    broker: Broker, serving_remote: RemoteBroker, is_remote: bool, names: dict[str, Any], found: list[int]
) -> None:
    quotas = serving_remote.quotas if is_remote else broker.quotas
    quotas.delete()
    quotas.set(user="alice", producer_byte_rate=1)
    quotas.set(user="alice", client_id="app", producer_byte_rate=2)
    quotas.set(client_id=None, producer_byte_rate=3)
    quotas.set(ip=None, connection_creation_rate=4)
    quotas.set(ip="10.0.0.1", connection_creation_rate=5)

    listed = quotas.list(**names)

    rates = [each.producer_byte_rate or each.connection_creation_rate for each in listed]
    assert rates == found
    assert quotas.delete(**names) == listed
    assert len(quotas.list()) == 5 - len(found)


def test_page_is_no_name_to_list(broker: Broker, serving_remote: RemoteBroker) -> None:
    for quotas in (broker.quotas, serving_remote.quotas):
        with pytest.raises(InvalidValueError, match="since"):
            quotas.list(since=1)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_quota_of_a_user_throttles_only_that_user() -> None:
    throttled: dict[str, bool] = {}
    with Broker(security_protocol="SASL_PLAINTEXT", users={"alice": "alice-secret", "bob": "bob-secret"}) as broker:
        broker.topics.create(TOPIC)
        broker.quotas.set(user="alice", request_percentage=1e-9)
        for user in ("alice", "bob"):
            throttle_times: list[Any] = []
            producer = Producer({**broker.client_config(user), "throttle_cb": throttle_times.append})
            producer.produce(TOPIC, b"v")
            assert producer.flush(SECONDS_MAX) == 0
            throttled[user] = any(event.throttle_time > 0 for event in throttle_times)

    assert throttled == {"alice": True, "bob": False}


@pytest.mark.parametrize("nodes", [1, 2])
def test_host_with_a_quota_is_not_looked_up_on_the_event_loop(monkeypatch: pytest.MonkeyPatch, nodes: int) -> None:
    # A client of HTTP looks up addresses too.
    looked_up: list[bool] = []

    def look_up(*arguments: Any, **options: Any) -> list[Any]:
        looked_up.append(threading.current_thread().name == "fauxka")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    with testing.Broker(nodes=nodes) as broker:
        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        broker.quotas.set(ip="clients.test", connection_creation_rate=1)
        broker.quotas.set(user="alice", producer_byte_rate=1)
        known = broker.ask(
            lambda control: [
                each.image.client_quotas.find_addresses(((IP, "clients.test"),)) for each in control.cluster.nodes
            ]
        )
        broker.restore(broker.snapshot())
        broker.reset()
        monkeypatch.undo()

    assert known == [frozenset({"127.0.0.1"})] * nodes
    assert looked_up == [False]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"user": ""}, "user"),
        ({"client_id": APP, "producer_byte_rate": "fast"}, "producer_byte_rate"),
        ({"clientid": APP}, "clientid"),
    ],
)
def test_wrong_type_is_named(broker: Broker, values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        broker.quotas.set(**values)

    assert (raised.value.field, raised.value.value) == (field, values[field])


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({}, "user", "Invalid empty client quota entity"),
        ({"ip": "10.0.0.1", "user": "alice"}, "ip", "IP entity should"),
        ({"ip": "a..b", "connection_creation_rate": 1}, "ip", "a..b is not a valid IP or resolvable host."),
        ({"user": "a", "producer_byte_rate": 0}, "producer_byte_rate", "must be greater than 0"),
        ({"user": "a", "producer_byte_rate": 1.5}, "producer_byte_rate", "cannot be a fractional value."),
        ({"ip": None, "connection_creation_rate": 2**31}, "connection_creation_rate", "too large for an INT."),
        ({"ip": None, "producer_byte_rate": 1}, "producer_byte_rate", "Invalid configuration key producer_byte_rate"),
        ({"user": "a", "connection_creation_rate": 1}, "connection_creation_rate", "Invalid configuration key"),
    ],
)
def test_value_that_kafka_refuses_has_its_message_and_changes_nothing(
    broker: Broker, values: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(CallError) as raised:
        broker.quotas.set(**values)

    detail = raised.value.detail
    assert (raised.value.status, detail.field, detail.value) == (400, field, values.get(field))
    assert message in detail.message and detail.allowed
    assert broker.quotas.list() == []


def test_refused_call_over_http_names_field_and_value(serving_remote: RemoteBroker) -> None:
    with pytest.raises(CallError, match="Quota producer_byte_rate must be greater than 0") as raised:
        serving_remote.quotas.set(client_id=APP, producer_byte_rate=-1)

    assert raised.value.status == 400


def test_quotas_are_kept_in_the_data_folder(tmp_path: Path) -> None:
    for expected in ([], [APP]):
        (folder := tmp_path / str(len(expected))).mkdir()
        with serving(folder, "--admin-port", "0", "--data-dir", str(tmp_path / "data")) as started:
            assert started.admin is not None
            quotas = RemoteBroker(started.admin).quotas
            assert [each.client_id for each in quotas.list()] == expected
            quotas.set(client_id=APP, producer_byte_rate=1)
