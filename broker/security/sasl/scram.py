"""SASL/SCRAM (RFC 5802, RFC 7677). The credentials are made by scramp.

Source: ScramSaslServer and ScramMessages, Kafka 4.3.0; tests/golden/sasl-4.3.0.jsonl.
Every reason of a failure but a foreign authorization id is kept from the client.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from secrets import token_hex
from typing import TYPE_CHECKING

from ....protocol.frames import FrameError
from ..principal import Principal
from .exchange import Authenticated, SaslFailed

if TYPE_CHECKING:
    from scramp import ScramMechanism

# The iterations of a password without a count of its own (ScramCredentialUtils, kafka-configs.sh).
ITERATIONS_DEFAULT = 4096
# ScramLoginModule.TOKEN_AUTH_CONFIG.
_TOKEN_EXTENSION = "tokenauth"
_NONCE_BYTES = 16
# ScramMessages.AbstractScramMessage.
_NAME = r"(?:[\x01-+\--<>-\x7f]|=2C|=3D)+"
_VALUE = r"[\x01-+\--\x7f]+"
_NONCE = r"[!-+\--~]+"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_BASE64 = r"(?:[A-Za-z0-9/+]{4})*(?:[A-Za-z0-9/+]{3}=|[A-Za-z0-9/+]{2}==)?"
_CLIENT_FIRST = re.compile(
    rf"n,(?:a=(?P<authorization_id>{_NAME}))?,(?:m={_VALUE},)?"
    rf"(?P<named>n=(?P<user>{_NAME}),r=(?P<nonce>{_NONCE}))(?P<extensions>{_EXTENSIONS})"
)
_CLIENT_FINAL = re.compile(rf"(?P<without_proof>c={_BASE64},r=(?P<nonce>{_NONCE})){_EXTENSIONS},p=(?P<proof>{_BASE64})")


class ScramHash(IntEnum):
    """The SCRAM mechanisms by Kafka's number."""

    SHA_256 = 1
    SHA_512 = 2

    @property
    def mechanism(self) -> str:
        """The name of the SASL mechanism."""
        return f"SCRAM-{self.name.replace('_', '-')}"

    @property
    def hash_name(self) -> str:
        """The name of the hash function in hashlib."""
        return self.name.replace("_", "").lower()


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


def credential_of_salted_password(
    hash_: ScramHash, salted_password: bytes, salt: bytes, iterations: int
) -> ScramCredential:
    """Return the credential of a password that was salted with these iterations (RFC 5802, section 3)."""
    client_key = hmac.digest(salted_password, b"Client Key", hash_.hash_name)
    stored_key = hashlib.new(hash_.hash_name, client_key).digest()
    return ScramCredential(salt, stored_key, hmac.digest(salted_password, b"Server Key", hash_.hash_name), iterations)


# Returns the credential that a client has set for a user, or None.
FindScramCredential = Callable[[ScramHash, str], ScramCredential | None]


class ScramExchange:
    """An Exchange of SCRAM. The channel binding of the final message is signed and not checked, as in Kafka."""

    def __init__(self, hash_: ScramHash, find_credential: Callable[[str], ScramCredential | None]) -> None:
        """find_credential: returns the credential of a user, or None."""
        self.result: Authenticated | None = None
        self._hash_name = hash_.hash_name
        self._find_credential = find_credential
        self._user = ""
        self._nonce = ""
        # The first messages of client and server, for the signatures.
        self._signed = ""
        self._credential: ScramCredential | None = None

    def find_user(self, token: bytes) -> str | None:
        """Return the user of the client's first message."""
        if self._user:
            return self._user
        match = _CLIENT_FIRST.fullmatch(token.decode(errors="replace"))
        return None if match is None else _user_in(match)

    def evaluate(self, token: bytes) -> bytes:
        """Take the client's first or final message, and return the server's.

        Raises SaslFailed, and FrameError for a proof of another length, to which Kafka does not respond.
        """
        # Java replaces what is not UTF-8, too.
        text = token.decode(errors="replace")
        answer = self._take_first(text) if self._credential is None else self._take_final(text, self._credential)
        return answer.encode()

    def _take_first(self, text: str) -> str:
        match = _CLIENT_FIRST.fullmatch(text)
        if match is None:
            raise SaslFailed("Invalid SCRAM client first message")
        self._user = _user_in(match)
        # A map in Kafka: an extension that is there twice is signed once.
        extensions = dict(part.split("=", 1) for part in match["extensions"].split(",")[1:])
        # There are no delegation tokens.
        is_token = extensions.get(_TOKEN_EXTENSION, "").lower() == "true"
        credential = None if is_token else self._find_credential(self._user)
        if credential is None:
            raise SaslFailed("Authentication failed: Invalid user credentials")
        if match["authorization_id"] and match["authorization_id"] != self._user:
            reason = "Authentication failed: Client requested an authorization id that is different from username"
            raise SaslFailed(reason, reason)
        self._credential = credential
        self._nonce = match["nonce"] + token_hex(_NONCE_BYTES)
        salt = b64encode(credential.salt).decode()
        answer = f"r={self._nonce},s={salt},i={credential.iterations}"
        bare = ",".join([match["named"], *(f"{name}={value}" for name, value in extensions.items())])
        self._signed = f"{bare},{answer}"
        return answer

    def _take_final(self, text: str, credential: ScramCredential) -> str:
        match = _CLIENT_FINAL.fullmatch(text)
        if match is None:
            raise SaslFailed("Invalid SCRAM client final message")
        if match["nonce"] != self._nonce:
            raise SaslFailed("Invalid client nonce in the final client message")
        signed = f"{self._signed},{match['without_proof']}".encode()
        signature = hmac.digest(credential.stored_key, signed, self._hash_name)
        proof = b64decode(match["proof"])
        if len(proof) != len(signature):
            raise FrameError(f"a SCRAM proof of {len(proof)} bytes; {len(signature)} are expected")
        client_key = bytes(left ^ right for left, right in zip(proof, signature, strict=True))
        if not hmac.compare_digest(hashlib.new(self._hash_name, client_key).digest(), credential.stored_key):
            raise SaslFailed("Invalid client credentials")
        self.result = Authenticated(Principal(self._user))
        return f"v={b64encode(hmac.digest(credential.server_key, signed, self._hash_name)).decode()}"


def _user_in(match: re.Match[str]) -> str:
    return match["user"].replace("=2C", ",").replace("=3D", "=")


def _mechanism_of(hash_: ScramHash) -> ScramMechanism:
    # Lazy: most brokers have no SCRAM listener.
    from scramp import ScramMechanism

    return ScramMechanism(hash_.mechanism)
