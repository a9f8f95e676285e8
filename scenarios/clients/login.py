"""How the clients of a scenario authenticate by SASL_PLAINTEXT: with a password, or with tokens of the broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...client.client_security import TokenEndpoint
from ...client.oauth_tokens import TOKEN_BYTES_MAX
from ...client.sasl_messages import bearer_message, plain_message
from ...client.token_request import request_token
from ..steps import Mechanism

SECURITY_PROTOCOL = "SASL_PLAINTEXT"
OAUTHBEARER: Final = "OAUTHBEARER"
# Far more than a token takes.
_TOKEN_SECONDS_MAX = 10.0


@dataclass(frozen=True, slots=True)
class Login:
    """The user of a scenario. token_endpoint: the URL with the lifetime of the tokens; "" without tokens."""

    mechanism: Mechanism
    user: str
    password: str
    token_endpoint: str = ""

    def fetch_token(self) -> str:
        """Return a new token of the user. Raises TokenError."""
        endpoint = TokenEndpoint(self.token_endpoint, self.user, self.password)
        token, _ = request_token(endpoint, timeout_seconds=_TOKEN_SECONDS_MAX, bytes_max=TOKEN_BYTES_MAX)
        return token

    def first_message(self) -> bytes:
        """Return the message with which a client authenticates by the mechanism. Raises TokenError."""
        if self.mechanism == OAUTHBEARER:
            return bearer_message(self.fetch_token())
        return plain_message(self.user, self.password)


def librdkafka_config(login: Login | None) -> dict[str, str]:
    """Return the configuration of librdkafka for a login; nothing without one."""
    if login is None:
        return {}
    config = {"security.protocol": SECURITY_PROTOCOL, "sasl.mechanism": login.mechanism}
    if login.mechanism != OAUTHBEARER:
        return {**config, "sasl.username": login.user, "sasl.password": login.password}
    return {
        **config,
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": login.user,
        "sasl.oauthbearer.client.secret": login.password,
        "sasl.oauthbearer.token.endpoint.url": login.token_endpoint,
    }
