"""Messages in any order, drawn by a seed; and further authentications."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ..capture_sasl import REAUTH_PAUSE_SECONDS
from ..case_recorder import in_order
from ..connection_cases import ConnectionCase, Step, metadata, wait
from ..oauth_cases.claims import ALICE, EXPIRED, VALID
from ..oauth_tokens import FirstMessage, Jws
from ..sasl_client import CLOSED, SaslClient, plain
from .brokers import SESSION_MS
from .client import who_am_i
from .names import USER
from .steps import (
    OAUTHBEARER,
    SCRAM,
    SCRAM_512,
    authenticate,
    bare_token,
    handshake,
    scram_login,
    token_login,
    user_login,
    versions,
)

SEED = 44
DRAWN_COUNT = 160
STEP_COUNT_MAX = 6
OVER_SECONDS = SESSION_MS / 1000 + 0.5

_BOB = user_login("bob", "bobs-secret")
_WRONG = user_login(password="wrong")
_T = TypeVar("_T")


def cases(seed: int = SEED) -> list[ConnectionCase]:
    """Return all of them."""
    again = [ConnectionCase(f"again: {name}", "SESSIONS", step) for name, step in _again().items()]
    first = [ConnectionCase(f"instead of a token: {name}", "SASL_SSL", step) for name, step in _instead().items()]
    return again + first + [_drawn(seed, number) for number in range(1, DRAWN_COUNT + 1)]


# -- further authentications


def _logins() -> dict[str, Step]:
    return {
        "PLAIN": user_login(),
        "PLAIN, another user": _BOB,
        "PLAIN, a user in capitals": user_login("ALICE", "capitals"),
        "PLAIN, wrong password": _WRONG,
        "PLAIN, own authorization id": in_order(handshake(), authenticate(plain(authorization_id=USER))),
        "SCRAM-SHA-256": scram_login(),
        "SCRAM-SHA-512": scram_login(SCRAM_512),
        "SCRAM-SHA-256, another user": scram_login(replace(SCRAM, user="bob", password="bobs-secret")),
        "OAUTHBEARER": token_login(VALID),
        "OAUTHBEARER, another principal": token_login(Jws({**ALICE, "sub": "bob"})),
        "OAUTHBEARER, a principal with a space": token_login(Jws({**ALICE, "sub": "alice "})),
        "OAUTHBEARER, expired": token_login(EXPIRED),
        "an unknown mechanism": handshake("UNKNOWN"),
        "no token": handshake(),
        "SaslHandshake v0": in_order(handshake(version=0), bare_token(plain())),
    }


def _instead() -> dict[str, Step]:
    """Return what is no token, behind a SaslHandshake of either version."""
    return {
        f"{name}, v{version}": in_order(handshake(version=version), _unless_closed(step, who_am_i))
        for version in (0, 1)
        for name, step in _no_tokens().items()
    }


def _no_tokens() -> dict[str, Step]:
    return {
        **{f"ApiVersions v{version}": versions(version) for version in (0, 3, 4, 5, 99, 32767)},
        **{f"SaslHandshake v{version}": handshake(version=version) for version in (0, 1, 2)},
        "Metadata": metadata,
        "who am I": who_am_i,
        "SaslAuthenticate v3": _send_unknown_version,
        "bare token": bare_token(plain()),
    }


def _send_unknown_version(client: SaslClient) -> None:
    header = client.connection.header(36, 3, is_flexible=True).getvalue()
    client.frame("SaslAuthenticate v3", header + b"\1\0")


def _again() -> dict[str, Step]:
    """Return each login behind a first one: at once, and after the end of the session."""
    firsts = {"PLAIN": user_login(), "SCRAM-SHA-256": scram_login(), "OAUTHBEARER": token_login(VALID)}
    pairs = [
        (f"{name} after {first_name}", first, login)
        for first_name, first in firsts.items()
        for name, login in _logins().items()
    ]
    at_once = {name: in_order(first, who_am_i, _unless_closed(login, who_am_i)) for name, first, login in pairs}
    late = {
        f"{name}, after the session": in_order(first, wait(OVER_SECONDS), _unless_closed(login, who_am_i))
        for name, first, login in pairs
        if name.endswith("after PLAIN")
    }
    between = {
        f"{name} between": in_order(user_login(), handshake(), _unless_closed(step, authenticate(plain()), who_am_i))
        for name, step in {"ApiVersions": versions(), "Metadata": metadata, "who am I": who_am_i}.items()
    }
    by_another = {
        f"another mechanism, then {name}": in_order(
            user_login(), handshake("SCRAM-SHA-256"), _unless_closed(step, who_am_i)
        )
        for name, step in _no_tokens().items()
    }
    twice = {
        "twice with a pause": in_order(
            user_login(), user_login(), wait(REAUTH_PAUSE_SECONDS), _unless_closed(user_login(), who_am_i)
        ),
        "another user, then the first": in_order(user_login(), _BOB, _unless_closed(user_login(), who_am_i)),
    }
    return {**at_once, **late, **between, **by_another, **twice}


def _unless_closed(*steps: Step) -> Step:
    """Return the steps, up to the one at which the broker closes the connection or returns an error."""

    def run(client: SaslClient) -> None:
        for step in steps:
            step(client)
            if _is_over(client):
                return

    return run


def _is_over(client: SaslClient) -> bool:
    last = client.steps[-1]
    assert isinstance(last, dict)
    answer = last["answer"]
    return answer == CLOSED or (isinstance(answer, dict) and answer.get("error_code", "NONE") != "NONE")


# -- messages in any order


def _messages() -> list[Callable[[random.Random], Step]]:
    """Return what draws a message, each as often as it is here."""
    return [
        lambda draw: versions(_one(draw, (0, 3, 3, 4, 99))),
        lambda _: metadata,
        lambda draw: handshake(_one(draw, _MECHANISMS), _one(draw, (0, 1, 1, 1, 2))),
        lambda draw: handshake(_one(draw, ("PLAIN", "SCRAM-SHA-256", OAUTHBEARER)), _one(draw, (0, 1, 1))),
        lambda draw: handshake(_one(draw, ("PLAIN", "SCRAM-SHA-256", OAUTHBEARER)), _one(draw, (0, 1, 1))),
        lambda draw: authenticate(_one(draw, _TOKENS), _one(draw, (0, 1, 2, 2))),
        lambda draw: authenticate(_one(draw, _TOKENS), _one(draw, (0, 1, 2, 2))),
        lambda draw: bare_token(_one(draw, _TOKENS)),
        lambda _: _finish_scram,
        lambda _: _finish_scram,
        lambda _: _send_token,
    ]


_MECHANISMS = (
    "UNKNOWN",
    "",
    "plain",
    "PLAIN ",
    "PLAIN\0",
    "SCRAM-SHA-1",
    "SCRAM-SHA-256-PLUS",
    "GSSAPI",
    "PLAIN,SCRAM",
)
_TOKENS = (
    plain(),
    plain(),
    plain(password="wrong"),
    plain("bob", "bobs-secret"),
    SCRAM.first,
    SCRAM.first,
    replace(SCRAM, user="bob").first,
    b"",
    b"\0",
    b"\x01",
    b"\xff\xfe",
    b"n,,n=alice",
    b"c=biws,r=nonce,p=AAAA",
    plain() * 1000,
)


def _finish_scram(client: SaslClient) -> None:
    """Send the final message to the server's first one, or to none."""
    server_first = client.token if client.token.startswith(b"r=") else b"r=nonce,s=AAAA,i=4096"
    client.authenticate(replace(SCRAM).final(server_first))


def _send_token(client: SaslClient) -> None:
    first = FirstMessage(VALID)
    client.authenticate(first.data(), name=str(first))


def _drawn(seed: int, number: int) -> ConnectionCase:
    draw = random.Random(f"{seed} {number}")
    steps = list(_drawn_steps(draw))
    listener = _one(draw, ("SASL_PLAINTEXT", "SASL_SSL"))
    return ConnectionCase(f"seed {seed}, exchange {number}", listener, _unless_closed(*steps, who_am_i))


def _drawn_steps(draw: random.Random) -> Iterator[Step]:
    count = draw.randint(1, STEP_COUNT_MAX)
    logins = (user_login(), scram_login(), token_login(VALID), _BOB)
    # Many begin as a client that knows what it does.
    start = draw.random()
    if start < 0.25:
        yield versions()
    if start < 0.5:
        yield handshake(_one(draw, ("PLAIN", "SCRAM-SHA-256", OAUTHBEARER)), _one(draw, (0, 1)))
    elif start < 0.75:
        yield _one(draw, logins)
    for _ in range(count):
        yield _one(draw, _messages())(draw)


def _one(draw: random.Random, choices: Sequence[_T]) -> _T:
    return choices[draw.randrange(len(choices))]
