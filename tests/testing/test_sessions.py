"""Sessions, users and tokens: in process, over HTTP, and what a client learns when they end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import KafkaError, Producer

from fauxka.scenarios.clients.login import OAUTHBEARER, Login
from fauxka.testing import CallError, ConfigError, InvalidValueError, RemoteBroker

from ..broker.security.login_client import LoginClient
from ..golden.sasl_client import plain
from ..serving_process import serving
from .transports import Broker

SECONDS_MAX = 20
TOPIC = "orders"
USERS = {"alice": "alice-secret", "bob": "bob-secret"}
ALICE, BOB = "User:alice", "User:bob"


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(security_protocol="SASL_PLAINTEXT", users=USERS) as running:
        yield running


def login(connection: LoginClient, user: str = "alice", password: str | None = None) -> int:
    """Authenticate by PLAIN and return the error code."""
    connection.handshake()
    answer = connection.authenticate(plain(user, USERS[user] if password is None else password))
    return answer.error_code


def token_of(url: str, user: str = "alice") -> bytes:
    """Return the first message of OAUTHBEARER with a token of the endpoint."""
    return Login(OAUTHBEARER, user, USERS[user], url).first_message()


def refusal_of(connection: LoginClient, token: bytes) -> bytes:
    """Authenticate by OAUTHBEARER and return the JSON that refuses the token; no bytes for an accepted one."""
    connection.handshake(OAUTHBEARER)
    answer = connection.authenticate(token)
    assert answer.error_code == 0
    return answer.auth_bytes


def test_sessions_have_the_user_and_the_times(broker: Broker) -> None:
    with LoginClient(broker) as of_alice, LoginClient(broker) as of_bob, LoginClient(broker):
        before_ms = broker.clock.now_ms
        login(of_alice)
        refused = login(of_bob, "bob", "wrong")

        (session,) = broker.sessions.list()

    assert refused != 0
    assert (session.principal, session.mechanism, session.listener) == (ALICE, "PLAIN", "SASL_PLAINTEXT")
    assert (session.node, session.client_host, session.expires_at_ms) == (1, "127.0.0.1", None)
    assert before_ms <= session.authenticated_at_ms <= before_ms + SECONDS_MAX * 1000


def test_ended_session_closes_the_connection_of_the_user_alone(broker: Broker) -> None:
    with LoginClient(broker) as of_alice, LoginClient(broker) as of_bob:
        login(of_alice)
        login(of_bob, "bob")

        ended = broker.sessions.end(principal=ALICE)

        assert [session.principal for session in ended] == [ALICE]
        assert of_alice.wire.is_closed()
        assert of_bob.is_served()
        assert [session.principal for session in broker.sessions.list()] == [BOB]


def test_expired_session_ends_with_the_next_request(broker: Broker) -> None:
    with LoginClient(broker) as of_alice, LoginClient(broker) as of_bob:
        login(of_alice)
        login(of_bob, "bob")

        broker.sessions.expire(principal=ALICE)
        (session,) = broker.sessions.list(principal=ALICE)

        assert session.expires_at_ms is not None and session.expires_at_ms < broker.clock.now_ms
        assert not of_alice.is_served()
        assert of_bob.is_served()


def test_client_of_an_expired_session_may_authenticate_again(broker: Broker) -> None:
    with LoginClient(broker) as connection:
        login(connection)
        broker.sessions.expire()

        assert login(connection) == 0
        assert connection.is_served()


def test_librdkafka_connects_again_after_the_end_of_its_session(broker: Broker) -> None:
    producer = Producer(broker.client_config("alice"))
    assert delivers(producer)

    assert broker.sessions.end(principal=ALICE) != []

    assert delivers(producer)


def delivers(producer: Producer) -> bool:
    """Return whether a record is delivered."""
    outcomes: list[KafkaError | None] = []
    producer.produce(TOPIC, b"v", on_delivery=lambda error, _: outcomes.append(error))
    assert producer.flush(SECONDS_MAX) == 0
    return outcomes[0] is None


def test_changed_password_is_asked_for_by_each_mechanism(broker: Broker) -> None:
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", OAUTHBEARER):
        before = broker.client_config("alice", mechanism)
        broker.users.set_password("alice", f"new-{mechanism}")

        assert not delivers(producer_of(before))
        assert delivers(producer_of(broker.client_config("alice", mechanism)))


def producer_of(config: dict[str, str]) -> Producer:
    return Producer({**config, "message.timeout.ms": 3000, "log_level": 0})


def test_new_user_authenticates_and_a_removed_one_does_not(broker: Broker) -> None:
    broker.users.set_password("carol", "carol-secret")
    broker.users.remove("bob")

    with LoginClient(broker) as of_carol, LoginClient(broker) as of_bob:
        of_carol.handshake()
        answer = of_carol.authenticate(plain("carol", "carol-secret"))
        assert answer.error_code == 0
        assert login(of_bob, "bob") != 0
    assert broker.users.list() == ["alice", "carol"]


def test_reset_has_the_users_of_the_start_again(broker: Broker) -> None:
    broker.users.remove("bob")
    broker.users.set_password("alice", "other")
    broker.users.set_password("carol", "carol-secret")

    broker.reset("data")

    assert broker.users.list() == ["alice", "bob"]
    with LoginClient(broker) as connection:
        assert login(connection) == 0


def test_revoked_tokens_are_refused_and_later_ones_accepted(broker: Broker) -> None:
    url = broker.token_endpoint
    revoked, of_bob = token_of(url), token_of(url, "bob")
    with (
        LoginClient(broker) as served,
        LoginClient(broker) as refused,
        LoginClient(broker) as other,
        LoginClient(broker) as later,
    ):
        assert refusal_of(served, revoked) == b""

        broker.users.revoke_tokens("alice")

        assert refusal_of(refused, revoked) == b'{"status":"invalid_token"}'
        assert refusal_of(other, of_bob) == b""
        assert refusal_of(later, token_of(url)) == b""
        assert served.is_served()


def test_revoked_token_is_refused_at_the_next_authentication_of_a_session(broker: Broker) -> None:
    token = token_of(broker.token_endpoint)
    with LoginClient(broker) as connection:
        refusal_of(connection, token)

        broker.users.revoke_tokens("alice")

        assert refusal_of(connection, token) == b'{"status":"invalid_token"}'


def test_expired_tokens_end_their_sessions(broker: Broker) -> None:
    token = token_of(broker.token_endpoint)
    with LoginClient(broker) as by_token, LoginClient(broker) as by_password:
        refusal_of(by_token, token)
        login(by_password)

        (expired,) = broker.users.expire_tokens("alice")

        assert (expired.principal, expired.mechanism) == (ALICE, OAUTHBEARER)
        assert not by_token.is_served()
        assert by_password.is_served()


def test_tokens_of_a_removed_user_are_refused(broker: Broker) -> None:
    token = token_of(broker.token_endpoint)

    broker.users.remove("alice")

    with LoginClient(broker) as connection:
        assert refusal_of(connection, token) == b'{"status":"invalid_token"}'


def test_session_of_a_token_has_its_end(broker: Broker) -> None:
    with LoginClient(broker) as connection:
        refusal_of(connection, token_of(f"{broker.token_endpoint}?lifetime_ms=60000"))

        (session,) = broker.sessions.list(mechanism=OAUTHBEARER)

    assert session.expires_at_ms is not None
    assert 0 < session.expires_at_ms - broker.clock.now_ms <= 61_000


def test_client_config_has_what_librdkafka_needs_for_a_token(broker: Broker) -> None:
    config = broker.client_config("bob", OAUTHBEARER)

    assert delivers(producer_of(config))
    assert config["sasl.oauthbearer.token.endpoint.url"] == broker.token_endpoint
    assert [session.principal for session in broker.sessions.list(mechanism=OAUTHBEARER)] in ([], [BOB], [BOB, BOB])


@pytest.mark.parametrize("count", [1, 2])
def test_token_is_accepted_and_a_revoked_one_refused_after_a_restart_on_a_data_folder(
    tmp_path: Path, count: int
) -> None:
    arguments: dict[str, Any] = {"security_protocol": "SASL_PLAINTEXT", "users": USERS, "data_dir": tmp_path / "data"}
    with Broker(nodes=count, **arguments) as first:
        url = first.token_endpoint
        revoked = token_of(url)
        first.users.revoke_tokens("alice")
        valid, of_bob = token_of(url), token_of(url, "bob")

    with Broker(nodes=count, **arguments) as second:
        refusals: list[bytes] = []
        for token in (revoked, valid, of_bob):
            with LoginClient(second) as connection:
                refusals.append(refusal_of(connection, token))

    assert refusals == [b'{"status":"invalid_token"}', b"", b""]
    (file,) = [each for each in (tmp_path / "data").rglob("oauth-tokens*")]
    assert file.stat().st_mode & 0o777 == 0o600


def test_damaged_file_of_tokens_is_an_error_without_its_content(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path):
        file = tmp_path / "oauth-tokens.json"
        file.write_text('{"key_id": "k", "private_key": "top-secret"}')

    with pytest.raises(ConfigError) as raised:
        Broker(security_protocol="SASL_PLAINTEXT", users=USERS, data_dir=tmp_path)

    assert str(raised.value) == f"cannot read {file}: it is damaged; without it a new key is made"


def test_unknown_user_and_broker_without_users_are_errors(broker: Broker) -> None:
    with pytest.raises(CallError) as unknown:
        broker.users.revoke_tokens("carol")
    with Broker() as without, pytest.raises(CallError) as none:
        without.users.set_password("alice", "secret")

    detail = unknown.value.detail
    assert (unknown.value.status, detail.field, detail.value) == (404, "name", "carol")
    assert detail.allowed == "the name of a user"
    assert none.value.status == 409


@pytest.mark.parametrize("is_remote", [False, True])
@pytest.mark.parametrize("password", ["", "alice-secret" * 100])
def test_wrong_value_is_named_without_the_password(broker: Broker, is_remote: bool, password: str) -> None:
    chosen = RemoteBroker("http://127.0.0.1:1") if is_remote else broker
    with pytest.raises(InvalidValueError) as of_session:
        chosen.sessions.end(principle=ALICE)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(InvalidValueError) as of_password:
        chosen.users.set_password("alice", password)
    with pytest.raises(InvalidValueError) as of_user:
        chosen.users.remove("")

    assert (of_session.value.field, of_session.value.value) == ("principle", ALICE)
    assert (of_password.value.field, of_password.value.value) == ("password", None)
    assert "alice-secret" not in str(of_password.value)
    assert (of_user.value.field, of_user.value.value) == ("name", "")


@pytest.mark.parametrize("body", [{"password": 1234567}, {"password": "1234567" * 1000}, {"pasword": "1234567"}])
def test_invalid_password_is_not_in_the_error_over_http(tmp_path: Path, body: dict[str, object]) -> None:
    with serving(tmp_path, "--port", "0", "--admin-port", "0", "--user", "alice:alice-secret") as process:
        response = httpx.put(f"{process.admin}/v1/users/alice", json=body)
        of_token = httpx.post(f"{process.admin}/oauth/token", data={"client_secret": "1234567" * 1000})

    assert (response.status_code, response.json()["error"]["field"]) == (400, next(iter(body)))
    assert of_token.status_code == 400
    assert "1234567" not in response.text + of_token.text


def test_passwords_are_in_no_response_and_no_representation(broker: Broker) -> None:
    with LoginClient(broker) as connection:
        login(connection)
        shown = repr(broker.users.list()) + repr(broker.sessions.list()) + repr(broker.journal.entries())

    assert "alice" in shown
    assert "secret" not in shown
