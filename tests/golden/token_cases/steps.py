"""The steps of which the cases are made."""

from __future__ import annotations

from collections.abc import Callable

from ..token_brokers import ALICE
from ..token_recorder import Principal, Token, TokenScene

Steps = Callable[[TokenScene], object]
OnToken = Callable[[TokenScene, Token], object]
INT64_MAX, INT64_MIN = 2**63 - 1, -(2**63)
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
# Enough for a clock of milliseconds to move on.
A_MOMENT_SECONDS = 0.05


def in_order(*steps: Steps) -> Steps:
    def run(scene: TokenScene) -> None:
        for step in steps:
            step(scene)

    return run


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


def renew(period_ms: int = -1, by: str = ALICE, version: int = 2) -> OnToken:
    return lambda scene, token: scene.renew(token, by, period_ms=period_ms, version=version)


def expire(period_ms: int = -1, by: str = ALICE, version: int = 2) -> OnToken:
    return lambda scene, token: scene.expire(token, by, period_ms=period_ms, version=version)


def described(scene: TokenScene, token: Token) -> None:
    scene.describe()


def moment(scene: TokenScene, token: Token) -> None:
    scene.wait(A_MOMENT_SECONDS)
