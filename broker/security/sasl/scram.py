"""SASL/SCRAM (RFC 5802, RFC 7677).

Source: ScramSaslServer and ScramMessages, Kafka 4.3.0; tests/golden/sasl-4.3.0.jsonl.
A password is used as it is, without SASLprep, as by Kafka and its clients.
Every reason of a failure but a foreign authorization id is kept from the client.
A client with the extension tokenauth=true logs in with a delegation token (KIP-48): the user name is the token id, and
the password is the HMAC of the token in base64.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from secrets import token_bytes, token_hex
from typing import NamedTuple, Protocol

from ....protocol.frames import FrameError
from ....security.java_text import decode_utf8, equals_ignore_case
from ..principal import ANONYMOUS, Principal
from .exchange import SASL_NAME, Authenticated, SaslFailed

# The iterations of a password without a count of its own (ScramCredentialUtils, kafka-configs.sh).
ITERATIONS_DEFAULT = 4096
# ScramLoginModule.TOKEN_AUTH_CONFIG.
_TOKEN_EXTENSION = "tokenauth"
_NONCE_BYTES = 16
_SALT_BYTES = 16
# ScramMessages.AbstractScramMessage.
_VALUE = r"[\x01-+\--\x7f]+"
_NONCE = r"[!-+\--~]+"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_BASE64 = r"(?:[A-Za-z0-9/+]{4})*(?:[A-Za-z0-9/+]{3}=|[A-Za-z0-9/+]{2}==)?"
_CLIENT_FIRST = re.compile(
    rf"n,(?:a=(?P<authorization_id>{SASL_NAME}))?,(?:m={_VALUE},)?"
    rf"(?P<named>n=(?P<user>{SASL_NAME}),r=(?P<nonce>{_NONCE}))(?P<extensions>{_EXTENSIONS})"
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
    salt = token_bytes(_SALT_BYTES)
    salted_password = hashlib.pbkdf2_hmac(hash_.hash_name, password.encode(errors="surrogatepass"), salt, iterations)
    return credential_of_salted_password(hash_, salted_password, salt, iterations)


def credential_of_salted_password(
    hash_: ScramHash, salted_password: bytes, salt: bytes, iterations: int
) -> ScramCredential:
    """Return the credential of a password that was salted with these iterations (RFC 5802, section 3)."""
    client_key = hmac.digest(salted_password, b"Client Key", hash_.hash_name)
    stored_key = hashlib.new(hash_.hash_name, client_key).digest()
    return ScramCredential(salt, stored_key, hmac.digest(salted_password, b"Server Key", hash_.hash_name), iterations)


class TokenCredential(NamedTuple):
    """The credential of a delegation token. owner: the user that a client with it is. expiry_ms: that of the token."""

    credential: ScramCredential
    owner: str
    expiry_ms: int


class ClusterCredentials(Protocol):
    """What clients have created in the cluster."""

    def find_credential(self, hash_: ScramHash, user: str) -> ScramCredential | None:
        """Return the credential that a client has set for a user, or None."""
        ...

    def find_token(self, hash_: ScramHash, token_id: str) -> TokenCredential | None:
        """Return the credential of a delegation token, or None."""
        ...


class ScramExchange:
    """An Exchange of SCRAM. The channel binding of the final message is signed and not checked, as in Kafka."""

    def __init__(
        self,
        hash_: ScramHash,
        find_credential: Callable[[str], ScramCredential | None],
        find_token: Callable[[str], TokenCredential | None],
    ) -> None:
        """find_credential: returns the credential of a user, or None. find_token: that of a token id, or None."""
        self.result: Authenticated | None = None
        self._hash_name = hash_.hash_name
        self._find_credential = find_credential
        self._find_token = find_token
        # The result for a client that proves that it has the credential.
        self._claimed = Authenticated(ANONYMOUS)
        self._nonce = ""
        # The first messages of client and server, for the signatures.
        self._signed = ""
        self._credential: ScramCredential | None = None

    def find_user(self, token: bytes) -> str | None:
        """Return the user that a message of the client claims to be, of a delegation token its owner."""
        if self._credential is not None:
            return self._claimed.principal.name
        match = _CLIENT_FIRST.fullmatch(decode_utf8(token))
        if match is None:
            return None
        user = _user_in(match)
        if not _has_token(_extensions_in(match)):
            return user
        found = self._find_token(user)
        return None if found is None else found.owner

    def evaluate(self, token: bytes) -> bytes:
        """Take the client's first or final message, and return the server's.

        Raises SaslFailed, and FrameError for a proof of another length, to which Kafka does not respond.
        """
        text = decode_utf8(token)
        answer = self._take_first(text) if self._credential is None else self._take_final(text, self._credential)
        return answer.encode()

    def _take_first(self, text: str) -> str:
        match = _CLIENT_FIRST.fullmatch(text)
        if match is None:
            raise SaslFailed("Invalid SCRAM client first message")
        user = _user_in(match)
        extensions = _extensions_in(match)
        if _has_token(extensions):
            credential = self._claim_token(user)
        else:
            credential, self._claimed = self._find_credential(user), Authenticated(Principal(user))
        if credential is None:
            raise SaslFailed("Authentication failed: Invalid user credentials")
        if match["authorization_id"] and match["authorization_id"] != user:
            reason = "Authentication failed: Client requested an authorization id that is different from username"
            raise SaslFailed(reason, reason)
        self._credential = credential
        self._nonce = match["nonce"] + token_hex(_NONCE_BYTES)
        salt = b64encode(credential.salt).decode()
        answer = f"r={self._nonce},s={salt},i={credential.iterations}"
        bare = ",".join([match["named"], *(f"{name}={value}" for name, value in extensions.items())])
        self._signed = f"{bare},{answer}"
        return answer

    def _claim_token(self, token_id: str) -> ScramCredential | None:
        token = self._find_token(token_id)
        if token is None:
            return None
        self._claimed = Authenticated(Principal(token.owner), token.expiry_ms, is_by_token=True)
        return token.credential

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
        self.result = self._claimed
        return f"v={b64encode(hmac.digest(credential.server_key, signed, self._hash_name)).decode()}"


def _user_in(match: re.Match[str]) -> str:
    return match["user"].replace("=2C", ",").replace("=3D", "=")


def _extensions_in(match: re.Match[str]) -> dict[str, str]:
    # A map in Kafka: an extension that is there twice is signed once.
    return dict(part.split("=", 1) for part in match["extensions"].split(",")[1:])


def _has_token(extensions: Mapping[str, str]) -> bool:
    return equals_ignore_case(extensions.get(_TOKEN_EXTENSION, ""), "true")
