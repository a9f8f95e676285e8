"""How the clients of a scenario authenticate by SASL_PLAINTEXT: with a password, or with tokens of the broker."""

from __future__ import annotations

import json
import urllib.request
from base64 import b64encode
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from ..scenario import Mechanism

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
        """Return a new token of the user. Raises OSError."""
        credentials = b64encode(f"{self.user}:{self.password}".encode()).decode()
        form = urlencode({"grant_type": "client_credentials"}).encode()
        request = urllib.request.Request(self.token_endpoint, form, {"Authorization": f"Basic {credentials}"})
        with urllib.request.urlopen(request, timeout=_TOKEN_SECONDS_MAX) as response:
            token: str = json.load(response)["access_token"]
        return token

    def first_message(self) -> bytes:
        """Return the message with which a client authenticates by the mechanism. Raises OSError."""
        if self.mechanism == OAUTHBEARER:
            return f"n,,\x01auth=Bearer {self.fetch_token()}\x01\x01".encode()
        return f"\0{self.user}\0{self.password}".encode()


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
