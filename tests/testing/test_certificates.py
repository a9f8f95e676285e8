"""Certificates that change while clients are connected, in process, in a thread and over HTTP."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Producer

from fauxka.broker.security.tls.listener_tls import CertificateKind
from fauxka.testing import CallError, InvalidValueError
from fauxka.testing.remote_broker import RemoteBroker

from ..serving_process import serving
from .transports import Broker

SECONDS_MAX = 20
DEFECTS = {
    "expired": "certificate has expired",
    "not_yet_valid": "certificate is not yet valid",
    "wrong_host": "IP address mismatch",
    "unknown_authority": "unable to get local issuer certificate",
}


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(security_protocol="SSL") as started:
        yield started


def context_of(broker: Broker) -> ssl.SSLContext:
    assert broker.tls_dir is not None
    return ssl.create_default_context(cafile=broker.tls_dir / "ca.pem")


def handshake(address: str, context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> ssl.SSLSocket:
    host, _, port = address.rpartition(":")
    plain = socket.create_connection((host, int(port)), SECONDS_MAX)
    return context.wrap_socket(plain, server_hostname=host, session=session)


def serial_of(address: str, context: ssl.SSLContext) -> str:
    with handshake(address, context) as client:
        certificate = client.getpeercert()
    assert certificate is not None
    return str(certificate["serialNumber"])


def failure_of(address: str, context: ssl.SSLContext) -> str:
    with pytest.raises(ssl.SSLCertVerificationError) as raised:
        handshake(address, context)
    return str(raised.value.verify_message)


@pytest.mark.parametrize("kind", DEFECTS)
def test_new_handshake_gets_the_certificate_with_its_defect(broker: Broker, kind: CertificateKind) -> None:
    (presented,) = broker.certificates.present(kind)

    assert DEFECTS[kind] in failure_of(broker.bootstrap_servers, context_of(broker))
    assert (presented.kind, presented.listener, presented.node) == (kind, "SSL", 1)


def test_new_certificate_has_the_same_authority_and_another_key(broker: Broker) -> None:
    before = serial_of(broker.bootstrap_servers, context_of(broker))

    broker.certificates.present("new")
    rotated = serial_of(broker.bootstrap_servers, context_of(broker))
    broker.certificates.present("configured")

    assert rotated != before
    assert serial_of(broker.bootstrap_servers, context_of(broker)) == before


def test_connected_client_goes_on_with_the_certificate_of_its_handshake(broker: Broker) -> None:
    producer = Producer(broker.client_config())
    failed: list[object] = []

    def write() -> int:
        producer.produce("orders", b"v", on_delivery=lambda error, _: failed.append(error) if error else None)
        return producer.flush(SECONDS_MAX)

    assert write() == 0
    broker.certificates.present("expired")

    assert write() == 0
    assert failed == []


def test_session_from_before_the_change_is_not_resumed(broker: Broker) -> None:
    context = context_of(broker)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with handshake(broker.bootstrap_servers, context) as client:
        session = client.session
    with handshake(broker.bootstrap_servers, context, session) as client:
        assert client.session_reused

    broker.certificates.present("expired")

    with pytest.raises(ssl.SSLCertVerificationError, match="certificate has expired"):
        handshake(broker.bootstrap_servers, context, session)


def test_reset_of_the_faults_brings_the_configured_certificate_back(broker: Broker) -> None:
    broker.certificates.present("unknown_authority")

    broker.reset("faults")

    assert [each.kind for each in broker.certificates.list()] == ["configured"]
    assert serial_of(broker.bootstrap_servers, context_of(broker))


def test_one_node_has_another_certificate_also_after_its_restart() -> None:
    with Broker(nodes=3, security_protocol="SSL") as broker:
        first, second, third = broker.bootstrap_servers.split(",")
        broker.certificates.present("expired", node=2)
        broker.stop_node(2)
        broker.start_node(2)
        context = context_of(broker)

        assert serial_of(first, context) == serial_of(third, context)
        assert DEFECTS["expired"] in failure_of(second, context)
        assert [each.kind for each in broker.certificates.list()] == ["configured", "expired", "configured"]


def test_certificate_is_described(broker: Broker) -> None:
    (configured,) = broker.certificates.list()
    (expired,) = broker.certificates.present("expired")

    assert {"localhost", "127.0.0.1", "::1"} <= set(configured.hosts)
    assert configured.sha256 != expired.sha256
    assert expired.not_after_ms - expired.not_before_ms == 24 * 60 * 60 * 1000


def test_remote_broker_changes_one_of_two_listeners(tmp_path: Path) -> None:
    options = ("--listener", "IN://127.0.0.1:0", "--listener", "OUT://127.0.0.1:0", "--admin-port", "0")
    protocols = ("-c", "listener.security.protocol.map=IN:SSL,OUT:SSL", "--tls-dir", str(tmp_path / "tls"))
    with serving(tmp_path, *options, *protocols) as running:
        assert running.admin is not None
        broker = RemoteBroker(running.admin)
        context = ssl.create_default_context(cafile=tmp_path / "tls" / "ca.pem")

        (changed,) = broker.certificates.present("wrong_host", listener="IN")

        assert changed.hosts == ["wrong-host.invalid"]
        assert [(each.listener, each.kind) for each in broker.certificates.list()] == [
            ("IN", "wrong_host"),
            ("OUT", "configured"),
        ]
        assert DEFECTS["wrong_host"] in failure_of(running.bootstrap, context)
        with pytest.raises(CallError, match="there is no listener MIDDLE with TLS"):
            broker.certificates.present("new", listener="MIDDLE")


def test_listener_with_a_key_store_of_its_own_keeps_its_certificate(tmp_path: Path) -> None:
    with Broker(security_protocol="SSL", tls_dir=tmp_path):
        pass
    with Broker(
        {"ssl.keystore.location": str(tmp_path / "server.pem"), "ssl.keystore.type": "PEM"}, security_protocol="SSL"
    ) as broker:
        assert [each.kind for each in broker.certificates.list()] == ["configured"]
        with pytest.raises(CallError, match=r"the listener SSL has a certificate of its own \(ssl\.keystore\.\*\)"):
            broker.certificates.present("new")


def test_folder_without_the_key_of_the_authority_issues_no_certificate(tmp_path: Path) -> None:
    with Broker(security_protocol="SSL", tls_dir=tmp_path):
        (tmp_path / "ca-key.pem").unlink()
    with Broker(security_protocol="SSL", tls_dir=tmp_path) as broker:
        with pytest.raises(CallError, match=r"no certificate can be issued with .*ca-key\.pem: No such file") as raised:
            broker.certificates.present("new")
        assert raised.value.status == 409
        assert broker.certificates.present("unknown_authority")


def test_broker_without_tls_has_no_certificates() -> None:
    with Broker() as broker:
        assert broker.certificates.list() == []
        with pytest.raises(CallError, match="no listener has TLS"):
            broker.certificates.present("new")


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [({"kind": "old"}, "kind", "old"), ({"kind": "new", "node": -1}, "node", -1)],
)
def test_wrong_value_is_named(broker: Broker, arguments: dict[str, object], field: str, value: object) -> None:
    with pytest.raises(InvalidValueError) as raised:
        broker.certificates.present(**cast("dict[str, CertificateKind]", arguments))  # type: ignore[arg-type]

    assert (raised.value.field, raised.value.value) == (field, value)
