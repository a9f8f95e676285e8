"""The steps of the login probes, each a message and what the broker made of it."""

from __future__ import annotations

from dataclasses import replace

from ..capture_oauth import ACKNOWLEDGEMENT
from ..case_recorder import in_order
from ..connection_cases import Step
from ..oauth_tokens import FirstMessage, Jws
from ..sasl_client import SaslClient, ScramClient, plain
from .client import who_am_i
from .names import PASSWORD, USER

SCRAM = ScramClient("SCRAM-SHA-256", USER, PASSWORD)
SCRAM_512 = replace(SCRAM, mechanism="SCRAM-SHA-512")
OAUTHBEARER = "OAUTHBEARER"


def handshake(mechanism: str = "PLAIN", version: int = 1) -> Step:
    """Return the step that sends a SaslHandshake."""
    return lambda client: client.handshake(mechanism, version)


def versions(version: int = 3) -> Step:
    """Return the step that sends an ApiVersions."""
    return lambda client: client.versions(version)


def authenticate(token: bytes, version: int = 2) -> Step:
    """Return the step that sends a token in a SaslAuthenticate."""
    return lambda client: client.authenticate(token, version)


def bare_token(token: bytes) -> Step:
    """Return the step that sends a token as a frame."""
    return lambda client: client.bare_token(token)


def plain_login(token: bytes) -> Step:
    """Return a whole authentication by PLAIN."""
    return in_order(handshake(), authenticate(token))


def user_login(user: str = USER, password: str = PASSWORD) -> Step:
    """Return a whole authentication of a user by PLAIN."""
    return plain_login(plain(user, password))


def scram_login(scram: ScramClient = SCRAM) -> Step:
    """Return a whole authentication by SCRAM."""
    return lambda client: client.log_in_by_scram(scram)


def token_login(message: FirstMessage | Jws, name: str | None = None) -> Step:
    """Return a whole authentication by OAUTHBEARER. name: of a token that differs from run to run."""
    first = FirstMessage(message) if isinstance(message, Jws) else message

    def run(client: SaslClient) -> None:
        client.handshake(OAUTHBEARER)
        client.authenticate(first.data(), name=name or _shown(str(first)))
        if client.token:
            client.authenticate(ACKNOWLEDGEMENT)

    return run


def known(login: Step) -> Step:
    """Return a login, and who the client is behind it."""
    return in_order(login, who_am_i)


def _shown(text: str) -> str:
    return text if len(text) <= 1000 else f"{text[:100]}... of {len(text)}"
