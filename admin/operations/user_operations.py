"""Operations on the users with a password: list, change and remove them, revoke and expire their tokens.

No response has a password. Users with SCRAM alone are those of AlterUserScramCredentials, and are not here.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from ...broker.security.principal import Principal
from ...broker.security.sasl.mechanisms import OAUTHBEARER
from ...broker.security.users import Users
from ..control import Control
from ..errors import conflict, unknown
from ..operation import Operation
from ..paging import NamePage, page_of
from .session_operations import SessionList, SessionMatch, expire_sessions

TAG = "security"
NO_USERS = "the broker was started without users; --user NAME:PASSWORD adds one"
# More than a test has; each is kept in memory.
USERS_MAX = 1000

Text = Annotated[str, Meta(min_length=1, max_length=1000)]


class UserPath(Struct, kw_only=True):
    """A user."""

    name: Text


class UserPassword(Struct, kw_only=True, forbid_unknown_fields=True):
    """The new password of a user."""

    password: Text


class User(Struct, kw_only=True):
    """A user with a password."""

    name: str


class UserPage(Struct, kw_only=True):
    """Users, sorted by name."""

    items: list[User]
    next: str | None


def list_users(control: Control, query: NamePage) -> UserPage:
    """List the users with a password."""
    users = control.cluster.users
    names = [name for name in ([] if users is None else users.names) if name > query.since]
    items, token = page_of(names, query.limit, lambda name: User(name=name), lambda name: name)
    return UserPage(items=items, next=token)


def put_user(control: Control, path: UserPath, body: UserPassword) -> User:
    """Set the password of a user, who may be new. It is asked for from the next authentication on."""
    users = _users_of(control)
    if path.name not in users.names and len(users.names) >= USERS_MAX:
        raise conflict(f"there are {USERS_MAX} users already", field="name", value=path.name)
    users.set_password(path.name, body.password)
    return User(name=path.name)


async def remove_user(control: Control, path: UserPath) -> User:
    """Remove a user and revoke its tokens. Its sessions go on until they expire or are ended."""
    users = _users_of(control)
    _check_user(users, path)
    users.remove(path.name)
    await _revoke(control, path.name)
    return User(name=path.name)


async def revoke_tokens(control: Control, path: UserPath) -> User:
    """Refuse the tokens that the token endpoint has issued to a user so far. Its sessions go on, as in Kafka."""
    _check_user(_users_of(control), path)
    await _revoke(control, path.name)
    return User(name=path.name)


async def expire_tokens(control: Control, path: UserPath) -> SessionList:
    """Refuse the tokens of a user, and end the lifetime of its sessions by OAUTHBEARER, which are returned."""
    await revoke_tokens(control, path)
    return expire_sessions(control, SessionMatch(principal=str(Principal(path.name)), mechanism=OAUTHBEARER))


async def _revoke(control: Control, user: str) -> None:
    issuer = control.cluster.token_issuer
    assert issuer is not None, "a broker with users issues tokens"
    await asyncio.to_thread(issuer.revoke, user)


def _users_of(control: Control) -> Users:
    if control.cluster.users is None:
        raise conflict(NO_USERS)
    return control.cluster.users


def _check_user(users: Users, path: UserPath) -> None:
    if path.name not in users.names:
        raise unknown("user", path.name, field="name")


ONE_USER = "/v1/users/{name}"

OPERATIONS = (
    Operation(method="GET", path="/v1/users", perform=list_users, tag=TAG),
    Operation(method="PUT", path=ONE_USER, perform=put_user, tag=TAG, errors=(409,), has_secret=True),
    Operation(method="DELETE", path=ONE_USER, perform=remove_user, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path=f"{ONE_USER}/revoke_tokens", perform=revoke_tokens, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path=f"{ONE_USER}/expire_tokens", perform=expire_tokens, tag=TAG, errors=(404, 409)),
)
