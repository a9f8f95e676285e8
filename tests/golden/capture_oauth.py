"""OAUTHBEARER: python -m tests.golden.regenerate oauth. A case is one connection; see sasl_client for its steps.

A step has a token as JSON, with times relative to the step. The time that is left of a session is rounded, because it
differs from run to run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TextIO

from .capture_sasl import PARALLEL_CASES, REAUTH_PAUSE_SECONDS
from .case_recorder import Json
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

Step = Callable[[SaslClient], None]
BOB = Jws({**ALICE, "sub": "bob"})
SHORT = Jws({**ALICE, "exp": f"now+{SHORT_SECONDS}"})


def capture(addresses: Addresses, output: TextIO) -> None:
    """Run every case against a broker of oauth_brokers, and write a line of each to output."""

    def run(case: tuple[str, str, Step]) -> dict[str, Json]:
        name, listener, step = case
        client = SaslClient(addresses, listener)
        step(client)
        end = client.close()
        return {"case": name, "listener": listener, "steps": client.steps, "end": end}

    with ThreadPoolExecutor(PARALLEL_CASES) as pool:
        for line in pool.map(run, list(_cases())):
            output.write(json.dumps(line, ensure_ascii=False) + "\n")


def _cases() -> Iterator[tuple[str, str, Step]]:
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
            yield name, listener, step


def _in_order(*steps: Step) -> Step:
    def run(client: SaslClient) -> None:
        for step in steps:
            step(client)

    return run


def _handshake(mechanism: str = MECHANISM, version: int = 1) -> Step:
    return lambda client: client.handshake(mechanism, version)


def _metadata(client: SaslClient) -> None:
    client.metadata()


def _wait(seconds: float) -> Step:
    return lambda client: client.wait(seconds)


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
    return _in_order(_handshake(), _send(first), _acknowledge_refusal)


def _of_tokens(tokens: Mapping[str, Jws | FirstMessage]) -> dict[str, Step]:
    return {name: _in_order(_log_in(token), _metadata) for name, token in tokens.items()}


def _messages() -> dict[str, Step]:
    return {
        **{f"message: {name}": _in_order(_log_in(message), _metadata) for name, message in MESSAGES.items()},
        **{f"raw message: {name}": _in_order(_handshake(), _send(data), _metadata) for name, data in RAW.items()},
    }


def _exchanges() -> dict[str, Step]:
    """Return the cases of the order of messages."""
    refused = _in_order(_handshake(), _send(FirstMessage(EXPIRED)))
    return {
        "SaslHandshake of another mechanism": _handshake("SCRAM-SHA-256"),
        "PLAIN beside it": _in_order(_handshake("PLAIN"), _send(plain()), _metadata),
        **{
            f"SaslAuthenticate v{version}, {name}": _in_order(
                _handshake(), _send(FirstMessage(token), version), _metadata
            )
            for version in (0, 1)
            for name, token in {"valid": VALID, "expired": EXPIRED}.items()
        },
        "bare token": _in_order(_handshake(version=0), _send_bare(FirstMessage(VALID)), _metadata),
        "bare token that has expired": _in_order(
            _handshake(version=0), _send_bare(FirstMessage(EXPIRED)), _send_bare(ACKNOWLEDGEMENT)
        ),
        "bare token that is no message": _in_order(_handshake(version=0), _send_bare(b"x")),
        "valid token in place of the acknowledgement": _in_order(refused, _send(FirstMessage(VALID)), _metadata),
        "expired token in place of the acknowledgement": _in_order(refused, _send(FirstMessage(EXPIRED)), _metadata),
        "nothing in place of the acknowledgement": _in_order(refused, _send(b""), _metadata),
        "text in place of the acknowledgement": _in_order(refused, _send(b"x"), _metadata),
        "Metadata in place of the acknowledgement": _in_order(refused, _metadata),
        "SaslHandshake in place of the acknowledgement": _in_order(refused, _handshake()),
        "acknowledgement twice": _in_order(refused, _send(ACKNOWLEDGEMENT), _send(ACKNOWLEDGEMENT)),
        "acknowledgement after a valid token": _in_order(_log_in(VALID), _send(ACKNOWLEDGEMENT), _metadata),
    }


def _short_sessions() -> dict[str, Step]:
    again = _log_in(VALID)
    return {
        "token expires": _in_order(_log_in(SHORT), _metadata, _wait(SHORT_OVER_SECONDS), _metadata),
        "again after the token has expired": _in_order(_log_in(SHORT), _wait(SHORT_OVER_SECONDS), again, _metadata),
        "again before the token expires": _in_order(
            _log_in(SHORT), again, _metadata, _wait(SHORT_OVER_SECONDS), _metadata
        ),
        "again twice in a second": _in_order(_log_in(VALID), again, again, _metadata),
        "again after a second": _in_order(_log_in(VALID), again, _wait(REAUTH_PAUSE_SECONDS), again, _metadata),
        "again as another principal": _in_order(_log_in(VALID), _log_in(BOB), _metadata),
        "again by an expired token": _in_order(_log_in(VALID), _log_in(EXPIRED), _metadata),
        "again by a wrong message": _in_order(_log_in(VALID), _handshake(), _send(b"x"), _metadata),
        "again by PLAIN": _in_order(_log_in(VALID), _handshake("PLAIN"), _send(plain()), _metadata),
        "again by an expired token, then a valid one": _in_order(
            _log_in(VALID), _handshake(), _send(FirstMessage(EXPIRED)), _send(FirstMessage(VALID)), _metadata
        ),
    }


def _sessions() -> dict[str, Step]:
    over = SESSION_MS / 1000 + 0.5
    return {
        "session ends before the token": _in_order(_log_in(VALID), _metadata, _wait(over), _metadata),
        "token ends before the session": _in_order(
            _log_in(Jws({**ALICE, "exp": "now+1.5"})), _metadata, _wait(over), _metadata
        ),
        "again": _in_order(_log_in(VALID), _wait(over), _log_in(VALID), _metadata),
        "again as another principal, late": _in_order(_log_in(VALID), _wait(over), _log_in(BOB), _metadata),
    }
