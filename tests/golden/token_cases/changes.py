"""CreateDelegationToken, RenewDelegationToken and ExpireDelegationToken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..case_recorder import in_order
from ..token_brokers import ADMIN, ALICE, BOB, CAROL
from ..token_recorder import Principal, Token, TokenScene, user
from .steps import (
    DAY_MS,
    HOUR_MS,
    INT64_MAX,
    INT64_MIN,
    MINUTE_MS,
    OnToken,
    Steps,
    create,
    described,
    expire,
    moment,
    on_token,
    renew,
)

GROUP_OF_BOB: Principal = ("Group", BOB)


def creations() -> dict[str, Steps]:
    lifetimes = (-1, 0, -2, INT64_MIN, 1, MINUTE_MS, DAY_MS, 3 * DAY_MS, 7 * DAY_MS, 8 * DAY_MS, INT64_MAX)
    renewers: Mapping[str, tuple[Principal, ...]] = {
        "bob": (user(BOB),),
        "two": (user(CAROL), user(BOB)),
        "bob twice": (user(BOB), user(BOB)),
        "the owner": (user(ALICE),),
        "an unknown user": (user("dave"),),
        "an empty name": (user(""),),
        "a group": (("Group", BOB),),
        "bob and a group": (user(BOB), ("Group", BOB)),
        "type in lower case": (("user", BOB),),
        "an empty type": (("", BOB),),
        "a null type": ((None, BOB),),
        "a null name": (("User", None),),
        "not ASCII": (user("ü"),),
    }
    return {
        "create": in_order(create(), lambda scene: scene.describe()),
        "create two": in_order(create(), create(), lambda scene: scene.describe()),
        "create for different users": in_order(
            create(), create(BOB), lambda scene: scene.describe(), lambda scene: scene.describe(BOB)
        ),
        **{
            f"create with a lifetime of {lifetime}": in_order(
                create(max_lifetime_ms=lifetime), lambda scene: scene.describe()
            )
            for lifetime in lifetimes
        },
        **{
            f"create with the renewer: {name}": in_order(create(renewers=each), lambda scene: scene.describe())
            for name, each in renewers.items()
        },
    }


def owners() -> dict[str, Steps]:
    owners: Mapping[str, Principal] = {
        "bob": user(BOB),
        "the requester": user(ALICE),
        "an unknown user": user("dave"),
        "a group": ("Group", BOB),
        "the requester's name with another type": ("Group", ALICE),
        "an empty name": user(""),
        "an empty name with another type": ("Group", ""),
        "an empty type": ("", BOB),
        "a null type": (None, BOB),
        "a null name": ("User", None),
    }
    return {
        **{f"create without permission for {name}": create(owner=owner) for name, owner in owners.items()},
        **{
            f"create as a super user for {name}": in_order(create(ADMIN, owner=owner), _described_to_three)
            for name, owner in owners.items()
        },
    }


def _described_to_three(scene: TokenScene) -> None:
    for by in (ADMIN, ALICE, BOB):
        scene.describe(by)


def permissions_for_owners() -> dict[str, Steps]:
    return {
        "create with permission for bob": in_order(
            _allowed("CREATE_TOKENS", "User:bob"), create(owner=user(BOB)), _described_to_three
        ),
        "create with permission for bob, by the name alone": in_order(
            _allowed("CREATE_TOKENS", "bob"), create(owner=user(BOB))
        ),
        "create with permission for all users": in_order(_allowed("CREATE_TOKENS", "*"), create(owner=user(BOB))),
        "create with permission for users by prefix": in_order(
            lambda scene: scene.allow(ALICE, "CREATE_TOKENS", ("USER", "User:b"), pattern="PREFIXED"),
            create(owner=user(BOB)),
            create(owner=user(CAROL)),
        ),
        "create with permission for a group": in_order(
            _allowed("CREATE_TOKENS", "Group:bob"), create(owner=GROUP_OF_BOB), _described_to_three
        ),
        "create with all permissions for bob": in_order(_allowed("ALL", "User:bob"), create(owner=user(BOB))),
        "create with permission to describe for bob": in_order(
            _allowed("DESCRIBE_TOKENS", "User:bob"), create(owner=user(BOB))
        ),
        "create for bob, who is denied": in_order(
            _allowed("CREATE_TOKENS", "*"),
            lambda scene: scene.allow(ALICE, "CREATE_TOKENS", ("USER", "User:bob"), permission="DENY"),
            create(owner=user(BOB)),
        ),
        "create for oneself although denied": in_order(
            lambda scene: scene.allow(ALICE, "CREATE_TOKENS", ("USER", "User:alice"), permission="DENY"),
            create(owner=user(ALICE)),
        ),
        "create without permission for bob, with a renewer of another type": create(
            owner=user(BOB), renewers=(GROUP_OF_BOB,)
        ),
    }


def owners_as_renewers() -> dict[str, Steps]:
    admins = user(ADMIN)
    return {
        "requester is no renewer": lambda scene: _each(
            scene.create(ADMIN, owner=user(BOB)), scene, renew(by=ADMIN), expire(by=ADMIN), renew(by=BOB)
        ),
        "owner of another type is no renewer": lambda scene: _each(
            scene.create(ADMIN, owner=GROUP_OF_BOB), scene, renew(by=BOB), expire(by=BOB)
        ),
        "super user is no renewer": on_token(renew(by=ADMIN), expire(by=ADMIN)),
        "super user for another super user": in_order(create(ALICE, owner=admins), create(ADMIN, owner=admins)),
    }


def _each(token: Token, scene: TokenScene, *steps: OnToken) -> None:
    for step in steps:
        step(scene, token)


def _allowed(operation: str, owner: str) -> Steps:
    return lambda scene: scene.allow(ALICE, operation, ("USER", owner))


def renewals() -> dict[str, Steps]:
    periods = (-1, 0, -2, INT64_MIN, 1, MINUTE_MS, HOUR_MS, DAY_MS, 2 * DAY_MS, INT64_MAX)
    return {
        **{f"renew for {period}": on_token(renew(period), described) for period in periods},
        "renew again": on_token(renew(HOUR_MS), renew(MINUTE_MS), renew(2 * HOUR_MS), described),
        "renew beyond the end": on_token(renew(), renew(2 * HOUR_MS), described, max_lifetime_ms=HOUR_MS),
        "renew up to less than the end": on_token(renew(MINUTE_MS), described, max_lifetime_ms=HOUR_MS),
        "renew as renewer": on_token(renew(HOUR_MS, BOB), described, renewers=(user(BOB),)),
        "renew as a stranger": on_token(renew(HOUR_MS, CAROL), described, renewers=(user(BOB),)),
        "renew after its expiry": on_token(expire(0), moment, renew(), renew(by=BOB), described),
        "renew after its end": on_token(moment, renew(), described, max_lifetime_ms=1),
        "renew after its removal": on_token(expire(), renew(), described),
        "renew by an empty HMAC": lambda scene: scene.renew_by(b""),
        "renew by a null HMAC": lambda scene: scene.renew_by(None),
        "renew by another HMAC": on_token(lambda scene, token: scene.renew_by(b"x" * 64)),
        "renew by the token id": on_token(
            lambda scene, token: scene.renew(replace(token, hmac=b"id: " + token.token_id.encode()))
        ),
    }


def expirations() -> dict[str, Steps]:
    periods = (-1, -2, INT64_MIN, 0, 1, MINUTE_MS, DAY_MS, 2 * DAY_MS, 7 * DAY_MS, 8 * DAY_MS, INT64_MAX)
    return {
        **{
            f"expire after {period}": on_token(expire(period), *([described] if period not in (0, 1) else []))
            for period in periods
        },
        "expire after a time beyond the end": on_token(expire(HOUR_MS), described, max_lifetime_ms=MINUTE_MS),
        "expire as renewer": on_token(expire(HOUR_MS, BOB), described, renewers=(user(BOB),)),
        "expire at once as renewer": on_token(expire(-1, BOB), described, renewers=(user(BOB),)),
        "expire as a stranger": on_token(expire(HOUR_MS, CAROL), described, renewers=(user(BOB),)),
        "expire at once as a stranger": on_token(expire(-1, CAROL), described),
        "expire again": on_token(expire(), expire(), expire(MINUTE_MS)),
        "expire and renew": on_token(expire(MINUTE_MS), renew(HOUR_MS), described),
        "expire after its expiry": on_token(expire(0), moment, expire(0), expire(HOUR_MS), expire(0, BOB), described),
        "expire at once after its expiry": on_token(expire(0), moment, described, expire(), described),
        "expire by an empty HMAC": lambda scene: scene.expire_by(b""),
        "expire by a null HMAC": lambda scene: scene.expire_by(None),
        "expire by another HMAC": on_token(lambda scene, token: scene.expire_by(b"x" * 64), described),
    }
