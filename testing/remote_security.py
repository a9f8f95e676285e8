"""Sessions and users of a broker in another process, with the methods of testing/sessions.py and testing/users.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack
from urllib.parse import quote

from ..admin.operations.session_operations import Session
from ..admin.operations.user_operations import User
from ..admin.paging import LIMIT_MAX
from ..faults.strict_json import convert

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..admin.client.admin_client import JsonObject
    from .remote_nodes import RemoteNodeMethods
    from .sessions import SessionItems, SessionValues


class RemoteSessions:
    """The SASL sessions of the clients. They raise CallError and Unreachable."""

    def __init__(self, broker: RemoteNodeMethods) -> None:
        """broker: whose sessions these are."""
        self._broker = broker

    def list(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Return the sessions that have all of these values; as Sessions.list."""
        items = _all_pages(
            lambda since: self._broker.call("GET", "/v1/sessions", **values, since=since, limit=LIMIT_MAX)
        )
        return convert(items, list[Session])

    def end(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Close the connections of these sessions, and return them; as Sessions.end."""
        return convert(self._broker.call("DELETE", "/v1/sessions", **values)["items"], list[Session])

    def expire(self, **values: Unpack[SessionValues]) -> SessionItems:
        """End the lifetime of these sessions, and return them; as Sessions.expire."""
        return convert(self._broker.call("POST", "/v1/sessions/expire", dict(values))["items"], list[Session])


class RemoteUsers:
    """The users with a password. They raise CallError and Unreachable."""

    def __init__(self, broker: RemoteNodeMethods) -> None:
        """broker: whose users these are."""
        self._broker = broker

    def list(self) -> list[str]:
        """Return the names, sorted."""
        items = _all_pages(lambda since: self._broker.call("GET", "/v1/users", since=since, limit=LIMIT_MAX))
        return [user.name for user in convert(items, list[User])]

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user, who may be new."""
        self._broker.call("PUT", _path_of(user), {"password": password})

    def remove(self, user: str) -> None:
        """Remove a user and revoke its tokens; as Users.remove."""
        self._broker.call("DELETE", _path_of(user))

    def revoke_tokens(self, user: str) -> None:
        """Refuse the tokens of a user; as Users.revoke_tokens."""
        self._broker.call("POST", f"{_path_of(user)}/revoke_tokens")

    def expire_tokens(self, user: str) -> SessionItems:
        """Refuse the tokens of a user, and end the sessions by them; as Users.expire_tokens."""
        return convert(self._broker.call("POST", f"{_path_of(user)}/expire_tokens")["items"], list[Session])


def _all_pages(read: Callable[[str | None], JsonObject]) -> list[object]:
    """Return the items of all pages. read: returns the page after a token, the first one after None."""
    items: list[object] = []
    since: str | None = None
    while True:
        page = read(since)
        items += page["items"]
        since = page["next"]
        if since is None:
            return items


def _path_of(user: str) -> str:
    return f"/v1/users/{quote(user, safe='')}"
