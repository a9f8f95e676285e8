"""The client's side of SASL/SCRAM (RFC 5802, RFC 7677).

A password is used as it is, without SASLprep, as by Kafka and its clients; the libraries for SCRAM apply it.
Source: ScramSaslClient and ScramFormatter, Kafka 4.3.0.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Generator
from secrets import token_hex

from .client_security import SCRAM_HASHES, PasswordLogin

# ScramMechanism.minIterations.
ITERATIONS_MIN = 4096
# A second of one processor. The broker chooses the number.
ITERATIONS_MAX = 2_000_000
_NONCE_BYTES = 16
_BASE64 = r"[A-Za-z0-9/+]+={0,2}"
_SERVER_FIRST = re.compile(rf"r=(?P<nonce>[!-+\--~]+),s=(?P<salt>{_BASE64}),i=(?P<iterations>\d{{1,9}})(?:,.*)?")
_SERVER_FINAL = re.compile(rf"(?:v=(?P<signature>{_BASE64})|e=(?P<error>[^,]*))(?:,.*)?")


class InvalidServerMessage(Exception):
    """The broker's message is invalid, or does not prove that the broker has the credential. One line."""


def scram_messages(login: PasswordLogin, client_nonce: str | None = None) -> Generator[bytes, bytes, None]:
    """Yield the messages to send; each yield returns the broker's response. Raises InvalidServerMessage.

    client_nonce: drawn by default.
    """
    hash_name = SCRAM_HASHES[login.mechanism]
    nonce = token_hex(_NONCE_BYTES) if client_nonce is None else client_nonce
    user = login.user.replace("=", "=3D").replace(",", "=2C")
    bare = f"n={user},r={nonce}{',tokenauth=true' if login.is_token else ''}"
    server_first = (yield f"n,,{bare}".encode()).decode(errors="replace")
    found = _SERVER_FIRST.fullmatch(server_first)
    if found is None or not found["nonce"].startswith(nonce):
        raise InvalidServerMessage("the broker's first message of SCRAM is invalid")
    salted_password = _salted_password(hash_name, login.password, found)
    without_proof = f"c={b64encode(b'n,,').decode()},r={found['nonce']}"
    signed = f"{bare},{server_first},{without_proof}".encode()
    proof = b64encode(_proof_of(hash_name, salted_password, signed)).decode()
    server_final = (yield f"{without_proof},p={proof}".encode()).decode(errors="replace")
    server_key = hmac.digest(salted_password, b"Server Key", hash_name)
    _check_signature(server_final, hmac.digest(server_key, signed, hash_name))


def _salted_password(hash_name: str, password: str, server_first: re.Match[str]) -> bytes:
    iterations = int(server_first["iterations"])
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise InvalidServerMessage(
            f"the broker demands {iterations} iterations of SCRAM; allowed: {ITERATIONS_MIN}-{ITERATIONS_MAX}"
        )
    try:
        salt = b64decode(server_first["salt"], validate=True)
    except ValueError:
        raise InvalidServerMessage("the broker's salt of SCRAM is not base64") from None
    return hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)


def _proof_of(hash_name: str, salted_password: bytes, signed: bytes) -> bytes:
    client_key = hmac.digest(salted_password, b"Client Key", hash_name)
    stored_key = hashlib.new(hash_name, client_key).digest()
    signature = hmac.digest(stored_key, signed, hash_name)
    return bytes(left ^ right for left, right in zip(client_key, signature, strict=True))


def _check_signature(server_final: str, expected: bytes) -> None:
    found = _SERVER_FINAL.fullmatch(server_final)
    if found is None:
        raise InvalidServerMessage("the broker's final message of SCRAM is invalid")
    if found["error"] is not None:
        raise InvalidServerMessage(f"the broker refuses with {found['error']}")
    if not hmac.compare_digest(found["signature"], b64encode(expected).decode()):
        raise InvalidServerMessage("the broker does not prove that it has the credential of the user")
