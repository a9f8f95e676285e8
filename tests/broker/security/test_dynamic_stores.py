"""Certificates that IncrementalAlterConfigs rotates: restarts, resets, several nodes, faults and secrets.

What each change returns is in tests/golden/stores-4.3.0.jsonl.
"""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest

from fauxka.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsResponse
from fauxka.testing import Broker

from ...golden.capture_configs import BROKER, SET, changing
from ...golden.store_brokers import CERTIFICATES, KEYSTORE, PASSWORD, config_in, write_stores
from ...wire.message_client import MessageClient
from ...wire.wire_connection import WireConnection, tls_without_checks

SECONDS_MAX = 20
LOCATION = f"{KEYSTORE}.location"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_stores(tmp_path)
    return tmp_path


def broker_in(folder: Path, data_dir: Path | None = None, nodes: int = 1, **config: str) -> Broker:
    keys = {name: text for name, text in config_in(folder).items() if name.startswith("listener.name.ssl.")}
    own = {name.replace("_", "."): text for name, text in config.items()}
    return Broker({**keys, **own}, security_protocol="SSL", data_dir=data_dir, nodes=nodes)


def alter(address: str, texts: Mapping[str, str], node: int = 1) -> str | None:
    """Set configs of the broker, and return the error message. address: of that broker."""
    with MessageClient(address) as connection:
        connection.wire.start_tls(tls_without_checks())
        changes = [(name, SET, text) for name, text in texts.items()]
        response = connection.call(changing((BROKER, str(node), changes)), 1)
    assert isinstance(response, IncrementalAlterConfigsResponse)
    return response.responses[0].error_message


def presented(folder: Path, address: str) -> str:
    with WireConnection(address) as connection:
        certificate = connection.start_tls(tls_without_checks()).getpeercert(binary_form=True)
    assert certificate is not None
    pem = ssl.DER_cert_to_PEM_cert(certificate).strip()
    found = [name for name in CERTIFICATES if pem in (folder / f"{name}.pem").read_text()]
    return found[0] if found else "another"


def test_rotated_certificate_is_kept_over_a_restart(folder: Path) -> None:
    with broker_in(folder, folder / "data") as broker:
        alter(broker.bootstrap_servers, {LOCATION: str(folder / "second.p12")})

    with broker_in(folder, folder / "data") as broker:
        assert presented(folder, broker.bootstrap_servers) == "second"


def test_broker_starts_with_its_static_certificate_if_the_rotated_one_was_removed(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with broker_in(folder, folder / "data") as broker:
        alter(broker.bootstrap_servers, {LOCATION: str(folder / "second.p12")})
    (folder / "second.p12").unlink()

    with broker_in(folder, folder / "data") as broker:
        assert presented(folder, broker.bootstrap_servers) == "first"
    assert "listener.name.ssl.* could not be applied" in caplog.text
    assert PASSWORD not in caplog.text


def test_reset_of_data_brings_the_static_certificate_back(folder: Path) -> None:
    with broker_in(folder) as broker:
        alter(broker.bootstrap_servers, {LOCATION: str(folder / "second.p12")})

        broker.reset()

        assert presented(folder, broker.bootstrap_servers) == "first"


def test_change_of_one_node_leaves_the_certificate_of_the_other(folder: Path) -> None:
    with broker_in(folder, nodes=2) as broker:
        first, second = broker.bootstrap_servers.split(",")

        alter(second, {LOCATION: str(folder / "second.p12")}, node=2)

        assert presented(folder, first) == "first"
        assert presented(folder, second) == "second"


def test_certificates_of_the_admin_api_are_those_that_are_presented(folder: Path) -> None:
    with broker_in(folder) as broker:
        (before,) = broker.certificates.list()
        alter(broker.bootstrap_servers, {LOCATION: str(folder / "second.p12")})

        (after,) = broker.certificates.list()

    assert (before.kind, after.kind) == ("configured", "configured")
    assert before.sha256 != after.sha256


def test_injected_certificate_is_presented_until_it_ends_and_the_rotated_one_after_it(tmp_path: Path) -> None:
    config = {"ssl.allow.dn.changes": "true", "ssl.allow.san.changes": "true"}
    stores = tmp_path / "stores"
    stores.mkdir()
    write_stores(stores)
    with Broker(config, security_protocol="SSL") as broker:
        broker.certificates.present("expired")
        alter(broker.bootstrap_servers, {LOCATION: str(stores / "second.pem"), f"{KEYSTORE}.type": "PEM"})
        assert presented(stores, broker.bootstrap_servers) == "another"

        broker.certificates.present("configured")

        assert presented(stores, broker.bootstrap_servers) == "second"


def test_another_subject_is_accepted_where_it_is_allowed(folder: Path) -> None:
    with broker_in(folder, ssl_allow_dn_changes="true") as broker:
        alter(broker.bootstrap_servers, {LOCATION: str(folder / "renamed.p12")})

        assert presented(folder, broker.bootstrap_servers) == "renamed"


def test_named_pipe_is_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe.p12")
    with broker_in(folder) as broker:
        message = alter(broker.bootstrap_servers, {LOCATION: str(folder / "pipe.p12")})

        assert "Failed to load SSL keystore" in str(message)
        assert presented(folder, broker.bootstrap_servers) == "first"


def test_password_is_not_in_the_journal(folder: Path) -> None:
    with broker_in(folder) as broker:
        alter(broker.bootstrap_servers, {f"{KEYSTORE}.password": PASSWORD})

        entries = broker.journal.entries(api="IncrementalAlterConfigs")

    assert len(entries) == 1
    assert PASSWORD not in str(entries)
