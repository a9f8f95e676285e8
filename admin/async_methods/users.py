"""The users of a broker that have a password: list, change and remove them, revoke and expire their tokens.

Made of admin/methods/users.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from ..methods.users import Names, SessionItems, body_of, path_of
from ..operations import user_operations
from ..paging import NamePage
from .base import AsyncMethods


class AsyncUsers(AsyncMethods):
    """The users with a password. Raises CallError for an unknown user, and for a broker without users."""

    async def list(self) -> Names:
        """Return the names, sorted."""
        users = await self._all(user_operations.list_users, NamePage())
        return [user.name for user in users]

    async def set_password(self, user: str, password: str) -> None:
        """Set the password of a user, who may be new.

        Raises InvalidValueError for an empty one, CallError without users.
        """
        await self._perform(user_operations.put_user, path=path_of(user), body=body_of(password))

    async def remove(self, user: str) -> None:
        """Remove a user and revoke its tokens. Its sessions go on until they expire or are ended."""
        await self._perform(user_operations.remove_user, path=path_of(user))

    async def revoke_tokens(self, user: str) -> None:
        """Refuse the tokens that the token endpoint has issued to a user so far. Its sessions go on, as in Kafka."""
        await self._perform(user_operations.revoke_tokens, path=path_of(user))

    async def expire_tokens(self, user: str) -> SessionItems:
        """Refuse the tokens of a user, end the lifetime of its sessions by OAUTHBEARER, and return these."""
        expired = await self._perform(user_operations.expire_tokens, path=path_of(user))
        return expired.items
