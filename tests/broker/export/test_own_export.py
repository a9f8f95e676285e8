"""An export by the broker itself: it needs no listener without TLS and SASL, and no ACL."""

import socket
from pathlib import Path

import pytest

from fauxka.broker.network.internal_connection import connected_pair
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.testing import Broker

ACLS = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:admin"}


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_broker_with_secured_listeners_only_is_exported(tmp_path: Path, protocol: str) -> None:
    users = {"alice": "secret"} if protocol.startswith("SASL") else None
    with Broker({"ssl.client.auth": "required"}, security_protocol=protocol, users=users) as broker:
        broker.topics.create("orders", partitions=2)

        said = broker.export(tmp_path / "export").said

    assert said[0].startswith("orders: partitions 2")
    assert (tmp_path / "export" / "orders-1" / "partition.metadata").exists()


def test_each_node_is_exported_by_its_own_connection(tmp_path: Path) -> None:
    with Broker(security_protocol="SSL", nodes=3) as broker:
        broker.topics.create("orders", partitions=6)

        assert broker.export(tmp_path / "export").said[0].startswith("orders: partitions 6")


def test_acls_deny_no_topic_of_an_export_by_a_super_user(tmp_path: Path) -> None:
    with Broker(ACLS) as broker:
        broker.topics.create("orders")

        assert broker.export(tmp_path / "export").said[0].startswith("orders: partitions 1")


def test_listener_on_a_wildcard_is_exported(tmp_path: Path) -> None:
    with Broker(listeners=[ListenerConfig(host="::", port=0)]) as broker:
        broker.topics.create("orders")

        assert broker.export(tmp_path / "export").said[0].startswith("orders: partitions 1")


def test_two_ends_are_connected_to_each_other_only() -> None:
    client, server = connected_pair()

    with client, server:
        client.sendall(b"x")
        assert server.recv(1) == b"x"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(server.getsockname())
