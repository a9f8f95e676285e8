"""The users of a listener that have a password, by the options or by a JAAS config.

PLAIN compares the password, and the SCRAM credentials are made from it when they are first needed. Credentials that
clients have set by AlterUserScramCredentials are in the metadata image and have precedence (Mechanisms.start).
"""

from __future__ import annotations

from collections.abc import Mapping

from .sasl.scram import ScramCredential, ScramHash, credential_of_password


class Users:
    """Finds passwords and SCRAM credentials."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        """passwords: by user."""
        self._passwords = dict(passwords)
        self._made: dict[tuple[ScramHash, str], ScramCredential] = {}

    def with_passwords(self, passwords: Mapping[str, str]) -> Users:
        """Return these users with further passwords, for one listener."""
        return Users({**self._passwords, **passwords}) if passwords else self

    def find_password(self, user: str) -> str | None:
        """Return the password of a user, or None."""
        return self._passwords.get(user)

    def find_scram_credential(self, hash_: ScramHash, user: str) -> ScramCredential | None:
        """Return the SCRAM credential of a user, or None."""
        password = self._passwords.get(user)
        if password is None:
            return None
        key = (hash_, user)
        if key not in self._made:
            self._made[key] = credential_of_password(hash_, password)
        return self._made[key]
