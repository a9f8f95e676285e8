"""Requests for delegation tokens on a listener with SASL, and logins with a token."""

from __future__ import annotations

from base64 import b64encode
from contextlib import closing
from dataclasses import dataclass

from ...golden.raw_apis_security import (
    CREATE_DELEGATION_TOKEN,
    DESCRIBE_DELEGATION_TOKEN,
    EXPIRE_DELEGATION_TOKEN,
    RENEW_DELEGATION_TOKEN,
)
from ...golden.raw_client import RawConnection
from ...golden.raw_schema import Struct, Value
from ...golden.sasl_client import SaslClient, ScramClient, plain

LISTENER = "SASL_PLAINTEXT"
SHA_256 = "SCRAM-SHA-256"


@dataclass(frozen=True)
class Token:
    """A token that was created."""

    token_id: str
    hmac: bytes
    expiry_ms: int

    @property
    def password(self) -> str:
        return b64encode(self.hmac).decode()


class TokenClient:
    """A connection of a user that has logged in by PLAIN."""

    def __init__(self, address: str, user: str = "alice", password: str = "secret") -> None:
        client = SaslClient({LISTENER: address}, LISTENER)
        client.handshake("PLAIN")
        client.authenticate(plain(user, password))
        self.connection: RawConnection = client.connection

    def create(self, renewers: int = 0) -> Token:
        """Create a token. renewers: how many it has."""
        principals: list[Value] = [
            {"principal_type": "User", "principal_name": f"renewer-{number}"} for number in range(renewers)
        ]
        response = self.connection.call(CREATE_DELEGATION_TOKEN, 3, {"renewers": principals, "max_lifetime_ms": -1})
        assert response.integer("error_code") == 0, response
        return Token(response.text("token_id"), response.data("hmac"), response.integer("expiry_timestamp_ms"))

    def renew(self, token: Token) -> Struct:
        """Renew a token for the default time."""
        return self.connection.call(RENEW_DELEGATION_TOKEN, 2, {"hmac": token.hmac, "renew_period_ms": -1})

    def expire(self, token: Token, period_ms: int = -1) -> Struct:
        """Expire a token after a time, or remove it."""
        return self.connection.call(
            EXPIRE_DELEGATION_TOKEN, 2, {"hmac": token.hmac, "expiry_time_period_ms": period_ms}
        )

    def described(self) -> list[str]:
        """Return the ids of the tokens that the user may describe."""
        response = self.connection.call(DESCRIBE_DELEGATION_TOKEN, 3, {"owners": None})
        assert response.integer("error_code") == 0, response
        return [each.text("token_id") for each in response.structs("tokens")]


def begin_log_in(address: str, token: Token, mechanism: str = SHA_256) -> SaslClient:
    """Log in with a token. Its last token is empty if the login has failed."""
    client = SaslClient({LISTENER: address}, LISTENER)
    client.log_in_by_scram(ScramClient(mechanism, token.token_id, token.password, extensions=",tokenauth=true"))
    return client


def logs_in(address: str, token: Token, mechanism: str = SHA_256) -> bool:
    """Return whether a login with the token succeeds."""
    client = begin_log_in(address, token, mechanism)
    with closing(client.connection):
        return bool(client.token)
