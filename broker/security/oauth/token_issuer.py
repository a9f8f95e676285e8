"""Our own tokens: signed with an RSA key that is made when it is first needed, and accepted by our listeners.

The key is not stored: tokens from before a restart of the process are refused, as after a change of keys.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from hmac import compare_digest
from importlib.util import find_spec
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from .bearer_token import BearerToken, InvalidToken, TokenValidator

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    from .key_set import KeySet
    from .signed_validator import ClaimRules

ALGORITHM = "RS256"
AUDIENCE_DEFAULT = "kafka"
LIFETIME_MS_DEFAULT = 3_600_000
# A year.
LIFETIME_MS_MAX = 365 * 24 * 3600 * 1000
_RSA_BITS = 2048
_RSA_EXPONENT = 65_537
_ID_BYTES = 8


class TokenClaims(NamedTuple):
    """What a token says. issuer: the address of the endpoint. scope: None for no such claim."""

    issuer: str
    subject: str
    audience: str
    scope: str | None = None


class IssuedToken(NamedTuple):
    """A signed token. expires_in_seconds: from its issue on."""

    token: str
    expires_in_seconds: int


class _Key(NamedTuple):
    key_id: str
    private: RSAPrivateKey
    jwk: Mapping[str, object]
    key_set: KeySet


class TokenIssuer:
    """Issues tokens to the users of the command line, and is the KeySource of its own tokens."""

    def __init__(self, passwords: Mapping[str, str], lifetime_ms: int = LIFETIME_MS_DEFAULT) -> None:
        """passwords: by user. lifetime_ms: of a token, unless the client asks for another one."""
        self.lifetime_ms = lifetime_ms
        self._passwords = dict(passwords)
        self._lock = threading.Lock()
        self._key: _Key | None = None

    @property
    def has_key(self) -> bool:
        """Whether a token may have been issued."""
        return self._key is not None

    def is_secret_of(self, user: str, secret: str) -> bool:
        """Return whether a secret is that of a user, in a time that does not depend on both."""
        expected = self._passwords.get(user)
        is_same = compare_digest(secret.encode(errors="replace"), (expected or "").encode())
        return expected is not None and is_same

    def make_key(self) -> Mapping[str, object]:
        """Return the public key as a JWK. The first call makes the key, which takes a tenth of a second."""
        with self._lock:
            self._key = self._key or _new_key()
            return self._key.jwk

    def issue(self, claims: TokenClaims, now_ms: int, lifetime_ms: int) -> IssuedToken:
        """Return a token. make_key was called before. lifetime_ms: rounded up to whole seconds."""
        import jwt

        key = self._key
        assert key is not None, "no key was made"
        issued, expires = now_ms // 1000, -(-(now_ms + lifetime_ms) // 1000)
        payload: dict[str, object] = {
            "iss": claims.issuer,
            "sub": claims.subject,
            "aud": claims.audience,
            "iat": issued,
            "exp": expires,
            "jti": token_hex(_ID_BYTES),
        }
        if claims.scope is not None:
            payload["scope"] = claims.scope
        token = jwt.encode(payload, key.private, algorithm=ALGORITHM, headers={"kid": key.key_id})
        return IssuedToken(token, -(-lifetime_ms // 1000))

    def key_set(self) -> KeySet:
        """Return the set with the public key. Raises InvalidToken without one."""
        if self._key is None:
            raise InvalidToken("no token has been issued")
        return self._key.key_set

    def key_is_missing(self) -> None:
        """Do nothing: the key stays the same."""


class OwnTokenValidator:
    """A TokenValidator of our own tokens, and of those that another one accepts."""

    def __init__(self, issuer: TokenIssuer, rules: ClaimRules, other: TokenValidator) -> None:
        """rules: for our own tokens. other: for those without a signature, and before any token was issued."""
        from .signed_validator import SignedValidator

        self._issuer = issuer
        self._own = SignedValidator(issuer, rules)
        self._other = other

    def find_principal(self, token: str) -> str | None:
        """Return the principal that a token names, None for none. Nothing is verified."""
        return self._validator_of(token).find_principal(token)

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Return the principal of a token. Raises InvalidToken and FrameError, see TokenValidator."""
        return self._validator_of(token).validate(token, now_ms)

    def _validator_of(self, token: str) -> TokenValidator:
        return self._own if self._issuer.has_key and not token.endswith(".") else self._other


def can_issue() -> bool:
    """Return whether the packages for signatures are installed: those of the extra security."""
    return find_spec("jwt") is not None and find_spec("cryptography") is not None


def _new_key() -> _Key:
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
    from jwt.algorithms import RSAAlgorithm

    from .key_set import KeySet

    private = generate_private_key(_RSA_EXPONENT, _RSA_BITS)
    key_id = token_hex(_ID_BYTES)
    public = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    jwk = {
        **{name: public[name] for name in ("kty", "n", "e")},
        "kid": key_id,
        "use": "sig",
        "alg": ALGORITHM,
    }
    return _Key(key_id, private, jwk, KeySet([jwk]))
