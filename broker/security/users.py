"""The users of a listener that have a password: by the options, by a call of the admin API, or by a JAAS config.

PLAIN compares the password, and the SCRAM credentials are made from it when they are first needed. Credentials that
clients have set by AlterUserScramCredentials are in the metadata image and have precedence (Mechanisms.start).
"""

from __future__ import annotations

from collections.abc import Mapping

from .sasl.scram import ScramCredential, ScramHash, credential_of_password


class Users:
    """Finds passwords and SCRAM credentials."""

    def __init__(self, passwords: Mapping[str, str], others: Users | None = None) -> None:
        """passwords: by user. others: the users without a password here."""
        self._initial = dict(passwords)
        self._passwords = dict(passwords)
        self._others = others
        self._made: dict[tuple[ScramHash, str], ScramCredential] = {}

    @property
    def names(self) -> list[str]:
        """The users that have a password here, sorted."""
        return sorted(self._passwords)

    def with_passwords(self, passwords: Mapping[str, str]) -> Users:
        """Return these users with further passwords, for one listener."""
        return Users(passwords, self) if passwords else self

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user, who may be new."""
        self._forget_credentials(user)
        self._passwords[user] = password

    def remove(self, user: str) -> None:
        """Remove a user. No effect on an unknown one."""
        self._forget_credentials(user)
        self._passwords.pop(user, None)

    def reset(self) -> None:
        """Have the users and passwords of the start again."""
        self._made.clear()
        self._passwords = dict(self._initial)

    def find_password(self, user: str) -> str | None:
        """Return the password of a user, or None."""
        password = self._passwords.get(user)
        return self._others.find_password(user) if password is None and self._others is not None else password

    def find_scram_credential(self, hash_: ScramHash, user: str) -> ScramCredential | None:
        """Return the SCRAM credential of a user, or None."""
        password = self._passwords.get(user)
        if password is None:
            return None if self._others is None else self._others.find_scram_credential(hash_, user)
        key = (hash_, user)
        if key not in self._made:
            self._made[key] = credential_of_password(hash_, password)
        return self._made[key]

    def _forget_credentials(self, user: str) -> None:
        for hash_ in ScramHash:
            self._made.pop((hash_, user), None)
