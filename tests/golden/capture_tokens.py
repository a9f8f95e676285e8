"""Delegation tokens: python -m tests.golden.regenerate tokens. See token_recorder for its lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

from .case_recorder import in_order
from .sasl_client import Addresses
from .token_brokers import (
    ADMIN,
    ALICE,
    BOB,
    CAROL,
    DISABLED,
    EMPTY_KEY,
    OPEN,
    SHORT,
    SHORT_EXPIRY_MS,
    SHORT_LIFETIME_MS,
    STRICT,
    client_certificate,
)
from .token_cases.changes import creations, expirations, owners, owners_as_renewers, permissions_for_owners, renewals
from .token_cases.logins import logins, requests_by_token, sessions
from .token_cases.requests import descriptions, listeners, permissions, versions
from .token_cases.steps import Steps, changes_by, create, creations_by, on_token
from .token_recorder import NO_TOKEN, Token, TokenScene, user

SHORT_EXPIRED_SECONDS = (SHORT_EXPIRY_MS + 500) / 1000
SHORT_OVER_SECONDS = (SHORT_LIFETIME_MS + 500) / 1000


def capture(addresses: Addresses, broker: str, folder: Path, output: TextIO) -> None:
    """Run the cases of a broker of token_brokers, and write a line of each to output."""
    scene = TokenScene(addresses, broker, client_certificate(folder))
    for name, steps in cases_of(broker).items():
        scene.begin_case()
        steps(scene)
        output.write(json.dumps(scene.line(name, broker), ensure_ascii=False) + "\n")
    scene.close()


def cases_of(broker: str) -> Mapping[str, Steps]:
    """Return the cases of a broker by name. The first one is for a broker that has never had a token."""
    return dict(_CASES[broker]())


def _strict() -> Iterator[tuple[str, Steps]]:
    yield (
        "no tokens",
        in_order(
            lambda scene: scene.describe(),
            lambda scene: scene.describe(owners=[]),
            lambda scene: scene.describe(owners=[user(ALICE)]),
            lambda scene: scene.renew(NO_TOKEN),
            lambda scene: scene.expire(NO_TOKEN),
        ),
    )
    for group in (
        creations(),
        owners(),
        permissions_for_owners(),
        owners_as_renewers(),
        renewals(),
        expirations(),
        descriptions(),
        permissions(),
        listeners(),
        logins(),
        sessions(),
        requests_by_token(),
        versions(),
    ):
        yield from group.items()


def _open() -> Iterator[tuple[str, Steps]]:
    def for_another(scene: TokenScene) -> None:
        token = scene.create(owner=user(BOB), renewers=(user(CAROL),))
        for by in (ALICE, BOB, CAROL, ADMIN):
            scene.describe(by)
        scene.renew(token)
        scene.renew(token, CAROL)
        scene.expire(token, BOB)

    yield "without an authorizer: a token for another user", for_another
    yield (
        "without an authorizer: a token for a group",
        lambda scene: scene.log_in(scene.create(owner=("Group", BOB))),
    )
    yield (
        "without an authorizer: describe by owners",
        in_order(
            create(),
            create(BOB),
            lambda scene: scene.describe(CAROL, [user(BOB)]),
            lambda scene: scene.describe(CAROL),
        ),
    )
    yield from ((f"without an authorizer: {name}", steps) for name, steps in listeners().items())


def _short() -> Iterator[tuple[str, Steps]]:
    def removed(scene: TokenScene, token: Token) -> None:
        scene.describe()
        scene.wait(SHORT_EXPIRED_SECONDS)
        scene.describe()
        scene.renew(token)
        scene.expire(token)
        scene.log_in(token)

    def renewed(scene: TokenScene, token: Token) -> None:
        scene.wait(1.5)
        scene.renew(token)
        scene.wait(1)
        scene.describe()
        scene.wait(SHORT_OVER_SECONDS - 2.5)
        scene.describe()
        scene.renew(token)

    def kept(scene: TokenScene, token: Token) -> None:
        client = scene.log_in(token)
        scene.expire(token)
        scene.metadata(client)
        scene.wait(SHORT_EXPIRED_SECONDS)
        scene.metadata(client)

    lifetimes = (-1, 1000, 2500, 10_000)
    yield from (
        (f"short: create with a lifetime of {lifetime}", create(max_lifetime_ms=lifetime)) for lifetime in lifetimes
    )
    yield "short: removed after its expiry", on_token(removed)
    yield "short: renewed up to its end", on_token(renewed)
    yield "short: session ends with the expiry that its token had", on_token(kept)


def _disabled() -> Iterator[tuple[str, Steps]]:
    def requests(by: str) -> Steps:
        def run(scene: TokenScene) -> None:
            creations_by(scene, by, BOB)
            scene.create(by, version=1)
            changes_by(scene, by, NO_TOKEN)

        return run

    for by in (ALICE, ADMIN, "ANONYMOUS on PLAINTEXT"):
        yield f"without a key: requests of {by}", requests(by)
    yield "without a key: login", lambda scene: scene.log_in(NO_TOKEN)


_CASES: Mapping[str, Callable[[], Iterator[tuple[str, Steps]]]] = {
    STRICT: _strict,
    OPEN: _open,
    SHORT: _short,
    DISABLED: _disabled,
    EMPTY_KEY: _disabled,
}
