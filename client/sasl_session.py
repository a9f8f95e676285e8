"""The SASL session of a connection: the login, and the next one before the session ends (KIP-368).

Source: SaslClientAuthenticator, Kafka 4.3.0. It draws the time of the next login between 85 % and 95 % of the session.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from ..protocol.api_keys import ApiKey
from ..protocol.client_requests import RequestMessage
from ..protocol.error_codes import ErrorCode
from ..protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ..protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ..protocol.primitives import Reader
from .client_security import SaslLogin
from .errors import AuthenticationFailed, error_name
from .sasl_messages import messages_of
from .scram_messages import InvalidServerMessage
from .token_error import TokenError

REAUTHENTICATION_FACTOR = 0.85
# Of a broker's message in an error.
_SHOWN_CHARACTERS = 300

Response = TypeVar("Response")


class Send(Protocol):
    """Sends a request in the newest version that both sides support, and returns the response."""

    def __call__(self, key: ApiKey, message: RequestMessage, read: Callable[[Reader, int], Response]) -> Response:
        """Raise BrokerError."""
        ...


class SaslSession:
    """The session of one connection."""

    def __init__(self, login: SaslLogin, address: str, send: Send) -> None:
        """address: of the broker, for messages. send: sends without a check of this session."""
        self._login = login
        self._prefix = f"broker {address}: SASL {login.mechanism}"
        self._send = send
        self._next_login_at = float("inf")

    @property
    def is_ending(self) -> bool:
        """Whether the connection must authenticate again before its next request."""
        return time.monotonic() >= self._next_login_at

    def authenticate(self) -> None:
        """Log in. Raises AuthenticationFailed with the broker's message, and BrokerError."""
        started = time.monotonic()
        self._check_mechanism()
        try:
            lifetime_ms = self._exchange_messages()
        except (InvalidServerMessage, TokenError) as error:
            raise AuthenticationFailed(f"{self._prefix}: {error}") from None
        seconds = lifetime_ms / 1000 * REAUTHENTICATION_FACTOR
        self._next_login_at = started + seconds if lifetime_ms else float("inf")

    def _check_mechanism(self) -> None:
        request = SaslHandshakeRequest(mechanism=self._login.mechanism)
        response = self._send(ApiKey.SASL_HANDSHAKE, request, SaslHandshakeResponse.read)
        if response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            offered = ", ".join(response.mechanisms) or "none"
            raise AuthenticationFailed(f"{self._prefix}: the listener does not offer it; it offers {_line(offered)}")
        if response.error_code == ErrorCode.ILLEGAL_SASL_STATE:
            raise AuthenticationFailed(f"{self._prefix}: the listener has no SASL; check security.protocol")
        if response.error_code:
            raise AuthenticationFailed(f"{self._prefix}: {error_name(response.error_code)}")

    def _exchange_messages(self) -> int:
        """Return the lifetime of the session in milliseconds, 0 for no limit."""
        messages = messages_of(self._login)
        message = next(messages)
        while True:
            request = SaslAuthenticateRequest(auth_bytes=message)
            response = self._send(ApiKey.SASL_AUTHENTICATE, request, SaslAuthenticateResponse.read)
            if response.error_code:
                text = response.error_message or error_name(response.error_code)
                raise AuthenticationFailed(f"{self._prefix}: {_line(text)}")
            try:
                message = messages.send(response.auth_bytes)
            except StopIteration:
                return response.session_lifetime_ms


def _line(text: str) -> str:
    """Return a broker's text as one line without control characters, shortened."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.split())[:_SHOWN_CHARACTERS]
