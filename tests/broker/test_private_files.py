"""The permissions of the files that a broker writes: a file with a secret is readable by its user alone."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.metadata_files import METADATA_COPY
from fauxka.broker.metadata.metadata_fields import METADATA_FILE
from fauxka.broker.security.oauth.token_file import TOKEN_FILE
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.testing import Broker

from ..golden.capture_configs import BROKER, SET, changing
from ..golden.store_brokers import KEYSTORE, PASSWORD, config_in, write_stores
from ..wire.message_client import MessageClient
from ..wire.wire_connection import tls_without_checks

USER_PASSWORD = "password-of-alice"
# The key store's password is a dynamic config; a private key in a file has this line.
SECRETS = re.compile(rb"store-secret|password-of-alice|PRIVATE KEY-----")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes_in(folder: Path) -> dict[str, int]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in files}


def test_files_with_secrets_are_private(tmp_path: Path) -> None:
    stores, written = tmp_path / "stores", tmp_path / "written"
    stores.mkdir()
    write_stores(stores)
    config = {name: text for name, text in config_in(stores).items() if name.startswith("listener.name.ssl.")}
    with Broker(config, security_protocol="SSL", data_dir=written / "data") as broker:
        change_password_of_the_store(broker.bootstrap_servers, stores)
    users = {"alice": USER_PASSWORD}
    with Broker(
        security_protocol="SASL_SSL", users=users, data_dir=written / "users", tls_dir=written / "tls"
    ) as broker:
        assert broker.cluster.token_issuer is not None
        broker.call(broker.cluster.token_issuer.make_key)
        broker.users.set_password("alice", USER_PASSWORD)
        broker.write_report(written / "report.html")
        broker.topics.create("orders")
        broker.export(written / "export")

    modes = modes_in(written)
    with_secrets = {name for name in modes if SECRETS.search((written / name).read_bytes())}
    assert {f"data/{METADATA_FILE}", f"data/{METADATA_COPY}", "tls/ca-key.pem", "tls/server.pem"} <= with_secrets
    assert {name: oct(modes[name]) for name in with_secrets if modes[name] != 0o600} == {}
    assert modes[f"users/{TOKEN_FILE}"] == modes["tls/client.p12"] == 0o600


def change_password_of_the_store(address: str, stores: Path) -> None:
    with MessageClient(address) as connection:
        connection.wire.start_tls(tls_without_checks())
        changes = [(f"{KEYSTORE}.location", SET, str(stores / "second.p12")), (f"{KEYSTORE}.password", SET, PASSWORD)]
        connection.call(changing((BROKER, "1", changes)), 1)


def test_metadata_of_an_older_version_is_made_private_at_start_up(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path):
        pass
    for name in (METADATA_FILE, METADATA_COPY):
        (tmp_path / name).chmod(0o644)

    with Broker(data_dir=tmp_path):
        modes = modes_in(tmp_path)

    assert (modes[METADATA_FILE], modes[METADATA_COPY]) == (0o600, 0o600)


def test_file_that_a_crash_left_does_not_give_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "secret.tmp").write_bytes(b"half")
    files = OsFileSystem(tmp_path, private_files=["secret"])

    files.replace("secret", b"whole")
    files.replace("other", b"whole")

    assert modes_in(tmp_path) == {"secret": 0o600, "other": 0o644}
