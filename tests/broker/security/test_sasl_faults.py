"""Fault rules on SaslHandshake and SaslAuthenticate, and rules that match a principal or a mechanism."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from fauxka.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker, RuleError

from ...golden.oauth_tokens import FirstMessage, Jws
from ...golden.sasl_client import ScramClient, plain
from ...wire.wire_connection import ConnectionClosedError
from .login_client import LoginClient
from .secured_broker import secured_broker

ALICE, BOB = "User:alice", "User:bob"
UNSERVED_VERSION = 99
SESSION = {"connections.max.reauth.ms": "60000"}
MECHANISMS = {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER"}
ACKNOWLEDGEMENT = b"\x01"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, SESSION | MECHANISMS) as running:
        yield running


@pytest.fixture
def connection(broker: Broker) -> Iterator[LoginClient]:
    with LoginClient(broker) as raw:
        yield raw


def bearer(user: str = "alice") -> bytes:
    """Return the first message of OAUTHBEARER with an unsecured token."""
    return FirstMessage(Jws({"sub": user, "exp": "now+600"})).data()


def rejected(broker: Broker, mechanism: str, *tokens: bytes) -> list[tuple[int, str | None, bytes]]:
    """Return error code, message and token of each response, on a connection of its own that ends with the last."""
    with LoginClient(broker) as raw:
        raw.handshake(mechanism)
        responses = [raw.authenticate(token) for token in tokens]
        assert raw.wire.is_closed()
    return [(each.error_code, each.error_message, each.auth_bytes) for each in responses]


@pytest.mark.parametrize(
    ("mechanism", "tokens", "unknown_user"),
    [
        ("PLAIN", [plain()], [plain("nobody")]),
        ("SCRAM-SHA-256", [ScramClient().first], [ScramClient(user="nobody").first]),
    ],
)
def test_rejected_user_gets_the_response_to_an_unknown_user(
    broker: Broker, mechanism: str, tokens: list[bytes], unknown_user: list[bytes]
) -> None:
    expected = rejected(broker, mechanism, *unknown_user)
    rule = broker.faults.rejected_login(principal=ALICE)

    assert rejected(broker, mechanism, *tokens) == expected
    assert (rule.hits, expected[0][0]) == (1, ErrorCode.SASL_AUTHENTICATION_FAILED)


def test_rejected_bearer_token_is_refused_as_an_invalid_one(broker: Broker) -> None:
    expected = rejected(broker, "OAUTHBEARER", FirstMessage("a.b.c").data(), ACKNOWLEDGEMENT)
    rule = broker.faults.rejected_login(principal=ALICE)

    assert rejected(broker, "OAUTHBEARER", bearer(), ACKNOWLEDGEMENT) == expected
    assert (rule.hits, len(expected)) == (1, 2)


def test_final_message_of_scram_is_rejected_as_a_wrong_password(broker: Broker, connection: LoginClient) -> None:
    broker.faults.rejected_login(principal=ALICE, skip=1)
    client = ScramClient()
    connection.handshake(client.mechanism)
    first = connection.authenticate(client.first)

    final = connection.authenticate(client.final(first.auth_bytes))

    assert (final.error_code, final.error_message) == (
        ErrorCode.SASL_AUTHENTICATION_FAILED,
        "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256",
    )


def test_other_users_and_mechanisms_are_not_met(broker: Broker, connection: LoginClient) -> None:
    of_user = broker.faults.rejected_login(principal=BOB)
    of_mechanism = broker.faults.rejected_login(mechanism="SCRAM-SHA-256")

    assert login(connection).error_code == ErrorCode.NONE
    assert (of_user.hits, of_mechanism.hits) == (0, 0)
    assert of_user.near_misses[0].message == 'first differed at principal: "User:alice", not "User:bob"'
    assert of_mechanism.near_misses[0].message == "first differed at mechanism: PLAIN, not SCRAM-SHA-256"


def login(connection: LoginClient, token: bytes = b"\0alice\0secret") -> SaslAuthenticateResponse:
    connection.handshake()
    return connection.authenticate(token)


def test_withheld_mechanism_is_not_among_those_of_the_response(broker: Broker, connection: LoginClient) -> None:
    broker.faults.refuse("UNSUPPORTED_SASL_MECHANISM", api="SaslHandshake", mechanism="PLAIN")

    answer = connection.handshake()

    assert (answer.error_code, answer.mechanisms) == (
        ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        ["SCRAM-SHA-256", "OAUTHBEARER"],
    )
    assert connection.wire.is_closed()


@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
def test_any_other_error_ends_the_connection_after_the_delay(broker: Broker, connection: LoginClient, api: str) -> None:
    broker.faults.refuse("ILLEGAL_SASL_STATE", api=api)
    began = time.monotonic()

    chosen = connection.handshake()
    answer = chosen if api == "SaslHandshake" else connection.authenticate(plain())

    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert connection.wire.is_closed()
    assert time.monotonic() - began >= 0.1


def test_false_error_ends_the_connection_of_an_authenticated_client(broker: Broker, connection: LoginClient) -> None:
    broker.faults.false_error("SASL_AUTHENTICATION_FAILED", api="SaslAuthenticate", principal=ALICE)

    assert login(connection).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert connection.wire.is_closed()


def test_false_success_leaves_the_client_unauthenticated(broker: Broker, connection: LoginClient) -> None:
    broker.faults.refuse("NONE", api="SaslAuthenticate")

    assert login(connection).error_code == ErrorCode.NONE
    assert not connection.is_served()


@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
@pytest.mark.parametrize("point", ["received", "applied"])
def test_delayed_authentication_serves_large_frames_after_it(
    broker: Broker, connection: LoginClient, api: str, point: str
) -> None:
    delayed = {"match": {"api": api}, "point": point, "action": {"kind": "delay", "ms": 100}}
    rule = broker.faults.add(delayed)
    topics = [MetadataRequestTopic(name=f"{number:0200}") for number in range(4000)]

    assert login(connection).error_code == ErrorCode.NONE
    response = connection.call(MetadataRequest(topics=topics), 0, MetadataResponse)
    assert len(response.topics) == len(topics)
    assert rule.hits == 1


def test_request_behind_a_held_token_waits_for_it(broker: Broker, connection: LoginClient) -> None:
    rule = broker.faults.held(api="SaslAuthenticate")
    connection.handshake()
    connection.send(SaslAuthenticateRequest(auth_bytes=plain()), 1)
    connection.send(MetadataRequest(topics=[]), 8)
    rule.await_hits()

    broker.held.release(*broker.held.list())

    assert connection.receive(SaslAuthenticateResponse).error_code == ErrorCode.NONE
    assert connection.receive(MetadataResponse).brokers


@pytest.mark.parametrize("recipe", ["closed_connection", "reset_connection"])
@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
def test_connection_ends_in_place_of_the_response(broker: Broker, recipe: str, api: str) -> None:
    getattr(broker.faults, recipe)(api=api)

    with LoginClient(broker) as ended, LoginClient(broker) as served:
        if api == "SaslAuthenticate":
            ended.handshake()
        with pytest.raises(ConnectionClosedError):
            ended.handshake() if api == "SaslHandshake" else ended.authenticate(plain())
        assert login(served).error_code == ErrorCode.NONE


def test_another_authentication_is_met_with_the_principal_of_the_session(
    broker: Broker, connection: LoginClient
) -> None:
    login(connection)
    handshakes = broker.faults.observed(api="SaslHandshake", principal=ALICE)
    rule = broker.faults.rejected_login(principal=ALICE, mechanism="PLAIN")
    broker.clock.advance(2_000)

    answer = login(connection)

    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert connection.wire.is_closed()
    assert (handshakes.hits, rule.hits) == (1, 1)


def test_client_falls_back_to_a_served_version_while_a_rule_is_armed(broker: Broker, connection: LoginClient) -> None:
    broker.faults.observed(topic="orders")

    connection.wire.send(request_frame(APIS[ApiKey.API_VERSIONS], UNSERVED_VERSION, 1, ApiVersionsRequest()))
    connection.wire.receive_frame()
    connection.call(ApiVersionsRequest(), 0)

    assert login(connection).error_code == ErrorCode.NONE


def test_rule_for_one_user_leaves_the_requests_of_others(tmp_path: Path) -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="hidden";'
    keys = {"listener.name.sasl_plaintext.plain.sasl.jaas.config": jaas}
    with (
        Broker(keys, security_protocol="SASL_PLAINTEXT", users={"alice": "secret"}) as broker,
        LoginClient(broker) as of_alice,
        LoginClient(broker) as of_bob,
    ):
        login(of_alice)
        login(of_bob, plain("bob", "hidden"))
        rule = broker.faults.closed_connection(api="Metadata", principal=BOB, mechanism="PLAIN")

        assert of_alice.is_served()
        assert not of_bob.is_served()
        assert rule.hits == 1


def test_client_without_sasl_is_anonymous() -> None:
    with Broker() as broker, LoginClient(broker) as connection:
        rule = broker.faults.observed(api="Metadata", principal="User:ANONYMOUS")
        of_mechanism = broker.faults.observed(api="Metadata", mechanism="PLAIN")
        connection.is_served()

        assert (rule.hits, of_mechanism.hits) == (1, 0)
        assert of_mechanism.near_misses[0].message == "first differed at mechanism: no mechanism, not PLAIN"


def test_journal_is_read_by_principal(broker: Broker, connection: LoginClient) -> None:
    login(connection)
    connection.is_served()

    of_alice = broker.journal.entries(principal=ALICE, mechanism="PLAIN")

    assert [(entry.api, entry.principal) for entry in of_alice] == [
        ("SaslHandshake", ALICE),
        ("SaslAuthenticate", ALICE),
        ("Metadata", ALICE),
    ]
    assert broker.journal.entries(principal=BOB) == []


def test_secret_of_a_rejected_token_is_in_no_near_miss_and_no_log(
    broker: Broker, connection: LoginClient, caplog: pytest.LogCaptureFixture
) -> None:
    rule = broker.faults.rejected_login(principal=BOB)
    broker.faults.rejected_login(principal=ALICE)

    login(connection)

    assert "alice" in repr(rule.near_misses)
    assert "secret" not in repr(rule.near_misses) + caplog.text + repr(broker.journal.entries())


def test_principal_without_a_type_is_an_error(broker: Broker) -> None:
    with pytest.raises(RuleError) as raised:
        broker.faults.rejected_login(principal="alice")

    assert (raised.value.field, raised.value.value) == ("match.principal", "alice")
    assert raised.value.allowed == "a principal such as User:alice, or a regex"
