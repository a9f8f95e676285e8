"""SASL/SCRAM (RFC 5802, RFC 7677), by scramp.

Source: ScramSaslServer, Kafka 4.3.0. Every reason of a failure but a foreign authorization id is kept from the client.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from ..principal import Principal
from .exchange import Authenticated, SaslFailed

if TYPE_CHECKING:
    from scramp import ScramMechanism
    from scramp.core import ScramServer

# The iterations of a password without a count of its own (ScramCredentialUtils, kafka-configs.sh).
ITERATIONS_DEFAULT = 4096
# The header with an optional authorization id; user, nonce, extensions.
_CLIENT_FIRST = re.compile(
    r"n,(?:a=(?P<authorization_id>[^,]*))?,(?P<bare>(?P<rest>n=(?P<user>[^,]*),r=[^,]+)(?:,.*)?)", re.DOTALL
)


class ScramHash(IntEnum):
    """The SCRAM mechanisms by Kafka's number."""

    SHA_256 = 1
    SHA_512 = 2

    @property
    def mechanism(self) -> str:
        """The name of the SASL mechanism."""
        return f"SCRAM-{self.name.replace('_', '-')}"


SCRAM_HASHES = {each.mechanism: each for each in ScramHash}


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """What a broker stores of a password (Kafka: ScramCredential)."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        """Return a text without the keys, which are as good as the password for a fake broker."""
        return f"ScramCredential(iterations={self.iterations})"


def credential_of_password(hash_: ScramHash, password: str, iterations: int = ITERATIONS_DEFAULT) -> ScramCredential:
    """Return the credential of a password, with a random salt. It takes milliseconds."""
    salt, stored_key, server_key, iterations = _mechanism_of(hash_).make_auth_info(password, iteration_count=iterations)
    return ScramCredential(salt, stored_key, server_key, iterations)


class ScramExchange:
    """An Exchange of SCRAM."""

    def __init__(self, hash_: ScramHash, find_credential: Callable[[str], ScramCredential | None]) -> None:
        """find_credential: returns the credential of a user, or None."""
        self.result: Authenticated | None = None
        self._find_credential = find_credential
        self._user = ""
        self._server: ScramServer = _mechanism_of(hash_).make_server(self._auth_info_of)
        self._is_first = True

    def evaluate(self, token: bytes) -> bytes:
        """Take the client's first or final message, and return the server's. Raises SaslFailed."""
        from scramp import ScramException

        try:
            text = token.decode()
            if self._is_first:
                self._is_first = False
                return self._take_first(text).encode()
            self._server.set_client_final(text)
            answer = str(self._server.get_server_final())
        except (ScramException, UnicodeDecodeError) as error:
            raise SaslFailed(f"{error}") from error
        self.result = Authenticated(Principal(self._user))
        return answer.encode()

    def _take_first(self, text: str) -> str:
        match = _CLIENT_FIRST.fullmatch(text)
        if match is None:
            raise SaslFailed("Invalid SCRAM client first message")
        self._user = match["user"].replace("=2C", ",").replace("=3D", "=")
        if self._find_credential(self._user) is None:
            raise SaslFailed("Authentication failed: Invalid user credentials")
        if match["authorization_id"] and match["authorization_id"] != self._user:
            reason = "Authentication failed: Client requested an authorization id that is different from username"
            raise SaslFailed(reason, reason)
        # scramp knows neither an authorization id nor Kafka's extensions; the signature covers the whole message.
        self._server.set_client_first(f"n,,{match['rest']}")
        self._server.client_first_bare = match["bare"]
        return str(self._server.get_server_first())

    def _auth_info_of(self, user: str) -> tuple[bytes, bytes, bytes, int]:
        credential = self._find_credential(self._user)
        assert credential is not None, "the credential was found a moment ago"
        return credential.salt, credential.stored_key, credential.server_key, credential.iterations


def _mechanism_of(hash_: ScramHash) -> ScramMechanism:
    # Lazy: most brokers have no SCRAM listener.
    from scramp import ScramMechanism

    return ScramMechanism(hash_.mechanism)
