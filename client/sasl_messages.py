"""The messages of a client for each SASL mechanism, as a generator: yields a message, and gets the broker's response.

Source: PlainSaslClient, ScramSaslClient and OAuthBearerSaslClient, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
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


def plain_message(user: str, password: str) -> bytes:
    """Return the message of PLAIN (RFC 4616)."""
    return f"\0{user}\0{password}".encode()


def bearer_message(token: str, extensions: Iterable[tuple[str, str]] = ()) -> bytes:
    """Return the first message of OAUTHBEARER (RFC 7628). extensions: names and values beside the token."""
    pairs = (("auth", f"Bearer {token}"), *extensions)
    text = "".join(f"{name}={value}{_SEPARATOR}" for name, value in pairs)
    return f"n,,{_SEPARATOR}{text}{_SEPARATOR}".encode()


def _plain_messages(login: PasswordLogin) -> Generator[bytes, bytes, None]:
    yield plain_message(login.user, login.password)


def _token_messages(login: TokenLogin) -> Generator[bytes, bytes, None]:
    refusal = yield bearer_message(fetch_token(login.source), login.extensions)
    if refusal:
        # The broker ends a refused login with its response to this message (RFC 7628, section 3.2.3).
        yield _SEPARATOR.encode()
