"""One connection of a login probe: with TLS if its listener has it, and a step that shows who the client is."""

from __future__ import annotations

import re
import time
from pathlib import Path

from ...wire.wire_connection import ConnectionClosedError, tls_without_checks
from ..case_recorder import Json
from ..error_names import error_name
from ..raw_apis_security import CREATE_DELEGATION_TOKEN, DESCRIBE_DELEGATION_TOKEN
from ..raw_apis_transactions import FIND_COORDINATOR
from ..sasl_client import CLOSED, Addresses, SaslClient
from .brokers import GROUPS, PROTOCOLS, SESSION_MS

FIND_VERSION, TOKEN_VERSION = 4, 3
GROUP_KEY = 0
# A lifetime that ends with a token is rounded up to this.
ROUNDING_MS = 60_000
NAME_LENGTH_MAX = 60
APPLIED_SECONDS_MAX = 30
POLL_SECONDS = 0.01


class ProbeClient(SaslClient):
    """A connection on one of the listeners. masked: texts in steps, and what the line has in their place."""

    def __init__(self, addresses: Addresses, listener: str, certificate: Path | None = None) -> None:
        """Connect. certificate: certificate and key of the client."""
        super().__init__(addresses, listener)
        self.masked: dict[str, str] = {}
        self._listener = listener
        if PROTOCOLS[listener].endswith("SSL"):
            self.connection.start_tls(tls_without_checks(certificate))

    def authenticate(self, token: bytes, version: int = 2, name: str | None = None) -> None:
        """Send a SaslAuthenticate. The server's part of the nonce of SCRAM has a name in the step."""
        super().authenticate(token, version, name)
        last = self.steps[-1]
        found = re.search(rb"(?:^|,)r=([^,]*)", token)
        if not self.token.startswith(b"r=") or found is None or not isinstance(last, dict):
            return
        answer, nonce = last["answer"], self.token[2:].partition(b",")[0]
        if isinstance(answer, dict) and nonce.startswith(found[1]):
            answer["auth_bytes"] = "r=CLIENT+NONCE,s=SALT,i=4096" if nonce != found[1] else "r=CLIENT,s=SALT,i=4096"

    def who_am_i(self) -> None:
        """Find out the principal by a token that it creates, and by the groups that it may describe."""
        self._add("who am I", self._principal())

    def close(self) -> str:
        """Close the connection. After an error, wait for the broker to do so; CLOSED if it did, or had before."""
        last = self.steps[-1]
        assert isinstance(last, dict)
        answer = last["answer"]
        is_open = answer != CLOSED
        try:
            if isinstance(answer, dict) and answer.get("error_code", "NONE") != "NONE":
                self.connection.receive_frame()
        except ConnectionClosedError:
            is_open = False
        except TimeoutError:
            pass
        finally:
            self.connection.close()
        return "OPEN" if is_open else CLOSED

    def another(self) -> ProbeClient:
        """Return another connection to the listener."""
        return ProbeClient(self._addresses, self._listener)

    def wait_for_token(self, token_id: str) -> None:
        """Return when the broker has the token of this client."""
        deadline = time.monotonic() + APPLIED_SECONDS_MAX
        while token_id not in self._token_ids():
            assert time.monotonic() < deadline, f"no token after {APPLIED_SECONDS_MAX} s"
            time.sleep(POLL_SECONDS)

    def _token_ids(self) -> set[str]:
        described = self.connection.call(DESCRIBE_DELEGATION_TOKEN, TOKEN_VERSION, {"owners": None})
        return {token.text("token_id") for token in described.structs("tokens")}

    def _principal(self) -> Json:
        try:
            created = self.connection.call(
                CREATE_DELEGATION_TOKEN, TOKEN_VERSION, {"renewers": [], "max_lifetime_ms": -1}
            )
            found = self.connection.call(
                FIND_COORDINATOR, FIND_VERSION, {"key_type": GROUP_KEY, "coordinator_keys": list(GROUPS.values())}
            )
        except ConnectionClosedError:
            return CLOSED
        names = {group: name for name, group in GROUPS.items()}
        allowed = {names[each.text("key")] for each in found.structs("coordinators") if not each.integer("error_code")}
        error_code = created.integer("error_code")
        name = f"{created.text('principal_type')}:{created.text('principal_name')}"
        return {
            "principal": error_name(error_code) if error_code else _shortened(name),
            "groups of": "everybody" if len(allowed) == len(GROUPS) else [name for name in GROUPS if name in allowed],
        }

    def _add(self, sent: str, answer: Json) -> None:
        for text, name in self.masked.items():
            sent = sent.replace(text, name)
        if isinstance(answer, dict):
            answer.pop("is_delayed", None)
            lifetime_ms = answer.get("session_lifetime_ms")
            if isinstance(lifetime_ms, int) and lifetime_ms not in (0, SESSION_MS):
                rounded = -(-lifetime_ms // ROUNDING_MS) * ROUNDING_MS
                answer["session_lifetime_ms"] = f"at most {rounded}" if rounded < 100 * ROUNDING_MS else "long"
        super()._add(sent, answer)


def who_am_i(client: SaslClient) -> None:
    """Find out the principal of a client."""
    assert isinstance(client, ProbeClient)
    client.who_am_i()


def _shortened(name: str) -> str:
    return name if len(name) <= NAME_LENGTH_MAX else f"{name[:NAME_LENGTH_MAX]}... of {len(name)}"
