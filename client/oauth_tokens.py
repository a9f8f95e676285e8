"""Bearer tokens of OAUTHBEARER: from a command, a file or a token endpoint, or made without a signature.

- A token is fetched by the process that connects. It is kept in that process until 80 % of its lifetime have passed,
  which is sasl.login.refresh.window.factor of Kafka. A token without a known lifetime is kept for no time.
- Time and size of each source are limited. No message has a token or what a source wrote.
Source: OAuthBearerUnsecuredLoginCallbackHandler, FileJwtRetriever and ClientCredentialsJwtRetriever, Kafka 4.3.0.
"""

from __future__ import annotations

import json
import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import assert_never, cast

from .. import client
from ..security.java_text import trim
from .client_security import TokenCommand, TokenEndpoint, TokenFile, TokenSource, UnsecuredToken
from .token_command import run_token_command
from .token_error import TokenError

# A command may ask another service. It is far below the timeout of a broker for a login.
TOKEN_SECONDS_MAX = 30.0
# A broker of Kafka reads 512 KiB before the login (sasl.server.max.receive.size).
TOKEN_BYTES_MAX = 512 * 1024
REFRESH_FACTOR = 0.8
# OAuthBearerUnsecuredLoginCallbackHandler.DEFAULT_LIFETIME_SECONDS_ONE_HOUR.
UNSECURED_SECONDS = 3600
# Sources of one process.
_SOURCES_MAX = 16
_TOKEN = re.compile(r"[-_~+/.a-zA-Z0-9]+=*")


@dataclass(frozen=True, slots=True)
class _Token:
    """text: as sent. renewed_at: when another one is fetched, in seconds since the epoch."""

    text: str = field(repr=False)
    renewed_at: float


class _KeptToken:
    """The token of one source."""

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._lock = Lock()
        self._token: _Token | None = None

    def at(self, now: float) -> str:
        """Return the token, or a new one after most of its lifetime. Raises TokenError."""
        with self._lock:
            if self._token is None or now >= self._token.renewed_at:
                self._token = None
                self._token = _new_token(self._source, now)
            return self._token.text


@lru_cache(maxsize=_SOURCES_MAX)
def _kept_token_of(source: TokenSource) -> _KeptToken:
    return _KeptToken(source)


def fetch_token(source: TokenSource, now: float | None = None) -> str:
    """Return a valid token of the source. now: seconds since the epoch; default: the clock. Raises TokenError."""
    return _kept_token_of(source).at(time.time() if now is None else now)


def _new_token(source: TokenSource, now: float) -> _Token:
    match source:
        case TokenCommand():
            output = run_token_command(source, timeout_seconds=TOKEN_SECONDS_MAX, bytes_max=TOKEN_BYTES_MAX)
            return _checked(output, f"the token command {source.program}", now)
        case TokenFile():
            return _checked(_content_of(source), f"the token file {source.path}", now)
        case TokenEndpoint():
            token, seconds = _response_of(source)
            return _checked(token.encode(), f"the token endpoint {source.url}", now, seconds)
        case UnsecuredToken():
            return _Token(_unsecured(source, int(now)), now + UNSECURED_SECONDS * REFRESH_FACTOR)
        case _:
            assert_never(source)


def _checked(content: bytes, name: str, now: float, seconds: float | None = None) -> _Token:
    text = trim(content.decode("ascii", "backslashreplace"))
    if not text:
        raise TokenError(f"{name} returns no token")
    if len(content) > TOKEN_BYTES_MAX or _TOKEN.fullmatch(text) is None:
        raise TokenError(f"{name} returns something that is no token of up to {TOKEN_BYTES_MAX} bytes")
    lifetime = seconds if seconds is not None else _lifetime_of(text, now)
    if lifetime is not None and lifetime <= 0:
        raise TokenError(f"{name} returns an expired token")
    return _Token(text, now + (lifetime or 0) * REFRESH_FACTOR)


def _lifetime_of(token: str, now: float) -> float | None:
    """Return the seconds until a JWT expires; None if the token is none, or has no expiry."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims: object = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    expiry = cast("dict[str, object]", claims).get("exp") if isinstance(claims, dict) else None
    return expiry - now if isinstance(expiry, int | float) and not isinstance(expiry, bool) else None


def _content_of(source: TokenFile) -> bytes:
    try:
        with open(source.path, "rb") as file:
            return file.read(TOKEN_BYTES_MAX + 1)
    except OSError as error:
        raise TokenError(f"the token file {source.path} cannot be read: {error.strerror}") from None


def _response_of(source: TokenEndpoint) -> tuple[str, float | None]:
    """Return the token and the seconds that it is valid, None if the response does not say it."""
    return client.token_request.request_token(source, timeout_seconds=TOKEN_SECONDS_MAX, bytes_max=TOKEN_BYTES_MAX)


def _unsecured(source: UnsecuredToken, now: int) -> str:
    claims = {"iat": now, "exp": now + UNSECURED_SECONDS, **dict(source.claims)}
    return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."


def _encoded(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()
