"""Logins with a delegation token, and with what is nearly one."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace

from ..connection_cases import ConnectionCase, Step, metadata
from ..raw_apis_security import CREATE_DELEGATION_TOKEN
from ..sasl_client import SaslClient, ScramClient, plain
from .client import TOKEN_VERSION, ProbeClient, who_am_i
from .names import PASSWORD
from .steps import plain_login, scram_login, user_login

TOKEN_AUTH = ",tokenauth=true"
LISTENER = "SASL_SSL"
Change = Callable[[ScramClient], ScramClient]


def cases() -> list[ConnectionCase]:
    """Return all of them."""
    return [ConnectionCase(f"delegation token: {name}", LISTENER, _with_token(step)) for name, step in _uses().items()]


def _uses() -> dict[str, Callable[[ScramClient], Step]]:
    changes: dict[str, Change] = {
        "right": lambda scram: scram,
        "SHA-512": lambda scram: replace(scram, mechanism="SCRAM-SHA-512"),
        "wrong HMAC": lambda scram: replace(scram, password="wrong"),
        "HMAC in lower case": lambda scram: replace(scram, password=scram.password.lower()),
        "HMAC with a space": lambda scram: replace(scram, password=f"{scram.password} "),
        "the user's password": lambda scram: replace(scram, password=PASSWORD),
        "token id in lower case": lambda scram: replace(scram, user=scram.user.lower()),
        "token id with a space": lambda scram: replace(scram, user=f"{scram.user} "),
        "token id with a no-break space": lambda scram: replace(scram, user=f"{scram.user}\u00a0"),
        "token id with a NUL": lambda scram: replace(scram, user=f"{scram.user}\0"),
        "half of the token id": lambda scram: replace(scram, user=scram.user[:-1]),
        "empty token id": lambda scram: replace(scram, user=""),
        "name of the owner": lambda scram: replace(scram, user="alice"),
        "without the extension": lambda scram: replace(scram, extensions=""),
        "extension in capitals": lambda scram: replace(scram, extensions=",tokenauth=TRUE"),
        "extension with another name": lambda scram: replace(scram, extensions=",tokenAuth=true"),
        "extension with a space": lambda scram: replace(scram, extensions=",tokenauth=true "),
        "extension of 1": lambda scram: replace(scram, extensions=",tokenauth=1"),
        "extension twice, false last": lambda scram: replace(scram, extensions=",tokenauth=true,tokenauth=false"),
        "extension twice, true last": lambda scram: replace(scram, extensions=",tokenauth=false,tokenauth=true"),
        "authorization id of the owner": lambda scram: replace(scram, header="n,a=alice,"),
        "authorization id of a super user": lambda scram: replace(scram, header="n,a=admin,"),
        "authorization id of the token": lambda scram: replace(scram, header=f"n,a={scram.user},"),
        "a user with the extension": lambda scram: replace(scram, user="bob", password="bobs-secret"),
    }
    return {
        **{name: _logging_in(change) for name, change in changes.items()},
        "PLAIN": lambda scram: user_login(scram.user, scram.password),
        "PLAIN with the owner's name": lambda scram: user_login(password=scram.password),
        "PLAIN with the owner's authorization id": lambda scram: plain_login(
            plain(scram.user, scram.password, "alice")
        ),
    }


def _logging_in(change: Change) -> Callable[[ScramClient], Step]:
    return lambda scram: scram_login(change(scram))


def _with_token(use: Callable[[ScramClient], Step]) -> Step:
    """Return the step that creates a token of alice by a connection of its own, and uses it."""

    def run(client: SaslClient) -> None:
        assert isinstance(client, ProbeClient)
        owner = client.another()
        user_login()(owner)
        created = owner.connection.call(CREATE_DELEGATION_TOKEN, TOKEN_VERSION, {"renewers": [], "max_lifetime_ms": -1})
        token_id, password = created.text("token_id"), b64encode(created.data("hmac")).decode()
        owner.wait_for_token(token_id)
        owner.connection.close()
        header = b64encode(f"n,a={token_id},".encode()).decode()
        client.masked = {
            password: "HMAC",
            header: "HEADER",
            token_id: "TOKEN",
            token_id.lower(): "token",
            token_id[:-1]: "TOKE",
        }
        use(ScramClient("SCRAM-SHA-256", token_id, password, extensions=TOKEN_AUTH))(client)
        metadata(client)
        who_am_i(client)

    return run
