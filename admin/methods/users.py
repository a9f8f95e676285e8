"""The users of a broker that have a password: list, change and remove them, revoke and expire their tokens."""

from __future__ import annotations

from ...faults.rule_error import InvalidValueError
from ...faults.strict_json import convert
from ..operations import user_operations
from ..operations.session_operations import Session
from ..operations.user_operations import UserPassword, UserPath
from ..paging import NamePage
from .base import Methods

# Within the class, `list` is the method.
Names = list[str]
SessionItems = list[Session]


class Users(Methods):
    """The users with a password. Raises CallError for an unknown user, and for a broker without users."""

    def list(self) -> Names:
        """Return the names, sorted."""
        users = self._all(user_operations.list_users, NamePage())
        return [user.name for user in users]

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user, who may be new.

        Raises InvalidValueError for an empty one, CallError without users.
        """
        self._perform(user_operations.put_user, path=path_of(user), body=body_of(password))

    def remove(self, user: str) -> None:
        """Remove a user and revoke its tokens. Its sessions go on until they expire or are ended."""
        self._perform(user_operations.remove_user, path=path_of(user))

    def revoke_tokens(self, user: str) -> None:
        """Refuse the tokens that the token endpoint has issued to a user so far. Its sessions go on, as in Kafka."""
        self._perform(user_operations.revoke_tokens, path=path_of(user))

    def expire_tokens(self, user: str) -> SessionItems:
        """Refuse the tokens of a user, end the lifetime of its sessions by OAUTHBEARER, and return these."""
        expired = self._perform(user_operations.expire_tokens, path=path_of(user))
        return expired.items


def path_of(user: str) -> UserPath:
    """Return the user as the operations name it. Raises InvalidValueError for an empty name."""
    return convert({"name": user}, UserPath)


def body_of(password: str) -> UserPassword:
    """Return a password as the operations take it. Raises InvalidValueError without the value."""
    try:
        return convert({"password": password}, UserPassword)
    except InvalidValueError as error:
        raise error.without_value() from None
