"""SCRAM credentials beyond the answers compared with Kafka: logins, secrets, the data folder, resets and nodes."""

import hashlib
import importlib
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from fauxka.broker.metadata.metadata_fields import METADATA_FILE
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialUpsertion,
)
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker

from ...golden.sasl_client import SaslClient, ScramClient, plain
from ...serving_process import serving
from ..blocking_client import BlockingClient
from .secured_broker import secured_broker

# Its types are not complete.
confluent_admin = importlib.import_module("confluent_kafka.admin")
Mechanism = confluent_admin.ScramMechanism

SECONDS_MAX = 20
# A user of the options and its password (secured_broker), and a user of the API.
ALICE, SECRET = "alice", "secret"
BOB, BOBS_SECRET, NEW_SECRET = "bob", "bobs-own-password", "bobs-new-password"
NAMES = {"SCRAM-SHA-256": Mechanism.SCRAM_SHA_256, "SCRAM-SHA-512": Mechanism.SCRAM_SHA_512}
SHA_256, SHA_512 = NAMES
API_NAME = "AlterUserScramCredentials"
SALT = b"salt-of-the-test"
ITERATIONS = 4096


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path) as running:
        yield running


def admin_of(bootstrap: str, user: str = ALICE, password: str = SECRET, mechanism: str = "PLAIN") -> Any:
    return confluent_admin.AdminClient(
        {
            "bootstrap.servers": bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }
    )


def upsertion(user: str = BOB, password: str = BOBS_SECRET, mechanism: str = SHA_256) -> Any:
    info = confluent_admin.ScramCredentialInfo(NAMES[mechanism], ITERATIONS)
    return confluent_admin.UserScramCredentialUpsertion(user, info, password.encode(), SALT)


def deletion(user: str = BOB, mechanism: str = SHA_256) -> Any:
    return confluent_admin.UserScramCredentialDeletion(user, NAMES[mechanism])


def alter(bootstrap: str, *changes: Any) -> None:
    # The results of a client that is gone never come.
    admin = admin_of(bootstrap)
    for future in admin.alter_user_scram_credentials(list(changes)).values():
        future.result(SECONDS_MAX)


def described(bootstrap: str) -> dict[str, dict[str, int]]:
    """The iterations by user and mechanism."""
    admin = admin_of(bootstrap)
    found = admin.describe_user_scram_credentials().result(SECONDS_MAX)
    names = {mechanism: name for name, mechanism in NAMES.items()}
    return {
        user: {names[info.mechanism]: info.iterations for info in description.scram_credential_infos}
        for user, description in found.items()
    }


def logs_in(address: str, user: str = BOB, password: str = BOBS_SECRET, mechanism: str = SHA_256) -> bool:
    """Whether SCRAM with this password succeeds."""
    client = SaslClient({"SASL_PLAINTEXT": address}, "SASL_PLAINTEXT")
    with closing(client.connection):
        client.log_in_by_scram(ScramClient(mechanism, user, password))
        return bool(client.token)


def logs_in_by_plain(address: str, user: str, password: str) -> bool:
    client = SaslClient({"SASL_PLAINTEXT": address}, "SASL_PLAINTEXT")
    with closing(client.connection):
        client.handshake("PLAIN")
        client.authenticate(plain(user, password))
        return "SASL_AUTHENTICATION_FAILED" not in json.dumps(client.steps)


@pytest.mark.parametrize("mechanism", NAMES)
def test_admin_client_creates_a_user_that_then_logs_in(broker: Broker, mechanism: str) -> None:
    bootstrap = broker.bootstrap_servers

    alter(bootstrap, upsertion(mechanism=mechanism))

    assert described(bootstrap) == {BOB: {mechanism: ITERATIONS}}
    metadata = admin_of(bootstrap, BOB, BOBS_SECRET, mechanism).list_topics(timeout=SECONDS_MAX)
    assert len(metadata.brokers) == 1


def test_admin_client_deletes_a_user_that_then_cannot_log_in(broker: Broker) -> None:
    bootstrap = broker.bootstrap_servers
    alter(bootstrap, upsertion())
    before = logs_in(bootstrap)

    alter(bootstrap, deletion())

    assert (before, logs_in(bootstrap)) == (True, False)
    assert described(bootstrap) == {}


def test_errors_of_a_user_reach_the_admin_client(broker: Broker) -> None:
    admin = admin_of(broker.bootstrap_servers)
    futures = admin.alter_user_scram_credentials([deletion(), upsertion("carol")])

    futures["carol"].result(SECONDS_MAX)
    with pytest.raises(KafkaException) as raised:
        futures[BOB].result(SECONDS_MAX)
    assert raised.value.args[0].code() == KafkaError.RESOURCE_NOT_FOUND


def test_credential_of_the_api_has_precedence_over_the_password_of_the_options(broker: Broker) -> None:
    bootstrap = broker.bootstrap_servers
    before = logs_in(bootstrap, ALICE, SECRET)

    alter(bootstrap, upsertion(ALICE, NEW_SECRET))

    assert before
    assert not logs_in(bootstrap, ALICE, SECRET)
    assert logs_in(bootstrap, ALICE, NEW_SECRET)
    # By the other mechanisms the user has the password of the options.
    assert logs_in(bootstrap, ALICE, SECRET, SHA_512)
    assert logs_in_by_plain(bootstrap, ALICE, SECRET)


def test_user_of_the_options_has_its_password_again_when_the_credential_is_deleted(broker: Broker) -> None:
    bootstrap = broker.bootstrap_servers
    alter(bootstrap, upsertion(ALICE, NEW_SECRET))

    alter(bootstrap, deletion(ALICE))

    assert logs_in(bootstrap, ALICE, SECRET)
    assert not logs_in(bootstrap, ALICE, NEW_SECRET)


def test_user_of_the_api_cannot_log_in_by_plain(broker: Broker) -> None:
    alter(broker.bootstrap_servers, upsertion())

    assert not logs_in_by_plain(broker.bootstrap_servers, BOB, BOBS_SECRET)


def test_users_of_the_options_are_not_described(broker: Broker) -> None:
    assert described(broker.bootstrap_servers) == {}


def test_reset_deletes_credentials(broker: Broker) -> None:
    alter(broker.bootstrap_servers, upsertion())

    broker.reset("data")

    assert described(broker.bootstrap_servers) == {}
    assert not logs_in(broker.bootstrap_servers)


def test_restored_snapshot_has_its_credentials(broker: Broker) -> None:
    bootstrap = broker.bootstrap_servers
    alter(bootstrap, upsertion())
    snapshot = broker.snapshot()
    alter(bootstrap, upsertion(password=NEW_SECRET), upsertion("carol"))

    broker.restore(snapshot)

    assert set(described(bootstrap)) == {BOB}
    assert (logs_in(bootstrap), logs_in(bootstrap, password=NEW_SECRET)) == (True, False)


def test_credentials_are_kept_in_the_data_folder_without_the_password(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path / "data"), "--listener", "SASL_PLAINTEXT://127.0.0.1:0"]
    options += ["--user", f"{ALICE}:{SECRET}"]
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    with serving(tmp_path / "first", *options) as running:
        alter(running.bootstrap, upsertion(), upsertion("carol"))
        running.process.kill()
    with serving(tmp_path / "second", *options) as running:
        assert set(described(running.bootstrap)) == {BOB, "carol"}
        assert logs_in(running.bootstrap)
        alter(running.bootstrap, deletion())
        running.process.kill()
    with serving(tmp_path / "third", *options) as running:
        assert set(described(running.bootstrap)) == {"carol"}
        assert not logs_in(running.bootstrap)

    content = (tmp_path / "data" / METADATA_FILE).read_text()
    assert [each["user"] for each in json.loads(content)["security"]["scram_credentials"]] == ["carol"]
    assert BOBS_SECRET not in content


def test_each_node_logs_the_user_in(tmp_path: Path) -> None:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, nodes=3) as broker:
        alter(broker.bootstrap_servers, upsertion())

        assert [logs_in(address) for address in broker.bootstrap_servers.split(",")] == [True] * 3


def test_restarted_node_logs_the_user_in(tmp_path: Path) -> None:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, nodes=3) as broker:
        second = broker.bootstrap_servers.split(",")[1]
        broker.stop_node(2)
        alter(broker.bootstrap_servers, upsertion())

        broker.start_node(2)

        assert logs_in(second)


def test_node_without_the_controller_logs_in_by_the_credentials_that_it_knows(tmp_path: Path) -> None:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, nodes=3) as broker:
        first, second, _ = broker.bootstrap_servers.split(",")
        alter(first, upsertion())
        broker.isolate(2, ["controller"])

        alter(first, upsertion(password=NEW_SECRET))

        assert (logs_in(first), logs_in(second)) == (False, True)
        broker.rejoin(2)
        assert (logs_in(second), logs_in(second, password=NEW_SECRET)) == (False, True)


def salted_bytes() -> bytes:
    return hashlib.pbkdf2_hmac("sha256", BOBS_SECRET.encode(), SALT, ITERATIONS)


def forms_of(secret: bytes) -> list[str]:
    """How bytes could appear in a text."""
    return [repr(secret)[2:-1], secret.hex(), secret.decode("latin-1")]


def send_alteration(bootstrap: str, iterations: int = ITERATIONS) -> AlterUserScramCredentialsResponse:
    request = AlterUserScramCredentialsRequest(
        upsertions=[
            ScramCredentialUpsertion(
                name=BOB, mechanism=1, iterations=iterations, salt=SALT, salted_password=salted_bytes()
            )
        ]
    )
    with BlockingClient(bootstrap) as client:
        return client.send(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, request, AlterUserScramCredentialsResponse.read)


def test_secrets_are_in_no_view_of_a_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Broker() as broker, ThreadPoolExecutor() as pool:
        rule = broker.faults.held(api=API_NAME)
        sent = pool.submit(send_alteration, broker.bootstrap_servers)
        rule.await_hits(1)
        held = repr(broker.held.list())
        broker.held.release()
        response = sent.result(SECONDS_MAX)
        refused = send_alteration_without_rule(broker, iterations=1)
        entries = broker.journal.entries(api=API_NAME)
        bodies = broker.ask(lambda control: [record.body for _, record in control.journal.records()])
        credentials = broker.call(lambda: repr(broker.cluster.image.security.credentials))

    assert response.results[0].error_code == 0
    assert refused.results[0].error_message == "Too few iterations"
    assert len(entries) == 2
    assert API_NAME in held
    shown = "\n".join(
        [held, repr(entries), repr(bodies), credentials, repr(refused.results[0].error_message), caplog.text]
    )
    for secret in (SALT, salted_bytes()):
        assert not [form for form in forms_of(secret) if form in shown]


def send_alteration_without_rule(broker: Broker, iterations: int) -> AlterUserScramCredentialsResponse:
    broker.faults.clear()
    return send_alteration(broker.bootstrap_servers, iterations)
