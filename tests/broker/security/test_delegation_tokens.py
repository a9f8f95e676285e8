"""Delegation tokens beyond the answers compared with Kafka: times, secrets, the data folder, resets and nodes."""

import json
import logging
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from fauxka.broker.metadata.metadata_fields import METADATA_FILE
from fauxka.broker.network.sasl_credentials import MADE_MAX, SaslCredentials
from fauxka.broker.security.sasl.scram import ScramHash
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker

from ...serving_process import serving
from .secured_broker import secured_broker
from .token_client import TokenClient, begin_log_in, logs_in

KEY = "delegation.token.secret.key"
SECRET_KEY = "key-of-the-test"
EXPIRY_MS = 60_000
CHECK_MS = 10_000
CONFIG = {
    KEY: SECRET_KEY,
    "delegation.token.expiry.time.ms": str(EXPIRY_MS),
    "delegation.token.expiry.check.interval.ms": str(CHECK_MS),
}
NOT_FOUND, EXPIRED = 62, 66
SECONDS_MAX = 20


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, CONFIG) as running:
        yield running


@pytest.fixture
def client(broker: Broker) -> Iterator[TokenClient]:
    client = TokenClient(broker.bootstrap_servers)
    with closing(client.connection):
        yield client


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_client_logs_in_with_the_token_id_and_the_hmac(broker: Broker, client: TokenClient, mechanism: str) -> None:
    token = client.create()

    assert logs_in(broker.bootstrap_servers, token, mechanism)


def test_session_ends_with_the_token_on_the_clock_of_the_broker(broker: Broker, client: TokenClient) -> None:
    session = begin_log_in(broker.bootstrap_servers, client.create())
    with closing(session.connection):
        broker.clock.advance(EXPIRY_MS - 5_000)
        session.metadata()
        broker.clock.advance(6_000)
        session.metadata()

    before, after = (step["answer"] for step in session.steps[-2:] if isinstance(step, dict))
    assert before == {"listeners": ["SASL_PLAINTEXT"]}
    assert after == "CLOSED"


def test_expired_token_is_removed_at_the_next_check(broker: Broker, client: TokenClient) -> None:
    token = client.create()

    broker.clock.advance(EXPIRY_MS - 1_000)
    kept = client.described()
    ended = broker.clock.advance(CHECK_MS + 1_000).ended

    assert (kept, client.described()) == ([token.token_id], [])
    assert (ended.tokens.count, ended.tokens.names) == (1, [token.token_id])
    assert client.renew(token).integer("error_code") == NOT_FOUND
    assert not logs_in(broker.bootstrap_servers, token)


def test_token_between_its_expiry_and_the_check_cannot_be_renewed(broker: Broker, client: TokenClient) -> None:
    token = client.create()
    client.expire(token, 1_000)

    broker.clock.advance(2_000)

    assert client.renew(token).integer("error_code") == EXPIRED


def test_renewed_token_outlives_its_first_expiry(broker: Broker, client: TokenClient) -> None:
    token = client.create()

    broker.clock.advance(EXPIRY_MS // 2)
    renewed = client.renew(token)
    broker.clock.advance(EXPIRY_MS // 2 + CHECK_MS)

    assert renewed.integer("expiry_timestamp_ms") > token.expiry_ms
    assert client.described() == [token.token_id]
    assert logs_in(broker.bootstrap_servers, token)


def test_reset_deletes_tokens(broker: Broker) -> None:
    client = TokenClient(broker.bootstrap_servers)
    with closing(client.connection):
        token = client.create()

    broker.reset("data")

    assert not logs_in(broker.bootstrap_servers, token)


def test_restored_snapshot_has_its_tokens(broker: Broker) -> None:
    client = TokenClient(broker.bootstrap_servers)
    with closing(client.connection):
        kept = client.create()
        snapshot = broker.snapshot()
        later = client.create()
        client.expire(kept)

    broker.restore(snapshot)

    address = broker.bootstrap_servers
    assert (logs_in(address, kept), logs_in(address, later)) == (True, False)


def test_tokens_are_kept_in_the_data_folder_without_the_hmac(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path / "data"), "--listener", "SASL_PLAINTEXT://127.0.0.1:0"]
    options += ["--user", "alice:secret", "-c", f"{KEY}={SECRET_KEY}"]
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    with serving(tmp_path / "first", *options) as running:
        client = TokenClient(running.bootstrap)
        token, removed = client.create(renewers=2), client.create()
        client.connection.close()
        running.process.kill()
    with serving(tmp_path / "second", *options) as running:
        client = TokenClient(running.bootstrap)
        described = client.described()
        client.expire(removed)
        can_log_in = logs_in(running.bootstrap, token)
        client.connection.close()
        running.process.kill()
    with serving(tmp_path / "third", *options) as running:
        assert (logs_in(running.bootstrap, token), logs_in(running.bootstrap, removed)) == (True, False)

    assert (described, can_log_in) == ([token.token_id, removed.token_id], True)
    content = (tmp_path / "data" / METADATA_FILE).read_text()
    (stored,) = json.loads(content)["security"]["delegation_tokens"]
    assert stored["token_id"] == token.token_id
    assert [each["name"] for each in stored["renewers"]] == ["renewer-0", "renewer-1"]
    assert not [form for form in forms_of(token.hmac) if form in content]


def test_file_of_a_cluster_without_tokens_has_no_field_for_them(tmp_path: Path) -> None:
    authorizer = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    with Broker(authorizer, data_dir=tmp_path) as broker:
        broker.acls.create(principal="User:alice", operation="READ", resource_type="TOPIC", name="t")

    security = json.loads((tmp_path / METADATA_FILE).read_text())["security"]
    assert list(security) == ["acls", "scram_credentials"]


def test_each_node_logs_in_with_the_token(tmp_path: Path) -> None:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, CONFIG, nodes=3) as broker:
        addresses = broker.bootstrap_servers.split(",")
        client = TokenClient(addresses[1])
        with closing(client.connection):
            token = client.create()

        assert [logs_in(address, token) for address in addresses] == [True] * 3


def test_node_without_the_controller_has_the_tokens_of_its_last_image(tmp_path: Path) -> None:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, CONFIG, nodes=3) as broker:
        first, second, _ = broker.bootstrap_servers.split(",")
        client = TokenClient(first)
        with closing(client.connection):
            token = client.create()
            broker.isolate(2, ["controller"])
            client.expire(token)

        assert (logs_in(first, token), logs_in(second, token)) == (False, True)
        broker.rejoin(2)
        assert not logs_in(second, token)


def test_request_at_a_node_without_the_controller_waits_for_it(tmp_path: Path) -> None:
    with (
        secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, CONFIG, nodes=3) as broker,
        ThreadPoolExecutor() as pool,
    ):
        first, second, _ = broker.bootstrap_servers.split(",")
        client = TokenClient(second)
        broker.isolate(2, ["controller"])
        created = pool.submit(client.create)
        while not broker.call(lambda: broker.cluster.nodes[1].waiting_for_controller):
            assert not created.done(), created.result()
        broker.rejoin(2)
        token = created.result(SECONDS_MAX)
        client.connection.close()

        assert logs_in(first, token)


def test_secrets_are_in_no_view_of_a_request(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = TokenClient(broker.bootstrap_servers)
    with closing(client.connection), ThreadPoolExecutor() as pool:
        token = client.create()
        rule = broker.faults.held(api="RenewDelegationToken")
        sent = pool.submit(client.renew, token)
        rule.await_hits(1)
        held = repr(broker.held.list())
        broker.held.release()
        renewed = sent.result(SECONDS_MAX)
        logs_in(broker.bootstrap_servers, token)
        client.described()
        client.expire(token)
    entries = broker.journal.entries()
    bodies = broker.ask(lambda control: [record.body for _, record in control.journal.records()])
    image = broker.call(lambda: repr(broker.cluster.image.security.tokens))

    assert renewed.integer("error_code") == 0
    assert {"CreateDelegationToken", "ExpireDelegationToken"} <= {entry.api for entry in entries}
    shown = "\n".join([held, repr(entries), repr(bodies), image, caplog.text])
    for secret in (token.hmac, SECRET_KEY.encode()):
        assert not [form for form in forms_of(secret) if form in shown]


def test_secret_key_and_hmac_are_in_no_output(tmp_path: Path) -> None:
    options = ["--listener", "SASL_PLAINTEXT://127.0.0.1:0", "--user", "alice:secret", "-c", f"{KEY}={SECRET_KEY}"]
    with serving(tmp_path, "--log-level", "debug", *options) as running:
        client = TokenClient(running.bootstrap)
        with closing(client.connection):
            token = client.create()
            client.renew(token)
        logs_in(running.bootstrap, token)
        ready = running.ready_file.read_text()
        running.process.terminate()
        output, log = running.process.communicate()

    assert "SASL_PLAINTEXT" in output
    for secret in (token.hmac, SECRET_KEY.encode()):
        assert not [form for form in forms_of(secret) if form in output + log + ready]


def test_credentials_of_the_tokens_that_were_used_last_are_kept(broker: Broker, client: TokenClient) -> None:
    token_id = client.create().token_id

    def made(count: int) -> list[bool]:
        credentials = SaslCredentials(broker.cluster.node)
        first = credentials.find_token(ScramHash.SHA_256, token_id)
        tokens = broker.cluster.image.security.tokens
        for number in range(count):
            tokens[str(number)] = tokens[token_id]
            credentials.find_token(ScramHash.SHA_256, str(number))
        return [credentials.find_token(ScramHash.SHA_256, token_id) == first]

    assert broker.call(lambda: made(MADE_MAX - 1) + made(MADE_MAX)) == [True, False]


def test_another_secret_key_makes_the_tokens_of_the_data_folder_useless(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path / "data"), "--listener", "SASL_PLAINTEXT://127.0.0.1:0"]
    options += ["--user", "alice:secret", "-c"]
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    with serving(tmp_path / "first", *options, f"{KEY}={SECRET_KEY}") as running:
        client = TokenClient(running.bootstrap)
        token = client.create()
        client.connection.close()
        running.process.kill()
    with serving(tmp_path / "second", *options, f"{KEY}=another") as running:
        client = TokenClient(running.bootstrap)
        renewed, described = client.renew(token), client.described()
        client.connection.close()

        assert (renewed.integer("error_code"), described) == (NOT_FOUND, [token.token_id])
        assert not logs_in(running.bootstrap, token)


def forms_of(secret: bytes) -> list[str]:
    """How bytes could appear in a text."""
    return [repr(secret)[2:-1], secret.hex(), secret.decode("latin-1"), b64encode(secret).decode()]
