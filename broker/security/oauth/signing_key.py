"""The RSA key of our own tokens, made and stored by cryptography; PyJWT signs with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import RSAAlgorithm

from .bearer_token import ISSUED_ALGORITHM
from .key_set import KeySet

_RSA_BITS = 2048
_RSA_EXPONENT = 65_537


class SigningKey(NamedTuple):
    """A private key with its id. jwk, key_set: the public key."""

    key_id: str
    private: RSAPrivateKey
    jwk: Mapping[str, object]
    key_set: KeySet

    def private_pem(self) -> str:
        """Return the private key as PEM, not encrypted."""
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    def sign(self, payload: dict[str, Any]) -> str:
        """Return a signed token with these claims."""
        return jwt.encode(payload, self.private, algorithm=ISSUED_ALGORITHM, headers={"kid": self.key_id})


def new_key(key_id: str) -> SigningKey:
    """Return a new key, which takes a tenth of a second."""
    return _key_of(key_id, generate_private_key(_RSA_EXPONENT, _RSA_BITS))


def stored_key(key_id: str, pem: str) -> SigningKey:
    """Return the key that `private_pem` returned. Raises ValueError."""
    private = load_pem_private_key(pem.encode(), None)
    if not isinstance(private, RSAPrivateKey):
        raise ValueError("the key is not one of RSA")
    return _key_of(key_id, private)


def _key_of(key_id: str, private: RSAPrivateKey) -> SigningKey:
    public = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    jwk = {
        **{name: public[name] for name in ("kty", "n", "e")},
        "kid": key_id,
        "use": "sig",
        "alg": ISSUED_ALGORITHM,
    }
    return SigningKey(key_id, private, jwk, KeySet([jwk]))
