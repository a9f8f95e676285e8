"""SASL/OAUTHBEARER (RFC 7628): one message with a token, and a further one if the token was refused.

A refused token is answered with JSON. The authentication fails with the client's next message, which is one byte 01;
another token in its place begins anew. Extensions are checked for their form and have no effect.
Source: OAuthBearerSaslServer and OAuthBearerClientInitialResponse, Kafka 4.3.0; tests/golden/oauth-4.3.0.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ....protocol.frames import FrameError
from ....security.java_text import decode_utf8, equals_ignore_case
from ..oauth.bearer_token import InvalidToken, TokenValidator, end_without_response
from ..principal import Principal
from .exchange import SASL_NAME, Authenticated, SaslFailed

_SEPARATOR = "\x01"
_ACKNOWLEDGEMENT = b"\x01"
_PAIR = rf"[A-Za-z]+=[!-~ \t\r\n]+{_SEPARATOR}"
_FIRST_MESSAGE = re.compile(
    rf"n,(?:a=(?P<authorization_id>{SASL_NAME}))?,{_SEPARATOR}(?P<pairs>(?:{_PAIR})*){_SEPARATOR}"
)
_AUTH = re.compile(r"(?P<scheme>[A-Za-z0-9_]+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)")
_INVALID_MESSAGE = "Invalid OAUTHBEARER client first message"


class OauthBearerExchange:
    """An Exchange of OAUTHBEARER."""

    def __init__(self, validator: TokenValidator, now_ms: Callable[[], int]) -> None:
        """validator: of the listener. now_ms: the time by which tokens expire."""
        self.result: Authenticated | None = None
        self._validator = validator
        self._now_ms = now_ms
        # Whom the last token names, if it was refused; and why it was, for the client and for the log.
        self._refused_user: str | None = None
        self._refusal: tuple[str, str] | None = None

    def find_user(self, token: bytes) -> str | None:
        """Return the principal in the bearer token, or in the one whose refusal the client acknowledges."""
        if token == _ACKNOWLEDGEMENT:
            return self._refused_user
        try:
            _, bearer = _parse(token)
        except (SaslFailed, FrameError):
            return None
        return self._validator.find_principal(bearer)

    def evaluate(self, token: bytes) -> bytes:
        """Check the token in the client's message. Return no bytes, or the JSON that refuses it.

        Raises SaslFailed. Raises FrameError for a message to which Kafka does not respond.
        """
        if token == _ACKNOWLEDGEMENT and self._refusal is not None:
            message, reason = self._refusal
            raise SaslFailed(reason, message)
        self._refusal = None
        authorization_id, bearer = _parse(token)
        try:
            accepted = self._validator.validate(bearer, self._now_ms())
        except InvalidToken as error:
            message = _refusal_of(error)
            self._refused_user = self._validator.find_principal(bearer)
            self._refusal = message, f"invalid token: {error.reason}"
            return message.encode()
        if authorization_id and authorization_id != accepted.principal:
            reason = (
                f"Authentication failed: Client requested an authorization id ({authorization_id}) that is different "
                f"from the token's principal name ({accepted.principal})"
            )
            raise SaslFailed(reason, reason)
        self.result = Authenticated(Principal(accepted.principal), accepted.expires_at_ms)
        return b""


def _parse(message: bytes) -> tuple[str, str]:
    """Return authorization id and token of the first message. Raises SaslFailed and FrameError."""
    match = _FIRST_MESSAGE.fullmatch(decode_utf8(message))
    if match is None:
        raise SaslFailed(_INVALID_MESSAGE)
    pairs = dict(pair.split("=", 1) for pair in match["pairs"].split(_SEPARATOR) if pair)
    auth = pairs.get("auth")
    if auth is None:
        raise SaslFailed(f"{_INVALID_MESSAGE}: 'auth' not specified")
    parts = _AUTH.fullmatch(auth)
    if parts is None:
        raise SaslFailed(f"{_INVALID_MESSAGE}: invalid 'auth' format")
    if not equals_ignore_case(parts["scheme"], "bearer"):
        # Kafka fails to name the scheme in its message.
        raise end_without_response("invalid scheme in OAUTHBEARER client first message")
    return match["authorization_id"] or "", parts["token"]


def _refusal_of(error: InvalidToken) -> str:
    if error.scope is None:
        return '{"status":"invalid_token"}'
    return f'{{"status":"insufficient_scope", "scope":"{error.scope}"}}'
