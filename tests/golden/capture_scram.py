"""SCRAM credentials: python -m tests.golden.regenerate scram. See scram_recorder for its lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

from .case_recorder import in_order
from .sasl_client import Addresses, SaslClient
from .scram_recorder import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    SHA_256,
    SHA_512,
    Case,
    Change,
    Deletion,
    ScramScene,
    Upsertion,
    run_case,
)

Steps = Callable[[ScramScene], None]
BOB = Upsertion("bob", password="bobs-secret")
NOT_SALTED = Upsertion("carol", salted_password=b"")
# Not ASCII; only by NFKC the same as others; control characters; longer than a name of a topic.
NAMES = {
    "an umlaut": "ü",
    "Greek": "αλίκη",
    "an emoji": "\N{GRINNING FACE}",
    "a composed character": "\N{LATIN SMALL LETTER E WITH ACUTE}",
    "a combining character": "e\N{COMBINING ACUTE ACCENT}",
    "a comma and an equals sign": "a,b=c",
    "a space": "al ice",
    "spaces around it": " alice ",
    "a colon": "User:alice",
    "a slash": "a/b",
    "a NUL": "al\0ice",
    "a newline": "al\nice",
    "capitals": "ALICE",
    "1000 characters": "x" * 1000,
    "the name of a default entity": "<default>",
}


def capture(addresses: Addresses, output: TextIO) -> None:
    """Run every case against a broker of scram_brokers, and write a line of each to output."""
    scene = ScramScene(addresses)
    for case in cases():
        output.write(json.dumps(run_case(scene, case), ensure_ascii=False) + "\n")
    scene.close()


def cases() -> Iterator[Case]:
    """Return all cases. The first one is for a broker that has never had a credential."""
    yield "no credentials", in_order(_describe_all, _describe(), _describe("alice"))
    for group in (_upsertions(), _values(), _deletions(), _twice(), _descriptions(), _logins(), _names(), _requests()):
        yield from group.items()


def _alter(*changes: Change, version: int = 0) -> Steps:
    return lambda scene: scene.alter(*changes, version=version)


def _describe(*users: str, version: int = 0) -> Steps:
    return lambda scene: scene.describe(*users, version=version)


def _describe_all(scene: ScramScene) -> None:
    scene.describe_all()


def _log_in(user: str = "alice", password: str = "secret", mechanism: int = SHA_256) -> Steps:
    return lambda scene: scene.log_in(user, password, mechanism).connection.close()


def _altered(*changes: Change) -> Steps:
    """Alter credentials, and describe what there is then."""
    return in_order(_alter(*changes), _describe_all)


def _upsertions() -> dict[str, Steps]:
    both = in_order(_alter(Upsertion()), _altered(Upsertion(mechanism=SHA_512, password="another")))
    return {
        "create by SHA-256": _altered(Upsertion()),
        "create by SHA-512": _altered(Upsertion(mechanism=SHA_512)),
        "create by both, in two requests": both,
        "create two users": _altered(Upsertion(), BOB),
        "create two users by different mechanisms": _altered(Upsertion(), Upsertion("bob", SHA_512)),
        "overwrite with other iterations": in_order(_alter(Upsertion()), _altered(Upsertion(iterations=8192))),
        "overwrite with the same": in_order(_alter(Upsertion()), _altered(Upsertion())),
        "overwrite one mechanism of two": in_order(both, _altered(Upsertion(mechanism=SHA_512, iterations=5000))),
        "one of two users is refused": _altered(Upsertion(), Upsertion("bob", iterations=1)),
        "no change": _altered(),
    }


def _values() -> dict[str, Steps]:
    counts = (-1, 0, 1, ITERATIONS_MIN - 1, ITERATIONS_MIN, ITERATIONS_MAX, ITERATIONS_MAX + 1, 2**31 - 1, -(2**31))
    upsertions = {
        **{f"{count} iterations": Upsertion(iterations=count, salted_password=b"salted") for count in counts},
        **{f"mechanism {number}": Upsertion(mechanism=number) for number in (-1, 0, 3, 127, -128)},
        "empty name": Upsertion(user=""),
        "empty name and unknown mechanism": Upsertion(user="", mechanism=0),
        "unknown mechanism and too few iterations": Upsertion(mechanism=3, iterations=1),
        "empty salt": Upsertion(salt=b""),
        "long salt": Upsertion(salt=b"salt" * 1000),
        "empty password": Upsertion(password=""),
        "empty salted password": Upsertion(salted_password=b""),
        "empty salted password by SHA-512": Upsertion(mechanism=SHA_512, salted_password=b""),
        "salted password of one byte": Upsertion(salted_password=b"s"),
        "long salted password": Upsertion(salted_password=b"salted" * 1000),
        "empty salted password and too few iterations": Upsertion(iterations=1, salted_password=b""),
        "null name": Upsertion(user=None),
        "null salt": Upsertion(salt=None),
        "null salted password": Upsertion(salted_password=None),
    }
    return {
        **{f"create: {name}": _altered(upsertion) for name, upsertion in upsertions.items()},
        "create: empty salted password of one of two users": _altered(BOB, Upsertion(salted_password=b"")),
    }


def _deletions() -> dict[str, Steps]:
    create = _alter(Upsertion(), BOB)
    create_both = in_order(create, _alter(Upsertion(mechanism=SHA_512)))
    return {
        "delete": in_order(create, _altered(Deletion())),
        "delete one mechanism of two": in_order(create_both, _altered(Deletion())),
        "delete the other mechanism of two": in_order(create_both, _altered(Deletion(mechanism=SHA_512))),
        "delete both mechanisms, in two requests": in_order(
            create_both, _alter(Deletion()), _altered(Deletion(mechanism=SHA_512))
        ),
        "delete two users": in_order(create, _altered(Deletion(), Deletion("bob"))),
        "delete an unknown user": _altered(Deletion()),
        "delete by a mechanism that the user does not have": in_order(create, _altered(Deletion(mechanism=SHA_512))),
        "delete a known and an unknown user": in_order(create, _altered(Deletion("carol"), Deletion())),
        "delete again": in_order(create, _alter(Deletion()), _altered(Deletion())),
        "delete: empty name": _altered(Deletion("")),
        "delete: empty name and unknown mechanism": _altered(Deletion("", 0)),
        **{f"delete: mechanism {number}": in_order(create, _altered(Deletion(mechanism=number))) for number in (0, 3)},
        "delete one user and create another": in_order(create, _altered(Deletion(), Upsertion("carol"))),
        "delete one user and overwrite another": in_order(
            create, _altered(Deletion(), Upsertion("bob", iterations=5000))
        ),
        "create after a deletion": in_order(create, _alter(Deletion()), _altered(Upsertion(iterations=5000))),
    }


def _twice() -> dict[str, Steps]:
    create = _alter(Upsertion(), BOB)
    create_both = in_order(create, _alter(Upsertion(mechanism=SHA_512)))
    changes: Mapping[str, tuple[Change, ...]] = {
        "create": (Upsertion("carol"), Upsertion("carol")),
        "create by both mechanisms": (Upsertion("carol"), Upsertion("carol", SHA_512)),
        "create three times": (Upsertion("carol"), Upsertion("carol"), Upsertion("carol")),
        "create, the first one refused": (Upsertion("carol", iterations=1), Upsertion("carol")),
        "create, the second one refused": (Upsertion("carol"), Upsertion("carol", iterations=1)),
        "create, the second one of an unknown mechanism": (Upsertion("carol"), Upsertion("carol", 3)),
        "create, beside another user": (Upsertion("carol"), Upsertion("dave"), Upsertion("carol")),
        "create, the first one with an empty salted password": (NOT_SALTED, Upsertion("carol")),
        "create, the second one with an empty salted password": (Upsertion("carol"), NOT_SALTED),
        "delete an unknown user, and create it with an empty salted password": (Deletion("carol"), NOT_SALTED),
        "overwrite": (Upsertion(iterations=5000), Upsertion(iterations=6000)),
        "delete": (Deletion(), Deletion()),
        "delete three times": (Deletion(), Deletion(), Deletion()),
        "delete, beside another user": (Deletion(), Deletion("bob"), Deletion()),
        "delete an unknown user": (Deletion("carol"), Deletion("carol")),
        "delete, the first one refused": (Deletion(mechanism=0), Deletion()),
        "delete, the second one refused": (Deletion(), Deletion(mechanism=0)),
        "delete and overwrite": (Deletion(), Upsertion(iterations=5000)),
        "delete and create by another mechanism": (Deletion("bob"), Upsertion("bob", SHA_512)),
        "delete an unknown user and create it": (Deletion("carol"), Upsertion("carol")),
        "delete, and overwrite with too few iterations": (Deletion(), Upsertion(iterations=1)),
        "delete twice and overwrite": (Deletion(), Deletion(), Upsertion(iterations=5000)),
        "delete and overwrite twice": (Deletion(), Upsertion(iterations=5000), Upsertion(iterations=6000)),
        "empty name": (Upsertion(""), Upsertion("")),
    }
    return {
        **{f"same user twice: {name}": in_order(create, _altered(*each)) for name, each in changes.items()},
        "same user twice: delete by both mechanisms": in_order(
            create_both, _altered(Deletion(), Deletion(mechanism=SHA_512))
        ),
    }


def _descriptions() -> dict[str, Steps]:
    create = in_order(
        _alter(Upsertion(), BOB), _alter(Upsertion(mechanism=SHA_512, iterations=8192), Upsertion("carol", SHA_512))
    )
    users: Mapping[str, tuple[str, ...]] = {
        "of no list": (),
        "of both mechanisms": ("alice",),
        "of one mechanism": ("bob",),
        "of two users": ("carol", "alice"),
        "unknown": ("dave",),
        "known and unknown": ("dave", "alice"),
        "twice": ("alice", "alice"),
        "three times": ("alice", "alice", "alice"),
        "twice, beside another user": ("alice", "bob", "alice"),
        "unknown, twice": ("dave", "dave"),
        "empty name": ("",),
        "empty name twice": ("", ""),
        "in capitals": ("ALICE",),
        "not ASCII": ("ü",),
    }
    return {
        "describe all": in_order(create, _describe_all),
        **{f"describe: {name}": in_order(create, _describe(*names)) for name, names in users.items()},
        "describe: null name": lambda scene: scene.describe(None),
    }


def _logins() -> dict[str, Steps]:
    create = _alter(Upsertion())
    create_both = in_order(create, _alter(Upsertion(mechanism=SHA_512, password="another")))
    return {
        "login": in_order(create, _log_in()),
        "login by SHA-512": in_order(_alter(Upsertion(mechanism=SHA_512)), _log_in(mechanism=SHA_512)),
        "login by each of two mechanisms": in_order(
            create_both, _log_in(), _log_in(password="another", mechanism=SHA_512)
        ),
        "login by each of two mechanisms with the other's password": in_order(
            create_both, _log_in(password="another"), _log_in(mechanism=SHA_512)
        ),
        "login by a mechanism that the user does not have": in_order(create, _log_in(mechanism=SHA_512)),
        "login with a wrong password": in_order(create, _log_in(password="wrong")),
        "login of an unknown user": in_order(create, _log_in("bob")),
        "login before there are users": _log_in(),
        "login after an overwrite": in_order(
            create, _log_in(), _alter(Upsertion(password="new", iterations=8192)), _log_in(), _log_in(password="new")
        ),
        "login after a refused overwrite": in_order(
            create, _alter(Upsertion(password="new", iterations=1)), _log_in(), _log_in(password="new")
        ),
        "login after a deletion": in_order(create, _log_in(), _alter(Deletion()), _log_in()),
        "login after the deletion of the other mechanism": in_order(
            create_both, _alter(Deletion(mechanism=SHA_512)), _log_in(), _log_in(password="another", mechanism=SHA_512)
        ),
        "login after a deletion and a creation": in_order(
            create, _alter(Deletion()), _alter(Upsertion(password="new")), _log_in(), _log_in(password="new")
        ),
        "login with most iterations": in_order(_alter(Upsertion(iterations=ITERATIONS_MAX)), _log_in()),
        "login with an empty salt": in_order(_alter(Upsertion(salt=b"")), _log_in()),
        "login with a long salt": in_order(_alter(Upsertion(salt=b"salt" * 100)), _log_in()),
        "login with an empty password": in_order(_alter(Upsertion(password="")), _log_in(password="")),
        "login with a password that is not ASCII": in_order(
            _alter(Upsertion(password="gehéim")), _log_in(password="gehéim")
        ),
        "login with a salted password that has another length": in_order(
            _alter(Upsertion(salted_password=b"s")), _log_in()
        ),
        "open exchange over an overwrite": _overwrite_between_messages(Upsertion(password="new")),
        "open exchange over a deletion": _overwrite_between_messages(Deletion()),
        "connection after the deletion of its user": _delete_the_user_of_a_connection,
    }


def _overwrite_between_messages(change: Change) -> Steps:
    def run(scene: ScramScene) -> None:
        scene.alter(Upsertion())
        finish = scene.begin_log_in()
        scene.alter(change)
        finish().connection.close()

    return run


def _delete_the_user_of_a_connection(scene: ScramScene) -> None:
    scene.alter(Upsertion())
    client = scene.log_in()
    scene.alter(Deletion())
    client.metadata()
    client.connection.close()


def _names() -> dict[str, Steps]:
    return {
        f"name with {title}": in_order(
            _altered(Upsertion(name)), _describe(name), _log_in(name), _altered(Deletion(name))
        )
        for title, name in NAMES.items()
    }


def _requests() -> dict[str, Steps]:
    return {
        "AlterUserScramCredentials of an unsupported version": _alter(Upsertion(), version=1),
        "DescribeUserScramCredentials of an unsupported version": _describe("alice", version=1),
        "user without permission describes": _as_user(
            lambda scene, client: scene.describe_as(client, ["alice", "bob"])
        ),
        "user without permission describes all with an empty list": _as_user(
            lambda scene, client: scene.describe_as(client, [])
        ),
        "user without permission describes all": _as_user(lambda scene, client: scene.describe_as(client, None)),
        "user without permission describes a user twice": _as_user(
            lambda scene, client: scene.describe_as(client, ["alice", "alice"])
        ),
        "user without permission creates": _as_user(lambda scene, client: scene.alter_as(client, BOB)),
        "user without permission deletes": _as_user(lambda scene, client: scene.alter_as(client, Deletion())),
        "user without permission alters a user twice": _as_user(
            lambda scene, client: scene.alter_as(client, Deletion(), Upsertion(), BOB)
        ),
    }


def _as_user(step: Callable[[ScramScene, SaslClient], None]) -> Steps:
    def run(scene: ScramScene) -> None:
        scene.alter(Upsertion())
        client = scene.log_in()
        step(scene, client)
        client.connection.close()
        scene.describe_all()

    return run
