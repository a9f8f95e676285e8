"""The users of a broker that have a password: list, change and remove them, revoke and expire their tokens."""

from __future__ import annotations

from ..admin.operations import user_operations
from ..admin.operations.session_operations import Session
from ..admin.operations.user_operations import UserPassword, UserPath
from ..faults.strict_json import convert
from .calls import AsyncPerform, ControlCall, Perform, all_named


class _Users:
    """The operations that wait for nothing."""

    def __init__(self, call: ControlCall) -> None:
        self._call = call

    def list(self) -> list[str]:
        """Return the names, sorted."""
        return [user.name for user in all_named(self._call, user_operations.list_users)]

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user, who may be new. Raises RuleError for an empty one, CallError without users."""
        path, body = _path_of(user), convert({"password": password}, UserPassword)
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


def _path_of(user: str) -> UserPath:
    return convert({"name": user}, UserPath)
