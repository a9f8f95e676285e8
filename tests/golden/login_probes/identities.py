"""Logins with each variant of a name, by each mechanism; and those of users with odd names and passwords."""

from __future__ import annotations

from dataclasses import replace

from ..connection_cases import ConnectionCase
from ..oauth_cases.claims import ALICE, RS256, SIGNED_CLAIMS, VALID
from ..oauth_tokens import FirstMessage, Jws
from ..sasl_client import HASHES, ScramClient, plain
from .names import PLAIN_USERS, SCRAM_USERS, USER, VARIANTS
from .steps import SCRAM, known, plain_login, scram_login, token_login, user_login

PLAINTEXT, TLS, SIGNED = "SASL_PLAINTEXT", "SASL_SSL", "SIGNED"


def cases() -> list[ConnectionCase]:
    """Return all of them."""
    return [case for label, name in VARIANTS.items() for case in _of_variant(label, name)] + _of_users()


def _of_variant(label: str, name: str) -> list[ConnectionCase]:
    escaped = name.replace("=", "=3D").replace(",", "=2C")
    steps = {
        ("PLAIN", PLAINTEXT): plain_login(plain(name)),
        ("PLAIN authorization id", TLS): plain_login(plain(authorization_id=name)),
        ("PLAIN password", PLAINTEXT): plain_login(plain(password=name)),
        ("SCRAM", TLS): scram_login(replace(SCRAM, user=name)),
        ("SCRAM authorization id", PLAINTEXT): scram_login(replace(SCRAM, header=f"n,a={escaped},")),
        ("SCRAM raw authorization id", PLAINTEXT): scram_login(replace(SCRAM, header=f"n,a={name},")),
        ("unsecured token", TLS): token_login(Jws({**ALICE, "sub": name})),
        ("unsecured token authorization id", PLAINTEXT): token_login(FirstMessage(VALID, f"a={escaped}")),
        ("signed token", SIGNED): token_login(Jws({**SIGNED_CLAIMS, "sub": name}, RS256, "first")),
    }
    return [ConnectionCase(f"{what}: {label}", listener, known(step)) for (what, listener), step in steps.items()]


def _of_users() -> list[ConnectionCase]:
    by_plain = [
        ConnectionCase(f"PLAIN user {user!r} on {listener}", listener, known(user_login(user, password)))
        for user, password in PLAIN_USERS.items()
        for listener in (PLAINTEXT, TLS)
    ]
    trimmed = [
        ConnectionCase(f"PLAIN user {user!r}, trimmed password", PLAINTEXT, known(user_login(user, password.strip())))
        for user, password in PLAIN_USERS.items()
        if password != password.strip()
    ]
    by_scram = [
        ConnectionCase(f"{mechanism} user {user!r}", TLS, known(scram_login(ScramClient(mechanism, user, password))))
        for user, password in SCRAM_USERS.items()
        for mechanism in HASHES
    ]
    own_id = [
        ConnectionCase(
            f"PLAIN user {user!r} with its name as authorization id",
            PLAINTEXT,
            known(plain_login(plain(user, password, user))),
        )
        for user, password in PLAIN_USERS.items()
        if user != USER
    ]
    return by_plain + trimmed + by_scram + own_id
