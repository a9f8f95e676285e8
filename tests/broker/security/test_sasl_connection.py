"""What a connection may send before it has authenticated, and what comes back, byte for byte."""

import gc
import ssl
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from weakref import ref

import pytest

from fauxka.admin.control import Control
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker

from ...wire.wire_connection import ConnectionClosedError
from .login_client import LoginClient
from .secured_broker import secured_broker

# connection.failed.authentication.delay.ms by default. A timer may fire a tick early.
FAILED_DELAY_MS = 100
TIMER_SLACK_MS = 10
TOKEN = b"\0alice\0secret"
WRONG_TOKEN = b"\0alice\0wrong"
MIB = 1024 * 1024


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path) as running:
        yield running


@pytest.fixture
def connection(broker: Broker) -> Iterator[LoginClient]:
    with LoginClient(broker) as raw:
        yield raw


def test_client_is_served_after_it_has_authenticated(connection: LoginClient) -> None:
    chosen = connection.handshake()
    answer = connection.authenticate(TOKEN)

    assert (chosen.error_code, chosen.mechanisms) == (0, ["PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"])
    assert (answer.error_code, answer.error_message, answer.auth_bytes, answer.session_lifetime_ms) == (0, "", b"", 0)
    assert connection.is_served()


@pytest.mark.parametrize("key", [key for key in ApiKey if key not in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE)])
def test_nothing_else_is_served_before(connection: LoginClient, key: ApiKey) -> None:
    header = struct.pack(">hhih", key, 1, 7, -1)

    connection.wire.send_frame(header + bytes(64))

    assert connection.wire.is_closed()


def test_api_versions_are_served_once_before(connection: LoginClient) -> None:
    first = connection.call(ApiVersionsRequest(), 0, ApiVersionsResponse)

    assert len(first.api_keys) > 20
    with pytest.raises(ConnectionClosedError):
        connection.call(ApiVersionsRequest(), 0)


def test_nothing_but_tokens_is_taken_after_the_handshake(connection: LoginClient) -> None:
    connection.handshake()

    assert not connection.is_served()


def test_unknown_mechanism_is_told_with_the_enabled_ones_and_ends_the_connection(connection: LoginClient) -> None:
    answer = connection.handshake("GSSAPI")

    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert answer.mechanisms == ["PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"]
    assert connection.wire.is_closed()


def test_wrong_password_is_told_after_a_delay_and_ends_the_connection(connection: LoginClient) -> None:
    connection.handshake()
    began = time.monotonic()

    answer = connection.authenticate(WRONG_TOKEN)

    assert time.monotonic() - began >= 0.1
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == "Authentication failed: Invalid username or password"
    assert connection.wire.is_closed()


def test_tokens_without_a_header_follow_the_first_version_of_the_handshake(connection: LoginClient) -> None:
    connection.handshake(version=0)

    connection.wire.send_frame(TOKEN)
    assert connection.wire.receive_frame() == b""
    assert connection.is_served()


def test_wrong_token_without_a_header_ends_the_connection(connection: LoginClient) -> None:
    connection.handshake(version=0)

    connection.wire.send_frame(WRONG_TOKEN)
    assert connection.wire.is_closed()


def test_long_frame_is_refused_before_its_content_arrives(connection: LoginClient) -> None:
    connection.wire.send(struct.pack(">i", MIB))

    assert connection.wire.is_closed()


@pytest.mark.parametrize("size", [-1, 512 * 1024 + 1])
@pytest.mark.parametrize("stage", ["at first", "after the handshake", "with bare tokens"])
def test_frame_of_a_wrong_size_ends_the_connection_after_the_delay_of_a_failure(
    connection: LoginClient, size: int, stage: str
) -> None:
    if stage != "at first":
        connection.handshake(version=0 if stage == "with bare tokens" else 1)
    started = time.monotonic()
    connection.wire.send(struct.pack(">i", size))

    assert connection.wire.is_closed()
    assert (time.monotonic() - started) * 1000 >= FAILED_DELAY_MS - TIMER_SLACK_MS


@pytest.mark.parametrize(
    ("mechanism", "token", "is_delayed"),
    [("PLAIN", WRONG_TOKEN, True), ("PLAIN", b"x", True), ("PLAIN", b"", True), ("SCRAM-SHA-256", b"x", False)],
)
def test_wrong_token_without_a_header_ends_the_connection_after_the_delay_as_in_kafka(
    tmp_path: Path, mechanism: str, token: bytes, is_delayed: bool
) -> None:
    # Only a delay would take as long as the second.
    delay_ms = 500 if is_delayed else 9_000
    entries = {"connection.failed.authentication.delay.ms": str(delay_ms)}
    with (
        secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, entries) as broker,
        LoginClient(broker) as connection,
    ):
        connection.handshake(mechanism, version=0)
        started = time.monotonic()

        connection.wire.send_frame(token)
        assert connection.wire.is_closed()
        assert ((time.monotonic() - started) * 1000 >= delay_ms - TIMER_SLACK_MS) == is_delayed


@pytest.mark.parametrize("stage", ["at first", "after the handshake", "within a frame"])
def test_client_that_does_not_go_on_is_disconnected_after_the_idle_time(tmp_path: Path, stage: str) -> None:
    entries = {"connections.max.idle.ms": "300"}
    with (
        secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, entries) as broker,
        LoginClient(broker) as connection,
    ):
        if stage == "after the handshake":
            connection.handshake()
        elif stage == "within a frame":
            connection.wire.send(b"\0\0\1\0half")

        assert connection.wire.is_closed()


def test_unknown_user_is_refused_after_the_same_delay_as_a_wrong_password(tmp_path: Path) -> None:
    seconds: dict[bytes, float] = {}
    delay_ms = 300
    entries = {"connection.failed.authentication.delay.ms": str(delay_ms)}
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, entries) as broker:
        for token in (WRONG_TOKEN, b"\0nobody\0wrong"):
            with LoginClient(broker) as connection:
                connection.handshake()
                started = time.monotonic()
                answer = connection.authenticate(token)
                seconds[token] = time.monotonic() - started
                assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED

    assert min(seconds.values()) * 1000 >= delay_ms - TIMER_SLACK_MS


def test_long_frames_are_taken_after_the_authentication(connection: LoginClient) -> None:
    connection.handshake()
    connection.authenticate(TOKEN)
    topics = [f"{number:0200}" for number in range(4000)]

    answer = connection.call(_metadata_of(topics), 0, MetadataResponse)

    assert len(answer.topics) == len(topics)


def _metadata_of(topics: list[str]) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in topics])


def test_secrets_are_not_in_the_journal(broker: Broker, connection: LoginClient) -> None:
    connection.handshake()
    connection.authenticate(TOKEN)

    told = repr(broker.journal.entries())

    assert "SaslAuthenticate" in told
    assert "secret" not in told


def reference_to_gate(control: Control) -> ref[object]:
    """Return a reference to the gate of the one connection, which alone has it: compiled objects have no references."""
    (connection,) = control.server.servers[0].connections
    return ref(cast(Any, connection)._frame_handler)


def test_closed_connection_is_released_without_the_garbage_collector(broker: Broker) -> None:
    gc.disable()
    try:
        with LoginClient(broker) as raw:
            raw.handshake()
            raw.authenticate(TOKEN)
            reference = broker.ask(reference_to_gate)
        while broker.ask(lambda control: control.server.connection_count):
            pass
        broker.ask(lambda control: None)

        assert reference() is None
    finally:
        gc.enable()


def test_plain_listener_refuses_sasl_as_kafka_does() -> None:
    with Broker() as broker, LoginClient(broker) as connection:
        chosen, answer = connection.handshake(), connection.authenticate(TOKEN)

    assert (chosen.error_code, chosen.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, [])
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_session_without_another_authentication_ends_with_the_next_request(tmp_path: Path) -> None:
    entries = {"connections.max.reauth.ms": "60000"}
    with (
        secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, entries) as broker,
        LoginClient(broker) as ending,
        LoginClient(broker) as lasting,
    ):
        for each in (ending, lasting):
            each.handshake()
            answer = each.authenticate(TOKEN)
            assert 0 < answer.session_lifetime_ms <= 60_000
        broker.clock.advance(59_000)
        lasting.handshake()
        lasting.authenticate(TOKEN)
        broker.clock.advance(2_000)

        assert not ending.is_served()
        assert lasting.is_served()


@pytest.mark.parametrize("is_restored", [False, True])
def test_reset_and_restored_snapshot_end_sessions_and_the_next_ones_have_their_whole_lifetime(
    tmp_path: Path, is_restored: bool
) -> None:
    entries = {"connections.max.reauth.ms": "60000"}
    with secured_broker(SecurityProtocol.SASL_PLAINTEXT, tmp_path, entries) as broker:
        with LoginClient(broker) as before:
            before.handshake()
            before.authenticate(TOKEN)
            snapshot = broker.snapshot()
            broker.clock.advance(59_000)
            if is_restored:
                broker.restore(snapshot)
            else:
                broker.reset()

            assert not before.is_served()
        with LoginClient(broker) as after:
            after.handshake()
            answer = after.authenticate(TOKEN)
            assert answer.session_lifetime_ms == 60_000
            broker.clock.advance(59_000)
            assert after.is_served()
            broker.clock.advance(2_000)

            assert not after.is_served()


def test_tls_handshakes_that_fail_or_hang_leave_the_others_served(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    with (
        secured_broker(SecurityProtocol.SSL, tmp_path) as broker,
        LoginClient(broker),
        LoginClient(broker) as failing,
        LoginClient(broker) as served,
    ):
        failing.wire.send(b"GET / HTTP/1.1\r\n\r\n")
        context.load_verify_locations(tmp_path / "ca.pem")
        served.wire.start_tls(context, "localhost")

        assert served.is_served()
        assert failing.wire.is_closed()


def test_client_without_a_certificate_is_refused_where_one_is_required(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    with (
        secured_broker(SecurityProtocol.SSL, tmp_path, {"ssl.client.auth": "required"}) as broker,
        LoginClient(broker) as without,
        LoginClient(broker) as known,
    ):
        context.load_verify_locations(tmp_path / "ca.pem")
        without.wire.start_tls(context, "localhost")
        context.load_cert_chain(tmp_path / "client.pem")
        known.wire.start_tls(context, "localhost")

        assert known.is_served()
        assert without.wire.is_closed()
