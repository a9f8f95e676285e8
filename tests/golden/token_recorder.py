"""Runs the cases of capture_tokens against one broker, and makes a line of each.

A case sees only its own tokens. They are named in the order of their creation, TOKEN-1 and so on. A time is relative to
the request or to the token. The rest differs from run to run.
"""

from __future__ import annotations

import hmac
import json
import re
import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.create_acls import CreateAclsResponse

from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError, tls_without_checks
from .acls import EVERY_ACL, Acl, creating_acls, deleting_acls
from .case_recorder import CLOCK_SLACK_MS, Json, now_ms
from .error_names import error_name
from .raw_apis_security import (
    ALTER_USER_SCRAM_CREDENTIALS,
    CREATE_DELEGATION_TOKEN,
    DESCRIBE_DELEGATION_TOKEN,
    EXPIRE_DELEGATION_TOKEN,
    RENEW_DELEGATION_TOKEN,
)
from .raw_client import RawConnection
from .raw_schema import Api, Struct, Value
from .sasl_client import CLOSED, HASHES, Addresses, SaslClient, ScramClient, plain
from .scram_recorder import Upsertion
from .token_brokers import ALICE, BOB, CONFIG_OF, MARKER, PASSWORDS, SECRET_KEY

APPLIED_SECONDS_MAX = 30
POLL_SECONDS = 0.01
# A time is rounded down to this, and a session up to a minute: a machine that does much else may be late.
ROUNDING_MS = 10_000
SESSION_ROUNDING_MS = 60_000
TOKEN_AUTH = ",tokenauth=true"
NOT_FOUND = 62

# Type and name; either may be null.
Principal: TypeAlias = tuple[str | None, str | None]
# A user on SASL_PLAINTEXT, "USER on LISTENER", or a connection.
Requester: TypeAlias = str | SaslClient


def user(name: str) -> Principal:
    """Return the principal of a user."""
    return "User", name


@dataclass(frozen=True)
class Token:
    """A token as its last response had it. name: in the line."""

    name: str
    token_id: str
    hmac: bytes
    issue_ms: int
    expiry_ms: int
    max_ms: int

    @property
    def password(self) -> str:
        """What a client logs in with."""
        return b64encode(self.hmac).decode()


NO_TOKEN = Token("no token", "no-token", b"no hmac", 0, 0, 0)


class TokenScene:
    """What the steps of a case work with."""

    def __init__(self, addresses: Addresses, broker: str, certificate: Path) -> None:
        """addresses: of the broker's listeners. certificate: certificate and key of a client."""
        self.steps: list[Json] = []
        self._addresses = addresses
        self._certificate = certificate
        self._has_tokens = bool(CONFIG_OF[broker].get("delegation.token.secret.key"))
        self._connections: dict[str, RawConnection] = {}
        self._tokens: dict[str, Token] = {}
        self._has_acls = False
        self._logins: list[SaslClient] = []
        # When the last request was sent.
        self._sent_ms = 0
        self._create_scram_user()

    # -- the steps of a case

    def create(
        self,
        by: Requester = ALICE,
        *,
        owner: Principal | None = None,
        renewers: Sequence[Principal] = (),
        max_lifetime_ms: int = -1,
        version: int = 3,
    ) -> Token:
        """Create a token. owner: None for null. Return NO_TOKEN if there is an error."""
        owner_type, owner_name = owner or (None, None)
        body: dict[str, Value] = {
            "owner_principal_type": owner_type,
            "owner_principal_name": owner_name,
            "renewers": _principals(renewers),
            "max_lifetime_ms": max_lifetime_ms,
        }
        sent: dict[str, Json] = {
            "owner": None if owner is None else list(owner),
            "renewers": [list(each) for each in renewers],
            "max_lifetime_ms": max_lifetime_ms,
        }
        answer = self._call(by, CREATE_DELEGATION_TOKEN, version, body)
        token = NO_TOKEN
        if isinstance(answer, Struct) and not answer.integer("error_code"):
            token = Token(
                f"TOKEN-{len(self._tokens) + 1}",
                answer.text("token_id"),
                answer.data("hmac"),
                *(answer.integer(f"{name}_timestamp_ms") for name in ("issue", "expiry", "max")),
            )
            self._tokens[token.token_id] = token
        self._add(f"CreateDelegationToken v{version}", by, sent, answer)
        self._wait_until_applied(answer)
        return token

    def renew(self, token: Token, by: Requester = ALICE, *, period_ms: int = -1, version: int = 2) -> None:
        """Renew a token."""
        self._change("RenewDelegationToken", RENEW_DELEGATION_TOKEN, token.hmac, by, version, renew_period_ms=period_ms)

    def expire(self, token: Token, by: Requester = ALICE, *, period_ms: int = -1, version: int = 2) -> None:
        """Expire a token after a period, or at once."""
        self._change(
            "ExpireDelegationToken", EXPIRE_DELEGATION_TOKEN, token.hmac, by, version, expiry_time_period_ms=period_ms
        )

    def renew_by(self, hmac_: bytes | None) -> None:
        """Renew the token of an HMAC that no token of the case has."""
        self._change("RenewDelegationToken", RENEW_DELEGATION_TOKEN, hmac_, ALICE, 2, renew_period_ms=-1)

    def expire_by(self, hmac_: bytes | None) -> None:
        """Expire the token of an HMAC that no token of the case has."""
        self._change("ExpireDelegationToken", EXPIRE_DELEGATION_TOKEN, hmac_, ALICE, 2, expiry_time_period_ms=-1)

    def describe(self, by: Requester = ALICE, owners: Sequence[Principal] | None = None, *, version: int = 3) -> None:
        """Describe tokens. owners: None for null."""
        named = None if owners is None else _principals(owners)
        answer = self._call(by, DESCRIBE_DELEGATION_TOKEN, version, {"owners": named})
        sent: dict[str, Json] = {"owners": None if owners is None else [list(each) for each in owners]}
        self._add(f"DescribeDelegationToken v{version}", by, sent, answer)

    def log_in(self, token: Token, scram: ScramClient | None = None, listener: str = "SASL_PLAINTEXT") -> SaslClient:
        """Log in with a token, and return the connection. scram: instead of the message of a correct client."""
        client = self._client(listener)
        self.authenticate(client, scram or scram_of(token))
        return client

    def authenticate(self, client: SaslClient, scram: ScramClient) -> None:
        """Authenticate, for the first time or again."""
        first_step = len(client.steps)
        client.log_in_by_scram(scram)
        self._add_steps(client, first_step)

    def log_in_by_plain(self, name: str, password: str) -> None:
        """Log in by PLAIN."""
        client = self._client("SASL_PLAINTEXT")
        client.handshake("PLAIN")
        client.authenticate(plain(name, password))
        self._add_steps(client, 0)

    def metadata(self, client: SaslClient) -> None:
        """Send a Metadata, and add what the broker made of it."""
        first_step = len(client.steps)
        client.metadata()
        self._add_steps(client, first_step)

    def wait(self, seconds: float) -> None:
        """Do nothing for a while."""
        time.sleep(seconds)
        self.steps.append(f"nothing for {seconds} s")

    def allow(
        self,
        principal: str,
        operation: str,
        resource: tuple[str, str],
        *,
        pattern: str = "LITERAL",
        permission: str = "ALLOW",
    ) -> None:
        """Create an ACL. resource: its type and name."""
        resource_type, name = resource
        response = self._call_admin(
            creating_acls(Acl(resource_type, name, operation, permission, pattern, f"User:{principal}"))
        )
        assert isinstance(response, CreateAclsResponse)
        assert not any(result.error_code for result in response.results), response
        shown = self._tokens[name].name if name in self._tokens else name
        self.steps.append(f"ACL: {permission} {principal} {operation} on {resource_type} {pattern} {shown}")
        self._has_acls = True
        # The broker applies the ACLs of a change after its tokens.
        self._mark()
        self._mark()

    # -- between the cases

    def begin_case(self) -> None:
        """Drop the tokens of the last case, close its logins, and delete its ACLs."""
        self._close_logins()
        self.steps = []
        self._tokens = {}
        if self._has_acls:
            self._call_admin(deleting_acls(EVERY_ACL))
            self._mark()
            self._mark()
            self._has_acls = False

    def close(self) -> None:
        """Close the connections."""
        self._close_logins()
        for connection in self._connections.values():
            connection.close()

    def line(self, name: str, broker: str) -> dict[str, Json]:
        """Return the line of the case that was run."""
        text = json.dumps({"case": name, "broker": broker, "steps": self.steps})
        for token in self._tokens.values():
            for shown, secret in ((token.name, token.token_id), (f"HMAC of {token.name}", token.password)):
                text = text.replace(secret, shown)
        text = re.sub(r'CN=fauxka-client[^"]*', "SUBJECT", text)
        # It has the token id in base64.
        text = re.sub(r"c=[A-Za-z0-9+/=]+,r=NONCE", "c=HEADER,r=NONCE", text)
        written: dict[str, Json] = json.loads(text)
        return written

    def _create_scram_user(self) -> None:
        """Give alice a SCRAM credential beside its password for PLAIN."""
        upsertion = Upsertion(ALICE, password=PASSWORDS[ALICE]).sent()
        connection = self._connection("ANONYMOUS on PLAINTEXT")
        answer = connection.call(ALTER_USER_SCRAM_CREDENTIALS, 0, {"deletions": [], "upsertions": [upsertion]})
        assert not any(result.integer("error_code") for result in answer.structs("results")), answer

    def _call_admin(self, request: RequestMessage) -> object:
        """Return the response to a request for ACLs, of version 3."""
        with MessageClient(self._addresses["PLAINTEXT"]) as connection:
            return connection.call(request, 3)

    def _client(self, listener: str) -> SaslClient:
        """Connect for a login of the case."""
        client = SaslClient(self._addresses, listener)
        self._logins.append(client)
        return client

    def _close_logins(self) -> None:
        for client in self._logins:
            client.connection.close()
        self._logins.clear()

    def _wait_until_applied(self, answer: Struct | str) -> None:
        if isinstance(answer, Struct) and not answer.integer("error_code"):
            self._mark()

    def _mark(self) -> None:
        """Return when the broker and its controller have applied what the broker has responded to so far."""
        if not self._has_tokens:
            return
        marker, stranger = self._connection(MARKER), self._connection(BOB)
        created = marker.call(CREATE_DELEGATION_TOKEN, 3, {"renewers": [], "max_lifetime_ms": -1})
        assert not created.integer("error_code"), created
        expiring: dict[str, Value] = {"hmac": created["hmac"], "expiry_time_period_ms": -1}
        owners: list[Value] = [{"principal_type": "User", "principal_name": MARKER}]
        deadline = time.monotonic() + APPLIED_SECONDS_MAX
        while True:
            described = marker.call(DESCRIBE_DELEGATION_TOKEN, 3, {"owners": owners})
            ids = {token.text("token_id") for token in described.structs("tokens")}
            refused = stranger.call(EXPIRE_DELEGATION_TOKEN, 2, expiring).integer("error_code")
            if created["token_id"] in ids and refused != NOT_FOUND:
                break
            assert time.monotonic() < deadline, f"not applied after {APPLIED_SECONDS_MAX} s"
            time.sleep(POLL_SECONDS)
        marker.call(EXPIRE_DELEGATION_TOKEN, 2, expiring)

    # -- requests and lines

    def _change(self, name: str, api: Api, hmac_: bytes | None, by: Requester, version: int, **period: int) -> None:
        answer = self._call(by, api, version, {"hmac": hmac_, **period})
        shown = self._hmac_of(hmac_)
        token = next((each for each in self._tokens.values() if each.hmac == hmac_), None)
        if token is not None and isinstance(answer, Struct) and not answer.integer("error_code"):
            changed = replace(token, expiry_ms=answer.integer("expiry_timestamp_ms"))
            self._tokens[token.token_id] = changed
        self._add(f"{name} v{version}", by, {"hmac": shown, **period}, answer, token)
        self._wait_until_applied(answer)

    def _call(self, by: Requester, api: Api, version: int, body: Mapping[str, Value]) -> Struct | str:
        self._sent_ms = now_ms()
        connection = by.connection if isinstance(by, SaslClient) else self._connection(by)
        try:
            return connection.call(api, version, body)
        except (ConnectionClosedError, TimeoutError) as error:
            if not isinstance(by, SaslClient):
                self._connections.pop(by).close()
            return CLOSED if isinstance(error, ConnectionClosedError) else "NO_RESPONSE"

    def _connection(self, by: str) -> RawConnection:
        if by not in self._connections:
            self._connections[by] = self._connect(by)
        return self._connections[by]

    def _connect(self, by: str) -> RawConnection:
        name, _, listener = by.partition(" on ")
        client = SaslClient(self._addresses, listener or "SASL_PLAINTEXT")
        if "SSL" in listener:
            certificate = self._certificate if name == "certificate" else None
            client.connection.start_tls(tls_without_checks(certificate))
        if name in PASSWORDS:
            client.handshake("PLAIN")
            client.authenticate(plain(name, PASSWORDS[name]))
        return client.connection

    def _add(
        self,
        api: str,
        by: Requester,
        sent: Mapping[str, Json],
        answer: Struct | str,
        token: Token | None = None,
    ) -> None:
        written = answer if isinstance(answer, str) else self._response(answer, token)
        requester = by if isinstance(by, str) else "the login"
        self.steps.append({"api": api, "by": requester, "sent": dict(sent), "answer": written})

    def _response(self, answer: Struct, token: Token | None) -> Json:
        written: dict[str, Json] = {}
        for name, value in answer.items():
            if name == "error_code":
                written[name] = error_name(answer.integer(name))
            elif name == "tokens":
                described = [each for each in answer.structs(name) if each.text("token_id") in self._tokens]
                described.sort(key=lambda each: list(self._tokens).index(each.text("token_id")))
                written[name] = [self._response(each, self._tokens[each.text("token_id")]) for each in described]
            elif name == "renewers":
                written[name] = [
                    [each.text("principal_type"), each.text("principal_name")] for each in answer.structs(name)
                ]
            elif name == "hmac":
                written[name] = self._hmac_of(answer.data(name))
            elif name.endswith("timestamp_ms") and "tokens" not in answer:
                written[name] = self._time(answer, name, token)
            else:
                assert isinstance(value, int | str), (name, value)
                written[name] = value
        return written

    def _time(self, answer: Struct, name: str, token: Token | None) -> Json:
        value = answer.integer(name)
        if value <= 0 or value > 2**62:
            return value
        if token is not None and "token_id" in answer:
            # The token is described.
            known = {"issue": token.issue_ms, "expiry": token.expiry_ms, "max": token.max_ms}[name.split("_")[0]]
            return "as returned" if value == known else f"as returned + {value - known}"
        if token is not None and value == token.max_ms:
            return "max"
        if name in ("expiry_timestamp_ms", "max_timestamp_ms") and "issue_timestamp_ms" in answer:
            return f"issue + {value - answer.integer('issue_timestamp_ms')}"
        passed = value - self._sent_ms
        if name == "issue_timestamp_ms":
            return "now" if -CLOCK_SLACK_MS <= passed <= now_ms() - self._sent_ms + CLOCK_SLACK_MS else value
        return f"now + {(passed + CLOCK_SLACK_MS) // ROUNDING_MS * ROUNDING_MS}"

    def _hmac_of(self, data: bytes | None) -> Json:
        """Return the name of an HMAC that is the right one of a token, or its bytes as text."""
        if data is None:
            return None
        for token in self._tokens.values():
            if data == hmac.digest(SECRET_KEY.encode(), token.token_id.encode(), "sha512"):
                return f"HMAC of {token.name}"
        return data.decode("latin-1")

    def _add_steps(self, client: SaslClient, first: int) -> None:
        for step in client.steps[first:]:
            assert isinstance(step, dict), step
            answer = step["answer"]
            if isinstance(answer, dict) and isinstance(lifetime_ms := answer.get("session_lifetime_ms"), int):
                answer["session_lifetime_ms"] = -(-lifetime_ms // SESSION_ROUNDING_MS) * SESSION_ROUNDING_MS
            self.steps.append(step)


def scram_of(token: Token, mechanism: str = "SCRAM-SHA-256") -> ScramClient:
    """Return the login of a correct client."""
    assert mechanism in HASHES, mechanism
    return ScramClient(mechanism, token.token_id, token.password, extensions=TOKEN_AUTH)


def scram_user(extensions: str = "") -> ScramClient:
    """Return the login of alice by SCRAM."""
    return ScramClient("SCRAM-SHA-256", ALICE, PASSWORDS[ALICE], extensions=extensions)


def _principals(principals: Sequence[Principal]) -> list[Value]:
    return [{"principal_type": type_, "principal_name": name} for type_, name in principals]
