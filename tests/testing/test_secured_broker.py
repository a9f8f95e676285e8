"""Broker and the fixture fauxka_secured with TLS and SASL: what a client needs is in client_config."""

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from fauxka.broker.network.listeners import ListenerConfig
from fauxka.testing import ConfigError
from fauxka.testing.broker_pool import BrokerPool, Configuration
from fauxka.testing.client_security import ClientSecurity

from .transports import Broker, in_a_thread_only

SECONDS_MAX = 20
USERS = {"alice": "secret", "bob": "hidden"}
TOPIC = "orders"


def write(config: dict[str, str]) -> int:
    """Return the number of records that were not delivered, after all the time of a client."""
    producer = Producer({**config, "message.timeout.ms": 3000})
    failed: list[object] = []
    producer.produce(TOPIC, b"v", on_delivery=lambda error, _: failed.append(error) if error else None)
    producer.flush(SECONDS_MAX)
    return len(failed)


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_client_connects_with_the_given_configuration(protocol: str) -> None:
    users = USERS if protocol.startswith("SASL") else None
    with Broker(security_protocol=protocol, users=users) as broker:
        assert write(broker.client_config()) == 0


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_each_user_and_mechanism_has_its_configuration(mechanism: str) -> None:
    with Broker(security_protocol="SASL_PLAINTEXT", users=USERS) as broker:
        config = broker.client_config("bob", mechanism)

        assert (config["sasl.username"], config["sasl.password"], config["sasl.mechanism"]) == (
            "bob",
            "hidden",
            mechanism,
        )
        assert write(config) == 0


def test_all_nodes_have_the_security() -> None:
    with Broker(nodes=3, security_protocol="SASL_SSL", users=USERS) as broker:
        assert [write({**broker.client_config(), "bootstrap.servers": each}) for each in nodes_of(broker)] == [0, 0, 0]


def nodes_of(broker: Broker) -> list[str]:
    return broker.bootstrap_servers.split(",")


def test_listeners_behind_that_of_the_protocol_are_plain() -> None:
    listeners = [ListenerConfig("SASL_PLAINTEXT", port=0), ListenerConfig("INTERNAL", port=0)]
    with Broker(listeners=listeners, security_protocol="SASL_PLAINTEXT", users=USERS) as broker:
        secured, plain = broker.ask(lambda control: control.server.servers[0].listeners)

        assert broker.client_config()["bootstrap.servers"] == secured.address
        assert write({"bootstrap.servers": plain.address}) == 0


def test_broker_without_security_has_the_address_alone() -> None:
    with Broker() as broker:
        assert broker.client_config() == {"bootstrap.servers": broker.bootstrap_servers}
        assert broker.tls_dir is None


def test_certificates_are_in_the_given_folder_and_used_again(tmp_path: Path) -> None:
    contents: list[bytes] = []
    for _ in range(2):
        with Broker(security_protocol="SSL", tls_dir=tmp_path) as broker:
            assert broker.tls_dir == tmp_path
            assert write(broker.client_config()) == 0
        contents.append((tmp_path / "ca.pem").read_bytes())

    assert contents[0] == contents[1]


@in_a_thread_only
def test_certificates_without_a_folder_are_deleted_with_the_broker() -> None:
    broker = Broker(security_protocol="SSL")
    folder = broker.tls_dir
    broker.cluster.close()
    assert folder is not None and (folder / "ca.pem").exists()

    del broker
    gc.collect()

    assert not folder.exists()


def test_keys_of_the_listener_have_their_effect() -> None:
    keys = {"listener.name.sasl_plaintext.sasl.enabled.mechanisms": "SCRAM-SHA-512"}
    with Broker(keys, security_protocol="SASL_PLAINTEXT", users=USERS) as broker:
        assert write(broker.client_config(mechanism="SCRAM-SHA-512")) == 0
        assert write(broker.client_config(mechanism="PLAIN")) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"security_protocol": "TLS"},
            "security_protocol: got 'TLS'; allowed: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
        ),
        (
            {"security_protocol": "SASL_SSL"},
            "security_protocol SASL_SSL needs users, such as users={'alice': 'secret'}",
        ),
        (
            {"users": USERS},
            "users need a security_protocol: SASL_PLAINTEXT or SASL_SSL",
        ),
        (
            {"tls_dir": "certificates"},
            "tls_dir needs a security_protocol: SSL or SASL_SSL",
        ),
        (
            {"security_protocol": "SASL_SSL", "users": {"alice": 1}},
            "users: expected names and passwords as texts that are not empty, at the user 'alice'",
        ),
        (
            {"security_protocol": "SASL_SSL", "users": ["alice"]},
            "users: expected a dict of names and passwords, got a list",
        ),
    ],
)
def test_wrong_argument_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Broker(**arguments)

    assert str(raised.value) == message


def test_container_with_users_has_sasl_as_a_broker_in_process() -> None:
    with pytest.raises(ConfigError, match="users need a security_protocol"):
        ClientSecurity("PLAINTEXT", USERS)


def test_unknown_user_and_mechanism_are_named() -> None:
    with Broker(security_protocol="SASL_PLAINTEXT", users=USERS) as broker:
        with pytest.raises(ConfigError, match="user: got 'carol'; allowed: alice, bob"):
            broker.client_config("carol")
        with pytest.raises(ConfigError, match="mechanism: got 'GSSAPI'; allowed: PLAIN, SCRAM-SHA-256"):
            broker.client_config(mechanism="GSSAPI")


def test_fixture_has_users_and_is_reset(fauxka_secured: Broker) -> None:
    assert write(fauxka_secured.client_config("admin", "SCRAM-SHA-256")) == 0
    assert [topic.name for topic in fauxka_secured.topics.list()] == [TOPIC]


def test_fixture_is_empty_in_the_next_test(fauxka_secured: Broker) -> None:
    assert fauxka_secured.topics.list() == []


def test_fixture_without_users_is_no_plain_broker() -> None:
    with pytest.raises(ConfigError, match="SASL_SSL needs users"):
        BrokerPool().broker_of(replace(Configuration.of({}, None), users=()))


def test_configuration_of_the_fixture_is_shown_without_passwords() -> None:
    configuration = replace(Configuration.of({}, None), users=tuple(USERS.items()))

    assert str(configuration) == "no keys, SASL_SSL and the users alice, bob"
    assert "secret" not in repr(configuration)


def test_rules_act_on_secured_connections(fauxka_secured: Broker) -> None:
    fauxka_secured.topics.create(TOPIC, partitions=1)
    with fauxka_secured.faults.lost_ack(topic=TOPIC):
        assert write(fauxka_secured.client_config()) == 0

    assert fauxka_secured.verdict(TOPIC).batches.appended_twice == 1
