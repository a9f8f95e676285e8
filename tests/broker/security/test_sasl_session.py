"""The stages of a SASL session, its lifetime, and another authentication of the same connection."""

import pytest

from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.broker.security.principal import ANONYMOUS, Principal
from fauxka.broker.security.sasl.exchange import SaslFailed
from fauxka.broker.security.sasl.mechanisms import Mechanisms
from fauxka.broker.security.sasl.sasl_session import SaslSession, Stage
from fauxka.broker.security.sasl.scram import ScramHash
from fauxka.broker.security.users import Users

from ...manual_clock import manual_clock

PLAIN = "PLAIN"
ALICE = b"\0alice\0secret"
BOB = b"\0bob\0other"
REAUTH_MS = 60_000


@pytest.fixture
def clock() -> AdjustableClock:
    return manual_clock()


class NoCredentials:
    """The credentials of a cluster in which no client has created any."""

    def find_credential(self, hash_: ScramHash, user: str) -> None:
        pass

    def find_token(self, hash_: ScramHash, token_id: str) -> None:
        pass


def session_on(clock: AdjustableClock, reauth_ms: int = 0) -> SaslSession:
    users = Users({"alice": "secret", "bob": "other"})
    names = [PLAIN, "SCRAM-SHA-256"]
    mechanisms = Mechanisms(names, users, dict.fromkeys(names, reauth_ms))
    return SaslSession(mechanisms, NoCredentials(), clock, lambda: None)


def authenticate(session: SaslSession, token: bytes = ALICE, mechanism: str = PLAIN) -> None:
    session.take_handshake(mechanism, has_bare_tokens=False)
    session.take_token(token)


def test_client_is_the_user_that_it_authenticates_as(clock: AdjustableClock) -> None:
    session = session_on(clock)
    before = session.principal

    authenticate(session)

    assert (before, session.principal) == (ANONYMOUS, Principal("alice"))
    assert (session.stage, session.lifetime_ms) == (Stage.AUTHENTICATED, 0)


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0carol\0secret", "Authentication failed: Invalid username or password"),
        (b"\0\0secret", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (
            b"bob\0alice\0secret",
            "Authentication failed: Client requested an authorization id that is different from username",
        ),
        (b"alice\0secret", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"\0alice\0secret\0", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
    ],
)
def test_client_that_fails_is_told_what_kafka_tells_it(clock: AdjustableClock, token: bytes, message: str) -> None:
    session = session_on(clock)

    with pytest.raises(SaslFailed) as failed:
        authenticate(session, token)

    assert failed.value.message == message
    assert b"secret" not in failed.value.reason.encode()
    assert (session.stage, session.principal) == (Stage.FAILED, ANONYMOUS)


def test_mechanism_that_is_not_enabled_fails(clock: AdjustableClock) -> None:
    session = session_on(clock)

    with pytest.raises(SaslFailed, match="Unsupported SASL mechanism GSSAPI"):
        session.take_handshake("GSSAPI", has_bare_tokens=False)

    assert session.stage is Stage.FAILED


def test_session_ends_after_the_time_for_another_authentication(clock: AdjustableClock) -> None:
    session = session_on(clock, REAUTH_MS)
    authenticate(session)
    lifetime = session.lifetime_ms

    clock.advance(REAUTH_MS)
    at_the_end = session.is_expired
    clock.advance(1)

    assert (lifetime, at_the_end, session.is_expired) == (REAUTH_MS, False, True)


def test_another_authentication_begins_a_new_lifetime(clock: AdjustableClock) -> None:
    session = session_on(clock, REAUTH_MS)
    authenticate(session)
    clock.advance(REAUTH_MS - 1)

    assert session.begin_again()
    authenticate(session)

    assert (session.lifetime_ms, session.principal) == (REAUTH_MS, Principal("alice"))


def test_session_without_a_lifetime_has_no_other_authentication(clock: AdjustableClock) -> None:
    session = session_on(clock)
    authenticate(session)

    assert not session.begin_again()


def test_another_authentication_begins_at_most_once_a_second(clock: AdjustableClock) -> None:
    session = session_on(clock, REAUTH_MS)
    authenticate(session)

    assert session.begin_again()
    authenticate(session)
    clock.advance(999)
    too_early = session.begin_again()
    clock.advance(1)

    assert (too_early, session.begin_again()) == (False, True)


def test_another_authentication_as_another_user_fails(clock: AdjustableClock) -> None:
    session = session_on(clock, REAUTH_MS)
    authenticate(session)
    session.begin_again()

    with pytest.raises(SaslFailed) as failed:
        authenticate(session, BOB)

    assert failed.value.message == "Cannot change principals during re-authentication from User.alice: User.bob"


def test_another_authentication_by_another_mechanism_accepts_nothing_after_the_handshake(
    clock: AdjustableClock,
) -> None:
    session = session_on(clock, REAUTH_MS)
    authenticate(session)
    session.begin_again()

    session.take_handshake("SCRAM-SHA-256", has_bare_tokens=False)

    assert session.stage is Stage.NOTHING
    assert session.mechanism == PLAIN
