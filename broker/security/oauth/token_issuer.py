"""Our own tokens: signed with an RSA key that is made when it is first needed, and accepted by our listeners.

Rules:
- With a data folder the key is kept there (token_file), else tokens are refused after a restart of the process.
- The tokens of a user are of generations. Revoking them begins the next one, and tokens of earlier ones are refused.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from hmac import compare_digest
from importlib.util import find_spec
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from ....security.java_text import is_decimal, trim
from .. import oauth
from .bearer_token import BearerToken, InvalidToken, TokenValidator, find_text_claim

if TYPE_CHECKING:
    from ..users import Users
    from .key_set import KeySet
    from .signed_validator import ClaimRules
    from .signing_key import SigningKey
    from .token_file import TokenFile

logger = logging.getLogger(__name__)

AUDIENCE_DEFAULT = "kafka"
LIFETIME_MS_DEFAULT = 3_600_000
# A year.
LIFETIME_MS_MAX = 365 * 24 * 3600 * 1000
_ID_BYTES = 8
# In the claim jti, before the generation.
_GENERATION_SEPARATOR = "."


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


class TokenIssuer:
    """Issues tokens to users with a password, and is the KeySource of its own tokens."""

    def __init__(self, users: Users, lifetime_ms: int = LIFETIME_MS_DEFAULT) -> None:
        """lifetime_ms: of a token, unless the client asks for another one."""
        self.lifetime_ms = lifetime_ms
        self._users = users
        self._lock = threading.Lock()
        self._key: SigningKey | None = None
        self._file: TokenFile | None = None
        # The generation of the tokens that are valid, by user; 0 without an entry.
        self._generations: dict[str, int] = {}

    def keep_in(self, file: TokenFile) -> None:
        """Take key and revocations from the file if it is there, and keep them there. Raises ConfigError."""
        self._file = file
        stored = file.read()
        if stored is None:
            return
        try:
            self._key = oauth.signing_key.stored_key(stored.key_id, stored.private_key)
        except ValueError as error:
            # Without its message, which may have parts of the key.
            raise file.damaged() from error
        self._generations = dict(stored.generations)

    @property
    def has_key(self) -> bool:
        """Whether a token may have been issued."""
        return self._key is not None

    def is_secret_of(self, user: str, secret: str) -> bool:
        """Return whether a secret is that of a user, in a time that does not depend on both."""
        expected = self._users.find_password(user)
        is_same = compare_digest(*(text.encode(errors="surrogatepass") for text in (secret, expected or "")))
        return expected is not None and is_same

    def make_key(self) -> Mapping[str, object]:
        """Return the public key as a JWK. The first call makes the key, which takes a tenth of a second."""
        with self._lock:
            if self._key is None:
                self._key = oauth.signing_key.new_key(token_hex(_ID_BYTES))
                self._save(self._key)
            return self._key.jwk

    def revoke(self, user: str) -> None:
        """Refuse the tokens that were issued to a user so far. It may wait for the disk."""
        with self._lock:
            self._generations[trim(user)] = self._generation_of(user) + 1
            if self._key is not None:
                self._save(self._key)

    def is_revoked(self, token: str) -> bool:
        """Return whether a token of this issuer was revoked."""
        user, identifier = find_text_claim(token, "sub"), find_text_claim(token, "jti") or ""
        _, _, generation = identifier.rpartition(_GENERATION_SEPARATOR)
        return (int(generation) if is_decimal(generation) else 0) < self._generation_of(user or "")

    def _generation_of(self, user: str) -> int:
        # A principal has no space around it, and so a claim has none when it is read.
        return self._generations.get(trim(user), 0)

    def _save(self, key: SigningKey) -> None:
        if self._file is None:
            return
        stored = oauth.token_file.StoredTokens(
            key_id=key.key_id, private_key=key.private_pem(), generations=self._generations
        )
        try:
            self._file.write(stored)
        except OSError as error:
            logger.warning("the key of the tokens ends with this process: %s: %s", self._file.path, error.strerror)

    def issue(self, claims: TokenClaims, now_ms: int, lifetime_ms: int) -> IssuedToken:
        """Return a token. make_key was called before. lifetime_ms: rounded up to whole seconds."""
        key = self._key
        assert key is not None, "no key was made"
        issued, expires = now_ms // 1000, -(-(now_ms + lifetime_ms) // 1000)
        payload: dict[str, object] = {
            "iss": claims.issuer,
            "sub": claims.subject,
            "aud": claims.audience,
            "iat": issued,
            "exp": expires,
            "jti": f"{token_hex(_ID_BYTES)}{_GENERATION_SEPARATOR}{self._generation_of(claims.subject)}",
        }
        if claims.scope is not None:
            payload["scope"] = claims.scope
        return IssuedToken(key.sign(payload), -(-lifetime_ms // 1000))

    def prepare(self) -> None:
        """Do nothing: the key is made with the first token."""

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
        self._issuer = issuer
        self.prepare = other.prepare
        self._own = oauth.signed_validator.SignedValidator(issuer, rules)
        self._other = other

    def find_principal(self, token: str) -> str | None:
        """Return the principal that a token names, None for none. Nothing is verified."""
        return self._validator_of(token).find_principal(token)

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Return the principal of a token. Raises InvalidToken and FrameError, see TokenValidator."""
        validator = self._validator_of(token)
        accepted = validator.validate(token, now_ms)
        if validator is self._own and self._issuer.is_revoked(token):
            raise InvalidToken("it was revoked")
        return accepted

    def _validator_of(self, token: str) -> TokenValidator:
        return self._own if self._issuer.has_key and not token.endswith(".") else self._other


def can_issue() -> bool:
    """Return whether the packages for signatures are installed: those of the extra security."""
    return find_spec("jwt") is not None and find_spec("cryptography") is not None
