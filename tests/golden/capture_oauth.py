"""OAUTHBEARER: python -m tests.golden.regenerate oauth. A case is one connection; see sasl_client for its steps.

A step has a token as JSON, with times relative to the step. The time that is left of a session is rounded, because it
differs from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TextIO

from .capture_sasl import REAUTH_PAUSE_SECONDS
from .case_recorder import Json, in_order
from .connection_cases import ConnectionCase, Step, connector, metadata, wait, write_lines
from .oauth_brokers import SESSION_MS
from .oauth_cases.claims import ALICE, EXPIRED, VALID
from .oauth_cases.malformed import MALFORMED
from .oauth_cases.messages import MESSAGES, RAW
from .oauth_cases.signatures import SIGNATURES
from .oauth_cases.signed import OTHER_NAMES, SIGNED_TOKENS, WITHOUT_IDS
from .oauth_cases.unsecured import OPTIONS, UNSECURED
from .oauth_tokens import SEPARATOR, FirstMessage, Jws
from .sasl_client import Addresses, SaslClient, plain

MECHANISM = "OAUTHBEARER"
# A session of a token that is about to expire, and when it is over.
SHORT_SECONDS = 3
SHORT_OVER_SECONDS = SHORT_SECONDS + 1.5
SHORT_MS_MAX = 10_000
YEAR_MS = 365 * 24 * 3600 * 1000
ROUNDING_MS = 60_000
# How a client ends an exchange that failed.
ACKNOWLEDGEMENT = SEPARATOR.encode()

BOB = Jws({**ALICE, "sub": "bob"})
SHORT = Jws({**ALICE, "exp": f"now+{SHORT_SECONDS}"})


def capture(addresses: Addresses, output: TextIO) -> None:
    """Run every case against a broker of oauth_brokers, and write a line of each to output."""
    write_lines(_cases(), connector(addresses), output)


def _cases() -> Iterator[ConnectionCase]:
    unsecured = {
        **_of_tokens(UNSECURED),
        **_of_tokens(MALFORMED),
        **_messages(),
        **_exchanges(),
        **_short_sessions(),
    }
    cases = {
        "UNSECURED": unsecured,
        "OPTIONS": _of_tokens(OPTIONS),
        "SESSIONS": _sessions(),
        "SIGNED": {**_of_tokens(SIGNED_TOKENS), **_of_tokens(SIGNATURES)},
        "CLAIMS": _of_tokens(OTHER_NAMES),
        "NO_SKEW": _of_tokens(WITHOUT_IDS),
    }
    for listener, of_listener in cases.items():
        for name, step in of_listener.items():
            yield ConnectionCase(name, listener, step)


def _handshake(mechanism: str = MECHANISM, version: int = 1) -> Step:
    return lambda client: client.handshake(mechanism, version)


def _send(message: FirstMessage | bytes, version: int = 2) -> Step:
    """Return the step that sends a message in a SaslAuthenticate."""

    def run(client: SaslClient) -> None:
        if isinstance(message, FirstMessage):
            client.authenticate(message.data(), version, str(message))
        else:
            client.authenticate(message, version)
        answer = client.steps[-1]
        assert isinstance(answer, dict)
        _round_lifetime(answer["answer"])

    return run


def _round_lifetime(answer: Json) -> None:
    if not isinstance(answer, dict):
        return
    lifetime_ms = answer.get("session_lifetime_ms", 0)
    assert isinstance(lifetime_ms, int)
    if lifetime_ms in (0, SESSION_MS):
        return
    rounded = -(-lifetime_ms // ROUNDING_MS) * ROUNDING_MS
    names = {"some seconds": lifetime_ms < SHORT_MS_MAX, "years": lifetime_ms > YEAR_MS}
    answer["session_lifetime_ms"] = next((name for name, is_it in names.items() if is_it), f"at most {rounded}")


def _send_bare(message: FirstMessage | bytes) -> Step:
    if isinstance(message, FirstMessage):
        return lambda client: client.bare_token(message.data(), str(message))
    return lambda client: client.bare_token(message)


def _acknowledge_refusal(client: SaslClient) -> None:
    """Answer an error as a client does; the broker answers an accepted token with no bytes."""
    if client.token:
        client.authenticate(ACKNOWLEDGEMENT)


def _log_in(message: FirstMessage | Jws) -> Step:
    first = FirstMessage(message) if isinstance(message, Jws) else message
    return in_order(_handshake(), _send(first), _acknowledge_refusal)


def _of_tokens(tokens: Mapping[str, Jws | FirstMessage]) -> dict[str, Step]:
    return {name: in_order(_log_in(token), metadata) for name, token in tokens.items()}


def _messages() -> dict[str, Step]:
    return {
        **{f"message: {name}": in_order(_log_in(message), metadata) for name, message in MESSAGES.items()},
        **{f"raw message: {name}": in_order(_handshake(), _send(data), metadata) for name, data in RAW.items()},
    }


def _exchanges() -> dict[str, Step]:
    """Return the cases of the order of messages."""
    refused = in_order(_handshake(), _send(FirstMessage(EXPIRED)))
    return {
        "SaslHandshake of another mechanism": _handshake("SCRAM-SHA-256"),
        "PLAIN beside it": in_order(_handshake("PLAIN"), _send(plain()), metadata),
        **{
            f"SaslAuthenticate v{version}, {name}": in_order(
                _handshake(), _send(FirstMessage(token), version), metadata
            )
            for version in (0, 1)
            for name, token in {"valid": VALID, "expired": EXPIRED}.items()
        },
        "bare token": in_order(_handshake(version=0), _send_bare(FirstMessage(VALID)), metadata),
        "bare token that has expired": in_order(
            _handshake(version=0), _send_bare(FirstMessage(EXPIRED)), _send_bare(ACKNOWLEDGEMENT)
        ),
        "bare token that is no message": in_order(_handshake(version=0), _send_bare(b"x")),
        "valid token in place of the acknowledgement": in_order(refused, _send(FirstMessage(VALID)), metadata),
        "expired token in place of the acknowledgement": in_order(refused, _send(FirstMessage(EXPIRED)), metadata),
        "nothing in place of the acknowledgement": in_order(refused, _send(b""), metadata),
        "text in place of the acknowledgement": in_order(refused, _send(b"x"), metadata),
        "Metadata in place of the acknowledgement": in_order(refused, metadata),
        "SaslHandshake in place of the acknowledgement": in_order(refused, _handshake()),
        "acknowledgement twice": in_order(refused, _send(ACKNOWLEDGEMENT), _send(ACKNOWLEDGEMENT)),
        "acknowledgement after a valid token": in_order(_log_in(VALID), _send(ACKNOWLEDGEMENT), metadata),
    }


def _short_sessions() -> dict[str, Step]:
    again = _log_in(VALID)
    return {
        "token expires": in_order(_log_in(SHORT), metadata, wait(SHORT_OVER_SECONDS), metadata),
        "again after the token has expired": in_order(_log_in(SHORT), wait(SHORT_OVER_SECONDS), again, metadata),
        "again before the token expires": in_order(_log_in(SHORT), again, metadata, wait(SHORT_OVER_SECONDS), metadata),
        "again twice in a second": in_order(_log_in(VALID), again, again, metadata),
        "again after a second": in_order(_log_in(VALID), again, wait(REAUTH_PAUSE_SECONDS), again, metadata),
        "again as another principal": in_order(_log_in(VALID), _log_in(BOB), metadata),
        "again by an expired token": in_order(_log_in(VALID), _log_in(EXPIRED), metadata),
        "again by a wrong message": in_order(_log_in(VALID), _handshake(), _send(b"x"), metadata),
        "again by PLAIN": in_order(_log_in(VALID), _handshake("PLAIN"), _send(plain()), metadata),
        "again by an expired token, then a valid one": in_order(
            _log_in(VALID), _handshake(), _send(FirstMessage(EXPIRED)), _send(FirstMessage(VALID)), metadata
        ),
    }


def _sessions() -> dict[str, Step]:
    over = SESSION_MS / 1000 + 0.5
    return {
        "session ends before the token": in_order(_log_in(VALID), metadata, wait(over), metadata),
        "token ends before the session": in_order(
            _log_in(Jws({**ALICE, "exp": "now+1.5"})), metadata, wait(over), metadata
        ),
        "again": in_order(_log_in(VALID), wait(over), _log_in(VALID), metadata),
        "again as another principal, late": in_order(_log_in(VALID), wait(over), _log_in(BOB), metadata),
    }
