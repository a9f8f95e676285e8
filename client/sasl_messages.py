"""The messages of a client for each SASL mechanism, as a generator: yields a message, and gets the broker's response.

Source: PlainSaslClient, ScramSaslClient and OAuthBearerSaslClient, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import assert_never

from .client_security import PLAIN, PasswordLogin, SaslLogin, TokenLogin
from .oauth_tokens import fetch_token
from .scram_messages import scram_messages

_SEPARATOR = "\x01"


def messages_of(login: SaslLogin) -> Generator[bytes, bytes, None]:
    """Return the messages of a login. Raises TokenError and InvalidServerMessage while it is iterated."""
    match login:
        case PasswordLogin():
            return _plain_messages(login) if login.mechanism == PLAIN else scram_messages(login)
        case TokenLogin():
            return _token_messages(login)
        case _:
            assert_never(login)


def _plain_messages(login: PasswordLogin) -> Generator[bytes, bytes, None]:
    yield f"\0{login.user}\0{login.password}".encode()


def _token_messages(login: TokenLogin) -> Generator[bytes, bytes, None]:
    pairs = (("auth", f"Bearer {fetch_token(login.source)}"), *login.extensions)
    text = "".join(f"{name}={value}{_SEPARATOR}" for name, value in pairs)
    refusal = yield f"n,,{_SEPARATOR}{text}{_SEPARATOR}".encode()
    if refusal:
        # The broker ends a refused login with its response to this message (RFC 7628, section 3.2.3).
        yield _SEPARATOR.encode()
