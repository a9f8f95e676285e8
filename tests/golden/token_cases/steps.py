"""The steps of which the cases are made."""

from __future__ import annotations

from collections.abc import Callable

from ..token_brokers import ALICE, BOB
from ..token_recorder import Principal, Requester, Token, TokenScene, user

Steps = Callable[[TokenScene], object]
OnToken = Callable[[TokenScene, Token], object]
INT64_MAX, INT64_MIN = 2**63 - 1, -(2**63)
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
# Enough for a clock of milliseconds to move on.
A_MOMENT_SECONDS = 0.05


def on_token(*steps: OnToken, renewers: tuple[Principal, ...] = (), max_lifetime_ms: int = -1) -> Steps:
    """Create a token of alice, and do this with it."""

    def run(scene: TokenScene) -> None:
        token = scene.create(renewers=renewers, max_lifetime_ms=max_lifetime_ms)
        for step in steps:
            step(scene, token)

    return run


def create(
    by: str = ALICE,
    owner: Principal | None = None,
    renewers: tuple[Principal, ...] = (),
    max_lifetime_ms: int = -1,
    version: int = 3,
) -> Steps:
    return lambda scene: scene.create(
        by, owner=owner, renewers=renewers, max_lifetime_ms=max_lifetime_ms, version=version
    )


def renew(period_ms: int = -1, by: str = ALICE) -> OnToken:
    return lambda scene, token: scene.renew(token, by, period_ms=period_ms)


def expire(period_ms: int = -1, by: str = ALICE) -> OnToken:
    return lambda scene, token: scene.expire(token, by, period_ms=period_ms)


def creations_by(scene: TokenScene, by: Requester, *owners: str) -> None:
    """Create a token for the requester, one for each owner, and one with a renewer of an invalid type."""
    scene.create(by)
    for owner in owners:
        scene.create(by, owner=user(owner))
    scene.create(by, renewers=(("Group", BOB),))


def changes_by(scene: TokenScene, by: Requester, *tokens: Token) -> None:
    """Describe tokens of all owners and of none, renew each of these tokens, and expire each."""
    scene.describe(by)
    scene.describe(by, [])
    for token in tokens:
        scene.renew(token, by)
    for token in tokens:
        scene.expire(token, by)


def described(scene: TokenScene, token: Token) -> None:
    scene.describe()


def moment(scene: TokenScene, token: Token) -> None:
    scene.wait(A_MOMENT_SECONDS)
