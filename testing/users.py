"""The users of a broker that have a password: list, change and remove them, revoke and expire their tokens."""

from __future__ import annotations

from urllib.parse import quote

from ..admin.operations import user_operations
from ..admin.operations.session_operations import Session, SessionList
from ..admin.operations.user_operations import UserPage, UserPassword, UserPath
from ..faults.rule_error import RuleError
from ..faults.strict_json import convert
from .calls import AsyncPerform, ControlCall, Perform, RemoteCall, all_named, all_remote
from .sessions import SessionItems

PATH = "/v1/users"


class _Users:
    """The operations that wait for nothing."""

    def __init__(self, call: ControlCall) -> None:
        self._call = call

    def list(self) -> list[str]:
        """Return the names, sorted."""
        return [user.name for user in all_named(self._call, user_operations.list_users)]

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user, who may be new. Raises RuleError for an empty one, CallError without users."""
        path, body = _path_of(user), _body_of(password)
        self._call(lambda control: user_operations.put_user(control, path, body))


class Users(_Users):
    """The users of Broker. Raises CallError for an unknown user, and for a broker without users."""

    def __init__(self, call: ControlCall, perform: Perform) -> None:
        """call, perform: run a function, or an operation that waits, on the broker's thread."""
        super().__init__(call)
        self._perform = perform

    def remove(self, user: str) -> None:
        """Remove a user and revoke its tokens. Its sessions go on until they expire or are ended."""
        path = _path_of(user)
        self._perform(lambda control: user_operations.remove_user(control, path))

    def revoke_tokens(self, user: str) -> None:
        """Refuse the tokens that the token endpoint has issued to a user so far. Its sessions go on, as in Kafka."""
        path = _path_of(user)
        self._perform(lambda control: user_operations.revoke_tokens(control, path))

    def expire_tokens(self, user: str) -> list[Session]:
        """Refuse the tokens of a user, end the lifetime of its sessions by OAUTHBEARER, and return these."""
        path = _path_of(user)
        return self._perform(lambda control: user_operations.expire_tokens(control, path)).items


class AsyncUsers(_Users):
    """The users of AsyncBroker. Raises as Users."""

    def __init__(self, call: ControlCall, perform: AsyncPerform) -> None:
        """call, perform: run a function, or an operation that waits, on the running event loop."""
        super().__init__(call)
        self._perform = perform

    async def remove(self, user: str) -> None:
        """Remove a user; as Users.remove."""
        path = _path_of(user)
        await self._perform(lambda control: user_operations.remove_user(control, path))

    async def revoke_tokens(self, user: str) -> None:
        """Refuse the tokens of a user; as Users.revoke_tokens."""
        path = _path_of(user)
        await self._perform(lambda control: user_operations.revoke_tokens(control, path))

    async def expire_tokens(self, user: str) -> list[Session]:
        """Refuse the tokens of a user, and end the sessions by them; as Users.expire_tokens."""
        path = _path_of(user)
        return (await self._perform(lambda control: user_operations.expire_tokens(control, path))).items


class RemoteUsers:
    """The users of RemoteBroker. Its methods raise CallError and Unreachable, and RuleError for a wrong value."""

    def __init__(self, call: RemoteCall) -> None:
        """call: sends a call of the admin API."""
        self._call = call

    def list(self) -> list[str]:
        """Return the names, sorted."""
        return [user.name for user in all_remote(self._call, PATH, UserPage)]

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user, who may be new."""
        self._call("PUT", _url_path_of(user), _body_of(password))

    def remove(self, user: str) -> None:
        """Remove a user and revoke its tokens; as Users.remove."""
        self._call("DELETE", _url_path_of(user))

    def revoke_tokens(self, user: str) -> None:
        """Refuse the tokens of a user; as Users.revoke_tokens."""
        self._call("POST", f"{_url_path_of(user)}/revoke_tokens")

    def expire_tokens(self, user: str) -> SessionItems:
        """Refuse the tokens of a user, and end the sessions by them; as Users.expire_tokens."""
        return convert(self._call("POST", f"{_url_path_of(user)}/expire_tokens"), SessionList).items


def _url_path_of(user: str) -> str:
    return f"{PATH}/{quote(_path_of(user).name, safe='')}"


def _path_of(user: str) -> UserPath:
    return convert({"name": user}, UserPath)


def _body_of(password: str) -> UserPassword:
    try:
        return convert({"password": password}, UserPassword)
    except RuleError as error:
        raise error.without_value() from None
