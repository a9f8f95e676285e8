"""JSON Web Tokens, right and wrong, and the first messages of OAUTHBEARER with them (RFC 7515, RFC 7517, RFC 7628).

Built with cryptography alone, so that the tests share no code for tokens with the broker.
"""

from __future__ import annotations

import json
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .case_recorder import Json

SEPARATOR = "\x01"
RSA_BITS = 2048
RSA_EXPONENT = 65_537
EC_BYTES = 32
NONE = "none"
# A time in claims, relative to when the token is made: now, now+600, now-10.5.
_TIME = re.compile(r"now(?P<seconds>[+-][0-9.]+)?")

Signer = Callable[[bytes], bytes]


def base64url(data: bytes) -> str:
    """Return data as base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


@cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:
    """Return a key that is the same for each use of a name. name: as in a JWKS."""
    return rsa.generate_private_key(RSA_EXPONENT, RSA_BITS)


@cache
def ec_key(name: str) -> ec.EllipticCurvePrivateKey:
    """Return a key on P-256 that is the same for each use of a name."""
    return ec.generate_private_key(ec.SECP256R1())


def rsa_jwk(name: str, **members: Json) -> dict[str, Json]:
    """Return the public half of rsa_key as a JWK."""
    numbers = rsa_key(name).public_key().public_numbers()
    return {"kty": "RSA", "n": _number(numbers.n, RSA_BITS // 8), "e": _number(numbers.e, 3), **members}


def ec_jwk(name: str, **members: Json) -> dict[str, Json]:
    """Return the public half of ec_key as a JWK."""
    numbers = ec_key(name).public_key().public_numbers()
    return {
        "kty": "EC",
        "crv": "P-256",
        "x": _number(numbers.x, EC_BYTES),
        "y": _number(numbers.y, EC_BYTES),
        **members,
    }


def _number(value: int, size: int) -> str:
    return base64url(value.to_bytes(size, "big"))


def _pkcs1(name: str, algorithm: hashes.HashAlgorithm) -> Signer:
    return lambda data: rsa_key(name).sign(data, padding.PKCS1v15(), algorithm)


def _pss(name: str) -> Signer:
    algorithm = hashes.SHA256()
    scheme = padding.PSS(padding.MGF1(algorithm), algorithm.digest_size)
    return lambda data: rsa_key(name).sign(data, scheme, algorithm)


def _ecdsa(name: str) -> Signer:
    def sign(data: bytes) -> bytes:
        r, s = decode_dss_signature(ec_key(name).sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(EC_BYTES, "big") + s.to_bytes(EC_BYTES, "big")

    return sign


def _hmac_by_public_key(name: str) -> Signer:
    """Sign as a client that hopes that the broker takes the public key for a secret."""

    def sign(data: bytes) -> bytes:
        secret = rsa_key(name).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        mac = hmac.HMAC(secret, hashes.SHA256())
        mac.update(data)
        return mac.finalize()

    return sign


def signer_of(algorithm: str, key: str) -> Signer:
    """Return what signs by an algorithm with the key of a name."""
    signers = {
        "RS256": lambda: _pkcs1(key, hashes.SHA256()),
        "RS512": lambda: _pkcs1(key, hashes.SHA512()),
        "PS256": lambda: _pss(key),
        "ES256": lambda: _ecdsa(key),
        "HS256": lambda: _hmac_by_public_key(key),
    }
    return signers[algorithm]()


@dataclass(frozen=True)
class Jws:
    """A token.

    claims and header: JSON with times relative to now, or bytes as they are. key: the name of the key that signs by the
    header's algorithm; None for no signature. ends_with: behind the token. signature: in place of the true one.
    """

    claims: Mapping[str, Json] | Sequence[Json] | bytes
    header: Mapping[str, Json] | Sequence[Json] | bytes = field(default_factory=lambda: {"alg": NONE})
    key: str | None = None
    signature: str | None = None
    ends_with: str = ""

    def text(self) -> str:
        """Return the token, with times that are relative to this moment."""
        signed = f"{base64url(_bytes_of(self.header))}.{base64url(_bytes_of(self.claims))}"
        return f"{signed}.{self._signature_of(signed)}{self.ends_with}"

    def __str__(self) -> str:
        """Return what a capture says of the token, the same in each run."""
        parts = [_shown(self.header), _shown(self.claims)]
        if self.key is not None:
            parts.append(f"signed by {self.key}")
        if self.signature is not None:
            parts.append(f"signature {self.signature or 'empty'}")
        return ".".join(parts) + self.ends_with

    def _signature_of(self, signed: str) -> str:
        if self.signature is not None:
            return self.signature
        if self.key is None:
            return ""
        assert isinstance(self.header, Mapping), "the header names the algorithm"
        return base64url(signer_of(str(self.header["alg"]), self.key)(signed.encode()))


def _bytes_of(part: Mapping[str, Json] | Sequence[Json] | bytes) -> bytes:
    return part if isinstance(part, bytes) else json.dumps(_with_times(part), ensure_ascii=False).encode()


def _shown(part: Mapping[str, Json] | Sequence[Json] | bytes) -> str:
    return part.decode("latin-1") if isinstance(part, bytes) else json.dumps(part, ensure_ascii=False)


def _with_times(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _with_times(each) for name, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, str) and (match := _TIME.fullmatch(value)):
        seconds = match["seconds"] or "+0"
        now = time.time()
        return now + float(seconds) if "." in seconds else int(now) + int(seconds)
    return value


@dataclass(frozen=True)
class FirstMessage:
    """The client's first message. token: a Jws, or text as it is."""

    token: Jws | str
    authorization: str = ""
    scheme: str = "Bearer "
    extensions: str = ""
    header: str = "n"

    def data(self) -> bytes:
        """Return the message with a token made now."""
        return self._with(self.token.text() if isinstance(self.token, Jws) else self.token).encode()

    def __str__(self) -> str:
        """Return what a capture says of the message."""
        return self._with(str(self.token))

    def _with(self, token: str) -> str:
        auth = f"auth={self.scheme}{token}{SEPARATOR}"
        return f"{self.header},{self.authorization},{SEPARATOR}{auth}{self.extensions}{SEPARATOR}"
