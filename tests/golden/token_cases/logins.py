"""Logins with a token, their sessions, and the requests of their clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..capture_sasl import REAUTH_PAUSE_SECONDS
from ..sasl_client import ScramClient
from ..token_brokers import ADMIN, ALICE, BOB
from ..token_recorder import NO_TOKEN, Token, TokenScene, scram_of, scram_user, user
from .steps import (
    HOUR_MS,
    Steps,
    changes_by,
    creations_by,
    expire,
    moment,
    on_token,
    renew,
)

SHA_512 = "SCRAM-SHA-512"


def logins() -> dict[str, Steps]:
    def with_scram(change: Callable[[Token], ScramClient]) -> Steps:
        return on_token(lambda scene, token: scene.log_in(token, change(token)))

    def log_in(scene: TokenScene, token: Token) -> None:
        scene.log_in(token)

    return {
        "login": on_token(log_in),
        "login by SHA-512": with_scram(lambda token: scram_of(token, SHA_512)),
        "login twice": on_token(log_in, log_in),
        "login with tokenauth in capitals": with_scram(
            lambda token: replace(scram_of(token), extensions=",tokenauth=TRUE")
        ),
        "login with tokenauth=false": with_scram(lambda token: replace(scram_of(token), extensions=",tokenauth=false")),
        "login with tokenauth=1": with_scram(lambda token: replace(scram_of(token), extensions=",tokenauth=1")),
        "login without the extension": with_scram(lambda token: replace(scram_of(token), extensions="")),
        "login with a wrong HMAC": with_scram(lambda token: replace(scram_of(token), password="wrong")),
        "login with the HMAC of another token": lambda scene: scene.log_in(
            NO_TOKEN, replace(scram_of(scene.create()), password=scene.create().password)
        ),
        "login with the user's password": with_scram(
            lambda token: replace(scram_user(), user=token.token_id, extensions=",tokenauth=true")
        ),
        "login with an unknown token": on_token(log_in_without_token),
        "login with the owner's name": with_scram(lambda token: replace(scram_of(token), user=ALICE)),
        "login of a user with tokenauth": with_scram(lambda token: scram_user(",tokenauth=true")),
        "login with the token id as authorization id": with_scram(
            lambda token: replace(scram_of(token), header=f"n,a={token.token_id},")
        ),
        "login with the owner as authorization id": with_scram(
            lambda token: replace(scram_of(token), header="n,a=alice,")
        ),
        "login by PLAIN with the token id": on_token(
            lambda scene, token: scene.log_in_by_plain(token.token_id, token.password)
        ),
        "login after its removal": on_token(log_in, expire(), log_in),
        "login after a renewal": on_token(renew(HOUR_MS), log_in),
        "login with a token of another owner": lambda scene: log_in(scene, scene.create(ADMIN, owner=user(BOB))),
        "login with a token of a group": lambda scene: log_in(scene, scene.create(ADMIN, owner=("Group", BOB))),
        "login after its expiry": on_token(expire(0), moment, lambda scene, token: scene.metadata(scene.log_in(token))),
    }


def log_in_without_token(scene: TokenScene, token: Token) -> None:
    """Log in with an unknown token id."""
    scene.log_in(NO_TOKEN)


def sessions() -> dict[str, Steps]:
    return {
        "session with a limit of the listener": on_token(lambda scene, token: scene.log_in(token, listener="SESSIONS")),
        "session with the end of its token before that of the listener": on_token(
            expire(1000), lambda scene, token: scene.log_in(token, listener="SESSIONS")
        ),
        "session of a token of a day": on_token(lambda scene, token: scene.metadata(scene.log_in(token))),
        "authenticate again with the token": on_token(_again),
        "authenticate again with another token of the owner": _again_with_another(ALICE),
        "authenticate again with the token of another owner": _again_with_another(BOB),
        "authenticate again as the user": on_token(_again_as_the_user),
        "authenticate a user again with a token": _again_by_token,
        "session after the removal of its token": on_token(_again_after_removal),
        "session after the expiry of its token": on_token(_ended),
        "session after the renewal of its token": on_token(_renewed_in_vain),
    }


def _again(scene: TokenScene, token: Token) -> None:
    client = scene.log_in(token)
    scene.wait(REAUTH_PAUSE_SECONDS)
    scene.authenticate(client, scram_of(token))
    scene.create(client)


def _again_with_another(owner: str) -> Steps:
    def run(scene: TokenScene) -> None:
        client = scene.log_in(scene.create())
        other = scene.create(owner)
        scene.wait(REAUTH_PAUSE_SECONDS)
        scene.authenticate(client, scram_of(other))

    return run


def _again_as_the_user(scene: TokenScene, token: Token) -> None:
    client = scene.log_in(token)
    scene.wait(REAUTH_PAUSE_SECONDS)
    scene.authenticate(client, scram_user())
    scene.create(client)


def _again_by_token(scene: TokenScene) -> None:
    client = scene.log_in(NO_TOKEN, scram_user(), "SESSIONS")
    token = scene.create()
    scene.create(client)
    scene.wait(REAUTH_PAUSE_SECONDS)
    scene.authenticate(client, scram_of(token))
    scene.create(client)


def _again_after_removal(scene: TokenScene, token: Token) -> None:
    client = scene.log_in(token)
    scene.expire(token)
    scene.metadata(client)
    scene.wait(REAUTH_PAUSE_SECONDS)
    scene.authenticate(client, scram_of(token))


def _ended(scene: TokenScene, token: Token) -> None:
    scene.expire(token, period_ms=2000)
    client = scene.log_in(token)
    scene.metadata(client)
    scene.wait(2.5)
    scene.metadata(client)


def _renewed_in_vain(scene: TokenScene, token: Token) -> None:
    scene.expire(token, period_ms=2000)
    client = scene.log_in(token)
    scene.renew(token)
    scene.wait(2.5)
    scene.metadata(client)


def requests_by_token() -> dict[str, Steps]:
    def requests(scene: TokenScene, token: Token) -> None:
        client = scene.log_in(token)
        creations_by(scene, client, ALICE, BOB)
        changes_by(scene, client, token, NO_TOKEN)

    return {
        "requests of a client with a token": on_token(requests),
        "requests of a client with a token of another owner": lambda scene: requests(
            scene, scene.create(ADMIN, owner=user(BOB))
        ),
        "requests of a client with a token of a super user": lambda scene: requests(scene, scene.create(ADMIN)),
    }
