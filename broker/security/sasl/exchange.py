"""The interface of SASL mechanisms: an exchange of tokens that ends with a principal (Java: SaslServer)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..principal import Principal

# A name in the messages of SCRAM and OAUTHBEARER (RFC 5802, saslname).
SASL_NAME = r"(?:[\x01-+\--<>-\x7f]|=2C|=3D)+"


class SaslFailed(Exception):
    """The client has not authenticated.

    message: for the client; None for Kafka's text that names the mechanism only, because the reason would show whether
    the user exists. reason: for the log, without a secret. is_delayed: whether the connection ends after the delay of a
    failed authentication also where there is no response: Kafka's SaslAuthenticationException, and no SaslException.
    """

    def __init__(self, reason: str, message: str | None = None, *, is_delayed: bool | None = None) -> None:
        """message: None for the text without a reason. is_delayed: None for an error with a message."""
        super().__init__(reason)
        self.reason = reason
        self.message = message
        self.is_delayed = message is not None if is_delayed is None else is_delayed


class Authenticated(NamedTuple):
    """The result of an exchange.

    expires_at_ms: when the credential expires, in ms since the epoch; None for never. is_by_token: whether it is a
    delegation token.
    """

    principal: Principal
    expires_at_ms: int | None = None
    is_by_token: bool = False


class Exchange(Protocol):
    """One authentication by one mechanism. result: None until the client has authenticated."""

    result: Authenticated | None

    def find_user(self, token: bytes) -> str | None:
        """Return the user whom the client's next token names, None for none. Nothing is verified, or changed."""
        ...

    def evaluate(self, token: bytes) -> bytes:
        """Take a token of the client, and return the one that answers it. Raises SaslFailed."""
        ...
