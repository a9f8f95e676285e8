"""JSON Web Key Sets: which key of a set checks a token (RFC 7517). The keys and signatures are PyJWT's.

Source: VerificationJwkSelector and SimpleJwkFilter of jose4j 0.9.6, as Kafka 4.3.0 uses it;
tests/golden/oauth-4.3.0.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, cast

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from .bearer_token import InvalidToken

# The key type and the curve of each algorithm; None for any curve. None of them has a secret.
_ALGORITHMS = {
    **{f"{family}{bits}": ("RSA", None) for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", None),
}
# The members of a public key, by the key type. Those of a private key are ignored, as by jose4j.
_PUBLIC = {"RSA": ("kty", "n", "e"), "EC": ("kty", "crv", "x", "y"), "OKP": ("kty", "crv", "x")}
# jose4j refuses smaller keys (RFC 7518, section 3.3).
_RSA_BITS_MIN = 2048
# No provider publishes more than a few; the rest of a larger set is not used.
_KEYS_MAX = 1000

Jwk = Mapping[str, object]


class KeySetError(Exception):
    """A text that is no JSON Web Key Set."""


class SignedPart(NamedTuple):
    """What a signature is of, and the signature. algorithm, key_id: of the header; key_id None without one."""

    algorithm: str
    key_id: str | None
    data: bytes
    signature: bytes


class KeySet:
    """The keys of one set."""

    def __init__(self, keys: list[Jwk]) -> None:
        """keys: as in the set, in its order."""
        self._keys = keys[:_KEYS_MAX]

    def verify(self, part: SignedPart) -> None:
        """Check a signature. Raises UnknownKey and InvalidToken."""
        if part.algorithm not in _ALGORITHMS:
            raise InvalidToken("the algorithm is none of those of public keys")
        try:
            key = jwt.PyJWK(_public_part(self._select(part)), algorithm=part.algorithm)
        except jwt.PyJWTError as error:
            raise InvalidToken("the key of the set cannot be used with the algorithm") from error
        if isinstance(key.key, RSAPublicKey) and key.key.key_size < _RSA_BITS_MIN:
            raise InvalidToken(f"an RSA key of {key.key.key_size} bits; at least {_RSA_BITS_MIN} are required")
        if not key.Algorithm.verify(part.data, key.key, part.signature):
            raise InvalidToken("the signature is not that of the key")

    def _select(self, part: SignedPart) -> Jwk:
        kind, curve = _ALGORITHMS[part.algorithm]
        found = [
            key
            for key in self._keys
            if key.get("kty") == kind
            and key.get("use", "sig") == "sig"
            and (part.key_id is None or key.get("kid") == part.key_id)
            and (curve is None or key.get("crv") == curve)
        ]
        if len(found) > 1:
            found = [key for key in found if key.get("alg", part.algorithm) == part.algorithm]
        if not found:
            raise UnknownKey(part.key_id)
        return found[0]


def _public_part(key: Jwk) -> dict[str, object]:
    return {name: key[name] for name in _PUBLIC[str(key["kty"])] if name in key}


class UnknownKey(InvalidToken):
    """A token whose key is not in the set."""

    def __init__(self, key_id: str | None) -> None:
        """key_id: of the token's header; it is not part of the reason, because the client chose it."""
        super().__init__("no key of the set has the key id and the algorithm of the token")
        self.key_id = key_id


def parse_key_set(data: bytes) -> KeySet:
    """Return the key set in the bytes of a JWKS. Raises KeySetError."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise KeySetError("not JSON") from error
    keys = cast("Mapping[str, object]", value).get("keys") if isinstance(value, dict) else None
    if not isinstance(keys, list):
        raise KeySetError('expected an object with a list "keys"')
    return KeySet([cast("Jwk", key) for key in cast("list[object]", keys) if isinstance(key, dict)])
