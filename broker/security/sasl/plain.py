"""SASL/PLAIN: user and password in one token (RFC 4616).

Source: PlainSaslServer, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest

from ....security.java_text import decode_utf8
from ..principal import Principal
from .exchange import Authenticated, SaslFailed

_SEPARATOR = "\0"
_TOKEN_PARTS = 3


class PlainExchange:
    """An Exchange of PLAIN."""

    def __init__(self, find_password: Callable[[str], str | None]) -> None:
        """find_password: returns the password of a user, or None."""
        self.result: Authenticated | None = None
        self._find_password = find_password

    def find_user(self, token: bytes) -> str | None:
        """Return the user in the token."""
        parts = _parts_of(token)
        return parts[1] if len(parts) == _TOKEN_PARTS else None

    def evaluate(self, token: bytes) -> bytes:
        """Check user and password, and return an empty token. Raises SaslFailed."""
        parts = _parts_of(token)
        if len(parts) != _TOKEN_PARTS:
            reason = f"Invalid SASL/PLAIN response: expected {_TOKEN_PARTS} tokens, got {len(parts)}"
            raise SaslFailed(reason, reason)
        authorization_id, username, password = parts
        if not username:
            raise _failed("username not specified")
        if not password:
            raise _failed("password not specified")
        expected = self._find_password(username)
        # An unknown user takes as long as a wrong password.
        is_same = compare_digest(password.encode(), (expected or "").encode(errors="surrogatepass"))
        if expected is None or not is_same:
            raise _failed("Invalid username or password")
        if authorization_id and authorization_id != username:
            raise _failed("Client requested an authorization id that is different from username")
        self.result = Authenticated(Principal(username))
        return b""


def _parts_of(token: bytes) -> list[str]:
    return decode_utf8(token).split(_SEPARATOR, _TOKEN_PARTS)


def _failed(reason: str) -> SaslFailed:
    return SaslFailed(reason, f"Authentication failed: {reason}")
