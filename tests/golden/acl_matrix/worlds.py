"""The worlds of the matrix: a client and the ACLs under which it sends its requests.

Enumerated worlds have one ACL for each operation of each resource type: ALLOW alone, and DENY beside ALLOW of all.
Drawn worlds have any ACLs, users, hosts and versions; a seed decides them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..acl_brokers import ADMIN, ALICE, BOB, CAROL, DAVE, MATRIX_PERMISSIVE, MATRIX_STRICT, OTHER_ALICE
from ..acls import CLUSTER_NAME, WILDCARD, Acl, Acls, Operation
from . import requests_of_cluster, requests_of_groups, requests_of_records
from .request import Request
from .requests_of_records import CLOSED, DOOMED, MISSING, OPEN

SEED = 44
DRAWN_COUNT = 170
# So many of the requests are sent in a drawn world.
ASKED_COUNT = 40
ACL_COUNT_MAX = 9
LOCALHOST, OTHER_HOST = "127.0.0.1", "127.0.0.2"
BOBS_TOKEN = "token of bob"

REQUESTS: list[Request] = [
    *requests_of_records.REQUESTS,
    *requests_of_groups.REQUESTS,
    *requests_of_cluster.REQUESTS,
]
# The operations that Kafka has for each resource type.
_OF_CONFIGS = ("DESCRIBE_CONFIGS", "ALTER_CONFIGS")
OPERATIONS = {
    "TOPIC": ("ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", *_OF_CONFIGS),
    "GROUP": ("ALL", "READ", "DELETE", "DESCRIBE", *_OF_CONFIGS),
    "CLUSTER": ("ALL", "CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", *_OF_CONFIGS, "IDEMPOTENT_WRITE"),
    "TRANSACTIONAL_ID": ("ALL", "WRITE", "DESCRIBE", "TWO_PHASE_COMMIT"),
    "DELEGATION_TOKEN": ("ALL", "DESCRIBE"),
    "USER": ("ALL", "CREATE_TOKENS", "DESCRIBE_TOKENS"),
}
# The resources that the enumerated ACLs name.
_NAMED = {
    "TOPIC": (OPEN, DOOMED[0]),
    "GROUP": (OPEN, DOOMED[0]),
    "CLUSTER": (CLUSTER_NAME,),
    "TRANSACTIONAL_ID": (OPEN,),
    "DELEGATION_TOKEN": (BOBS_TOKEN,),
    "USER": ("User:bob",),
}
_ALLOWED: Acls = tuple(
    Acl(resource_type, CLUSTER_NAME if resource_type == "CLUSTER" else WILDCARD, "ALL") for resource_type in OPERATIONS
)

# What is drawn, each as often as it is here.
_LITERALS = (OPEN, OPEN, OPEN, CLOSED, MISSING, *DOOMED, "ope", "Open", WILDCARD, WILDCARD)
_PREFIXES = ("o", "op", OPEN, "open-", "c", CLOSED, "m", "d", "s", "O", WILDCARD)
_TYPES = (
    *("TOPIC",) * 9,
    *("GROUP",) * 5,
    *("CLUSTER",) * 4,
    *("TRANSACTIONAL_ID",) * 4,
    "DELEGATION_TOKEN",
    *("USER",) * 2,
)
_PRINCIPALS = (*("User:*",) * 4, "User:bob", "User:Alice", "User:carol", "Group:alice", "User:alic", "User:")
_HOSTS = (*(WILDCARD,) * 7, LOCALHOST, LOCALHOST, OTHER_HOST, "localhost", "127.0.0.*")
_USERS = (*(ALICE,) * 8, *(BOB,) * 2, OTHER_ALICE, CAROL, DAVE, ADMIN)

_T = TypeVar("_T")


@dataclass(frozen=True)
class World:
    """One set of ACLs on a broker, a user on a host, and the requests, each with its version."""

    name: str
    broker: str
    user: str
    host: str
    acls: Acls
    asked: tuple[tuple[Request, int], ...]


def worlds(seed: int = SEED) -> list[World]:
    """Return all worlds, those of a broker together."""
    every = [*_enumerated(), *(_drawn(seed, number) for number in range(1, DRAWN_COUNT + 1))]
    return [world for broker in (MATRIX_STRICT, MATRIX_PERMISSIVE) for world in every if world.broker == broker]


def _enumerated() -> Iterator[World]:
    newest = tuple((request, request.versions[-1]) for request in REQUESTS)

    def world(name: str, acls: Acls, user: str = ALICE, broker: str = MATRIX_STRICT) -> World:
        return World(name, broker, user, LOCALHOST, acls, newest)

    yield world("no ACL", ())
    yield world("ALL of all", _ALLOWED)
    for user in (CAROL, DAVE, ADMIN):
        denied = tuple(Acl(acl.resource_type, acl.name, "ALL", "DENY", principal="User:*") for acl in _ALLOWED)
        yield world(f"ALL denied to everyone, {user}", denied, user)
    yield world("no ACL, permissive", (), broker=MATRIX_PERMISSIVE)
    for resource_type, operations in OPERATIONS.items():
        for operation in operations:
            allowed = tuple(Acl(resource_type, name, operation) for name in _NAMED[resource_type])
            denied = tuple(Acl(resource_type, name, operation, "DENY") for name in _NAMED[resource_type])
            yield world(f"{operation} of {resource_type}", allowed)
            yield world(f"ALL of all, but deny {operation} of {resource_type}", _ALLOWED + denied)


def _drawn(seed: int, number: int) -> World:
    draw = random.Random(f"{seed} {number}")
    user = _one(draw, _USERS)
    acls = {_acl(draw, user) for _ in range(draw.randint(1, ACL_COUNT_MAX))}
    chosen = sorted(draw.sample(range(len(REQUESTS)), ASKED_COUNT))
    return World(
        f"seed {seed}, world {number}",
        _one(draw, (MATRIX_STRICT, MATRIX_STRICT, MATRIX_PERMISSIVE)),
        user,
        _one(draw, (LOCALHOST, OTHER_HOST)),
        tuple(sorted(acls, key=str)),
        tuple((REQUESTS[index], _one(draw, REQUESTS[index].versions)) for index in chosen),
    )


def _acl(draw: random.Random, user: str) -> Acl:
    resource_type = _one(draw, _TYPES)
    pattern = "PREFIXED" if draw.random() < 0.35 and resource_type != "CLUSTER" else "LITERAL"
    names: Sequence[str] = _LITERALS if pattern == "LITERAL" else _PREFIXES
    if resource_type == "CLUSTER":
        names = (CLUSTER_NAME,)
    elif resource_type == "USER":
        names = ("User:bob", "User:carol", WILDCARD) if pattern == "LITERAL" else ("User:", "User:b", "bob")
    elif resource_type == "DELEGATION_TOKEN" and pattern == "LITERAL":
        names = (BOBS_TOKEN, WILDCARD)
    kind = draw.random()
    # An operation of the type, ALL, or one that Kafka has for another type.
    operations = OPERATIONS[resource_type] if kind < 0.6 else ("ALL",)
    if kind > 0.92:
        operations = tuple(each.name for each in Operation if each > Operation.ANY)
    return Acl(
        resource_type,
        _one(draw, names),
        _one(draw, operations),
        "DENY" if draw.random() < 0.25 else "ALLOW",
        pattern,
        f"User:{user}" if draw.random() < 0.6 else _one(draw, _PRINCIPALS),
        _one(draw, _HOSTS),
    )


def _one(draw: random.Random, choices: Sequence[_T]) -> _T:
    return choices[draw.randrange(len(choices))]
