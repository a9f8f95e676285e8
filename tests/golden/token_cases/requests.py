"""DescribeDelegationToken, ACLs, listeners and versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..case_recorder import in_order
from ..token_brokers import ADMIN, ALICE, BOB, CAROL, MARKER
from ..token_recorder import NO_TOKEN, Principal, Token, TokenScene, user
from .steps import (
    Steps,
    changes_by,
    create,
    creations_by,
)


def descriptions() -> dict[str, Steps]:
    owners: Mapping[str, list[Principal] | None] = {
        "of null": None,
        "of none": [],
        "of the user": [user(ALICE)],
        "of another user": [user(BOB)],
        "of the user and another": [user(ALICE), user(BOB)],
        "of the user twice": [user(ALICE), user(ALICE)],
        "of an unknown user": [user("dave")],
        "of another type": [("Group", ALICE)],
        "of an empty name": [user("")],
        "of an empty type": [("", ALICE)],
        "of a null type": [(None, ALICE)],
        "of a null name": [("User", None)],
    }

    def set_up(scene: TokenScene) -> None:
        scene.create(ALICE)
        scene.create(BOB)
        scene.create(BOB, renewers=(user(ALICE), user(CAROL)))
        scene.create(ADMIN, owner=user(ALICE))
        scene.create(ADMIN, owner=user(CAROL))

    def describe(by: str, of: list[Principal] | None) -> Steps:
        return in_order(set_up, lambda scene: scene.describe(by, of))

    return {
        **{f"describe tokens {name}": describe(ALICE, each) for name, each in owners.items()},
        **{f"describe tokens as a super user {name}": describe(ADMIN, each) for name, each in owners.items()},
        "describe as a renewer": describe(CAROL, None),
        "describe as a requester": describe(ADMIN, [user(ADMIN)]),
        "describe as a stranger": in_order(set_up, lambda scene: scene.describe(MARKER)),
    }


def permissions() -> dict[str, Steps]:
    def describe(operation: str, *names: str) -> Steps:
        def run(scene: TokenScene) -> None:
            scene.create(BOB)
            scene.create(CAROL)
            for name in names:
                scene.allow(ALICE, operation, ("USER", name))
            scene.describe(ALICE)
            scene.describe(ALICE, [user(BOB)])

        return run

    def describe_by_token(operation: str, permission_on: Callable[[Token], str]) -> Steps:
        def run(scene: TokenScene) -> None:
            token = scene.create(BOB)
            scene.create(CAROL)
            scene.allow(ALICE, operation, ("DELEGATION_TOKEN", permission_on(token)))
            scene.describe(ALICE)
            scene.describe(ALICE, [user(CAROL)])
            scene.renew(token, ALICE)
            scene.expire(token, ALICE)

        return run

    def denied(scene: TokenScene) -> None:
        token = scene.create()
        scene.allow(ALICE, "DESCRIBE", ("DELEGATION_TOKEN", token.token_id), permission="DENY")
        scene.describe()

    return {
        "describe with DESCRIBE_TOKENS on bob": describe("DESCRIBE_TOKENS", "User:bob"),
        "describe with DESCRIBE_TOKENS on all users": describe("DESCRIBE_TOKENS", "*"),
        "describe with DESCRIBE_TOKENS on the name alone": describe("DESCRIBE_TOKENS", "bob"),
        "describe with CREATE_TOKENS on bob": describe("CREATE_TOKENS", "User:bob"),
        "describe with ALL on bob": describe("ALL", "User:bob"),
        "describe with DESCRIBE on the token": describe_by_token("DESCRIBE", lambda token: token.token_id),
        "describe with ALL on the token": describe_by_token("ALL", lambda token: token.token_id),
        "describe with DESCRIBE on all tokens": describe_by_token("DESCRIBE", lambda token: "*"),
        "describe with DESCRIBE on another token": describe_by_token("DESCRIBE", lambda token: "another"),
        "describe the own token although denied": denied,
    }


def listeners() -> dict[str, Steps]:
    def requests(by: str) -> Steps:
        def run(scene: TokenScene) -> None:
            token = scene.create()
            creations_by(scene, by, BOB)
            changes_by(scene, by, token, NO_TOKEN)

        return run

    names = ("ANONYMOUS on PLAINTEXT", "ANONYMOUS on SSL", "certificate on SSL", "alice on SASL_SSL")
    return {f"requests of {name}": requests(name) for name in names}


def versions() -> dict[str, Steps]:
    def of_version(version: int) -> Steps:
        def run(scene: TokenScene) -> None:
            token = scene.create(renewers=(user(BOB),), version=version)
            scene.describe(version=version)
            scene.renew(token, version=min(2, version))
            scene.describe(owners=[], version=version)
            scene.describe(owners=[user(BOB)], version=version)
            scene.expire(token, version=min(2, version))

        return run

    def errors_of(version: int) -> Steps:
        def run(scene: TokenScene) -> None:
            by = "ANONYMOUS on PLAINTEXT"
            scene.create(by, version=version)
            scene.create(renewers=(("Group", BOB),), version=version)
            scene.describe(by, version=version)
            scene.renew(NO_TOKEN, by, version=min(2, version))
            scene.expire(NO_TOKEN, by, version=min(2, version))

        return run

    unsupported: dict[str, Steps] = {
        **{f"CreateDelegationToken v{version}": create(version=version) for version in (0, 4)},
        **{f"DescribeDelegationToken v{version}": _describe_in(version) for version in (0, 4)},
        **{f"RenewDelegationToken v{version}": _renew_in(version) for version in (0, 3)},
        **{f"ExpireDelegationToken v{version}": _expire_in(version) for version in (0, 3)},
    }
    return {
        **{f"version {version}": of_version(version) for version in (1, 2, 3)},
        **{f"errors in version {version}": errors_of(version) for version in (1, 2, 3)},
        **{f"unsupported: {name}": steps for name, steps in unsupported.items()},
    }


def _describe_in(version: int) -> Steps:
    return lambda scene: scene.describe(version=version)


def _renew_in(version: int) -> Steps:
    return lambda scene: scene.renew(NO_TOKEN, version=version)


def _expire_in(version: int) -> Steps:
    return lambda scene: scene.expire(NO_TOKEN, version=version)
