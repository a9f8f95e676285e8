"""Fault rules on SaslHandshake and SaslAuthenticate, and rules that match a principal or a mechanism."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from fauxka.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker, RuleError

from ...golden.oauth_tokens import FirstMessage, Jws
from ...golden.sasl_client import ScramClient, plain
from .raw_connection import Raw
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
def connection(broker: Broker) -> Iterator[Raw]:
    with Raw(broker) as raw:
        yield raw


def bearer(user: str = "alice") -> bytes:
    """Return the first message of OAUTHBEARER with an unsecured token."""
    return FirstMessage(Jws({"sub": user, "exp": "now+600"})).data()


def rejected(broker: Broker, mechanism: str, *tokens: bytes) -> list[tuple[int, str | None, bytes]]:
    """Return error code, message and token of each response, on a connection of its own that ends with the last."""
    with Raw(broker) as raw:
        assert raw.handshake(mechanism) is not None
        responses = [raw.authenticate(token) for token in tokens]
        assert raw.read() is None
    return [(each.error_code, each.error_message, each.auth_bytes) for each in responses if each is not None]


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


def test_final_message_of_scram_is_rejected_as_a_wrong_password(broker: Broker, connection: Raw) -> None:
    broker.faults.rejected_login(principal=ALICE, skip=1)
    client = ScramClient()
    connection.handshake(client.mechanism)
    first = connection.authenticate(client.first)
    assert first is not None

    final = connection.authenticate(client.final(first.auth_bytes))

    assert final is not None
    assert (final.error_code, final.error_message) == (
        ErrorCode.SASL_AUTHENTICATION_FAILED,
        "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256",
    )


def test_other_users_and_mechanisms_are_not_met(broker: Broker, connection: Raw) -> None:
    of_user = broker.faults.rejected_login(principal=BOB)
    of_mechanism = broker.faults.rejected_login(mechanism="SCRAM-SHA-256")

    assert login(connection).error_code == ErrorCode.NONE
    assert (of_user.hits, of_mechanism.hits) == (0, 0)
    assert of_user.near_misses[0].message == 'first differed at principal: "User:alice", not "User:bob"'
    assert of_mechanism.near_misses[0].message == "first differed at mechanism: PLAIN, not SCRAM-SHA-256"


def login(connection: Raw, token: bytes = b"\0alice\0secret") -> SaslAuthenticateResponse:
    chosen = connection.handshake()
    answer = connection.authenticate(token)
    assert chosen is not None and answer is not None
    return answer


def test_withheld_mechanism_is_not_among_those_of_the_response(broker: Broker, connection: Raw) -> None:
    broker.faults.refuse("UNSUPPORTED_SASL_MECHANISM", api="SaslHandshake", mechanism="PLAIN")

    answer = connection.handshake()

    assert answer is not None
    assert (answer.error_code, answer.mechanisms) == (
        ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        ["SCRAM-SHA-256", "OAUTHBEARER"],
    )
    assert connection.read() is None


@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
def test_any_other_error_ends_the_connection_after_the_delay(broker: Broker, connection: Raw, api: str) -> None:
    broker.faults.refuse("ILLEGAL_SASL_STATE", api=api)
    began = time.monotonic()

    chosen = connection.handshake()
    answer = chosen if api == "SaslHandshake" else connection.authenticate(plain())

    assert answer is not None
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert connection.read() is None
    assert time.monotonic() - began >= 0.1


def test_false_error_ends_the_connection_of_an_authenticated_client(broker: Broker, connection: Raw) -> None:
    broker.faults.false_error("SASL_AUTHENTICATION_FAILED", api="SaslAuthenticate", principal=ALICE)

    assert login(connection).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert connection.read() is None


def test_false_success_leaves_the_client_unauthenticated(broker: Broker, connection: Raw) -> None:
    broker.faults.refuse("NONE", api="SaslAuthenticate")

    assert login(connection).error_code == ErrorCode.NONE
    assert not connection.is_served()


@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
@pytest.mark.parametrize("point", ["received", "applied"])
def test_delayed_authentication_serves_large_frames_after_it(
    broker: Broker, connection: Raw, api: str, point: str
) -> None:
    delayed = {"match": {"api": api}, "point": point, "action": {"kind": "delay", "ms": 100}}
    rule = broker.faults.add(delayed)
    topics = [MetadataRequestTopic(name=f"{number:0200}") for number in range(4000)]

    assert login(connection).error_code == ErrorCode.NONE
    assert connection.request(ApiKey.METADATA, 0, MetadataRequest(topics=topics)) is not None
    assert rule.hits == 1


def test_request_behind_a_held_token_waits_for_it(broker: Broker, connection: Raw) -> None:
    rule = broker.faults.held(api="SaslAuthenticate")
    connection.handshake()
    connection.send_request(ApiKey.SASL_AUTHENTICATE, 1, SaslAuthenticateRequest(auth_bytes=plain()))
    connection.send_request(ApiKey.METADATA, 8, MetadataRequest(topics=[]))
    rule.await_hits()

    broker.held.release(*broker.held.list())

    assert connection.read() is not None
    assert connection.read() is not None


@pytest.mark.parametrize("recipe", ["closed_connection", "reset_connection"])
@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
def test_connection_ends_in_place_of_the_response(broker: Broker, recipe: str, api: str) -> None:
    getattr(broker.faults, recipe)(api=api)

    with Raw(broker) as ended, Raw(broker) as served:
        chosen = ended.handshake()
        assert (chosen if api == "SaslHandshake" else ended.authenticate(plain())) is None
        assert login(served).error_code == ErrorCode.NONE


def test_another_authentication_is_met_with_the_principal_of_the_session(broker: Broker, connection: Raw) -> None:
    login(connection)
    handshakes = broker.faults.observed(api="SaslHandshake", principal=ALICE)
    rule = broker.faults.rejected_login(principal=ALICE, mechanism="PLAIN")
    broker.clock.advance(2_000)

    answer = login(connection)

    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert connection.read() is None
    assert (handshakes.hits, rule.hits) == (1, 1)


def test_client_falls_back_to_a_served_version_while_a_rule_is_armed(broker: Broker, connection: Raw) -> None:
    broker.faults.observed(topic="orders")

    newest = connection.request(ApiKey.API_VERSIONS, UNSERVED_VERSION, ApiVersionsRequest())
    older = connection.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())

    assert newest is not None and older is not None
    assert login(connection).error_code == ErrorCode.NONE


def test_rule_for_one_user_leaves_the_requests_of_others(tmp_path: Path) -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="hidden";'
    keys = {"listener.name.sasl_plaintext.plain.sasl.jaas.config": jaas}
    with (
        Broker(keys, security_protocol="SASL_PLAINTEXT", users={"alice": "secret"}) as broker,
        Raw(broker) as of_alice,
        Raw(broker) as of_bob,
    ):
        login(of_alice)
        login(of_bob, plain("bob", "hidden"))
        rule = broker.faults.closed_connection(api="Metadata", principal=BOB, mechanism="PLAIN")

        assert of_alice.is_served()
        assert not of_bob.is_served()
        assert rule.hits == 1


def test_client_without_sasl_is_anonymous() -> None:
    with Broker() as broker, Raw(broker) as connection:
        rule = broker.faults.observed(api="Metadata", principal="User:ANONYMOUS")
        of_mechanism = broker.faults.observed(api="Metadata", mechanism="PLAIN")
        connection.is_served()

        assert (rule.hits, of_mechanism.hits) == (1, 0)
        assert of_mechanism.near_misses[0].message == "first differed at mechanism: no mechanism, not PLAIN"


def test_journal_is_read_by_principal(broker: Broker, connection: Raw) -> None:
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
    broker: Broker, connection: Raw, caplog: pytest.LogCaptureFixture
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
