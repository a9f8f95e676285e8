"""Runs the cases of capture_scram against one broker, and makes a line of each.

A case begins without credentials. Its steps are requests on a listener without SASL, and logins. Results are sorted by
user and credentials by mechanism: Kafka returns both in the order of a HashMap.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..wire.wire_connection import ConnectionClosedError
from .acl_scene import REQUEST
from .case_recorder import Json
from .error_names import error_name
from .raw_apis_security import ALTER_USER_SCRAM_CREDENTIALS, DESCRIBE_USER_SCRAM_CREDENTIALS
from .raw_client import RawConnection
from .raw_schema import Api, Struct, Value
from .sasl_client import ANSWER_SECONDS_MAX, CLOSED, HASHES, Addresses, SaslClient, ScramClient

SHA_256, SHA_512 = 1, 2
MECHANISMS: dict[int, str] = {SHA_256: "SCRAM-SHA-256", SHA_512: "SCRAM-SHA-512"}
ITERATIONS_MIN, ITERATIONS_MAX = 4096, 16384
SALT = b"salt"
# A user beside those of the cases. Its iterations tell how many requests the broker has applied.
MARKER = "marker"
APPLIED_SECONDS_MAX = 30
POLL_SECONDS = 0.01


@dataclass(frozen=True)
class Deletion:
    """An entry of the list of deletions."""

    user: str = "alice"
    mechanism: int = SHA_256

    def sent(self) -> dict[str, Value]:
        """Return the entry as it is sent."""
        return {"name": self.user, "mechanism": self.mechanism}

    def written(self) -> dict[str, Json]:
        """Return the entry as the line has it."""
        return {"user": self.user, "mechanism": self.mechanism}


@dataclass(frozen=True)
class Upsertion:
    """An entry of the list of upsertions. None is null. salted_password: that of the password unless it is given."""

    user: str | None = "alice"
    mechanism: int = SHA_256
    password: str = "secret"
    iterations: int = ITERATIONS_MIN
    salt: bytes | None = SALT
    salted_password: bytes | None = b"of password"

    def sent(self) -> dict[str, Value]:
        """Return the entry as it is sent."""
        salted = self.salted_password
        if salted == Upsertion.salted_password:
            hash_ = HASHES[MECHANISMS.get(self.mechanism, MECHANISMS[SHA_256])]
            salted = hashlib.pbkdf2_hmac(hash_, self.password.encode(), self.salt or b"", max(1, self.iterations))
        return {
            "name": self.user,
            "mechanism": self.mechanism,
            "iterations": self.iterations,
            "salt": self.salt,
            "salted_password": salted,
        }

    def written(self) -> dict[str, Json]:
        """Return the entry as the line has it."""
        return {
            "user": self.user,
            "mechanism": self.mechanism,
            "password": self.password,
            "iterations": self.iterations,
            "salt": _text(self.salt),
            "salted_password": _text(self.salted_password),
        }


Change: TypeAlias = Deletion | Upsertion


class ScramScene:
    """What the steps of a case work with."""

    def __init__(self, addresses: Addresses) -> None:
        """addresses: of the broker's listeners."""
        self.steps: list[Json] = []
        self._addresses = addresses
        self._connection = self._connect()
        self._marks = 0

    # -- the steps of a case

    def alter(self, *changes: Change, version: int = 0) -> None:
        """Alter credentials, and return when the broker has applied it."""
        body, sent = _body_of(changes)
        answer = self._call(self._connection, ALTER_USER_SCRAM_CREDENTIALS, version, body)
        self._add("AlterUserScramCredentials", version, sent, answer)
        if isinstance(answer, Struct):
            self._wait_until_applied()

    def describe(self, *users: str | None, version: int = 0) -> None:
        """Describe the credentials of some users."""
        self._describe(self._connection, list(users), version)

    def describe_all(self) -> None:
        """Describe all credentials, with a list of users that is null."""
        self._describe(self._connection, None, 0)

    def log_in(self, user: str = "alice", password: str = "secret", mechanism: int = SHA_256) -> SaslClient:
        """Log in by SCRAM, and return the connection."""
        return self.begin_log_in(user, password, mechanism)()

    def begin_log_in(
        self, user: str = "alice", password: str = "secret", mechanism: int = SHA_256
    ) -> Callable[[], SaslClient]:
        """Send the first message of SCRAM. Return what sends the final one, and returns the connection."""
        client = SaslClient(self._addresses, "SASL_PLAINTEXT")
        scram = ScramClient(MECHANISMS[mechanism], user, password)
        client.begin_scram(scram)
        self.steps.append({"login": user, "password": password, "mechanism": mechanism, "steps": client.steps})

        def finish() -> SaslClient:
            client.finish_scram(scram)
            return client

        return finish

    def describe_as(self, client: SaslClient, users: Sequence[str] | None) -> None:
        """Describe credentials on the connection of a user. users: None for null."""
        self._describe(client.connection, users, 0)

    def alter_as(self, client: SaslClient, *changes: Change) -> None:
        """Alter credentials on the connection of a user."""
        body, sent = _body_of(changes)
        answer = self._call(client.connection, ALTER_USER_SCRAM_CREDENTIALS, 0, body)
        self._add("AlterUserScramCredentials", 0, sent, answer)

    # -- between the cases

    def begin_case(self) -> None:
        """Delete all credentials."""
        self.steps = []
        response = self._connection.call(DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": None})
        existing = [
            Deletion(result.text("user"), info.integer("mechanism"))
            for result in response.structs("results")
            for info in result.structs("credential_infos")
        ]
        # A request alters a user once.
        for mechanism in MECHANISMS:
            body, _ = _body_of([each for each in existing if each.mechanism == mechanism and each.user != MARKER])
            self._connection.call(ALTER_USER_SCRAM_CREDENTIALS, 0, body)
        if existing:
            self._wait_until_applied()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _wait_until_applied(self) -> None:
        """Return when the broker logs users in by what it has responded to so far."""
        self._marks += 1
        iterations = ITERATIONS_MIN + self._marks
        body, _ = _body_of([Upsertion(MARKER, iterations=iterations)])
        self._connection.call(ALTER_USER_SCRAM_CREDENTIALS, 0, body)
        deadline = time.monotonic() + APPLIED_SECONDS_MAX
        while not self._first_answer_of_marker().endswith(f",i={iterations}".encode()):
            assert time.monotonic() < deadline, f"not applied after {APPLIED_SECONDS_MAX} s"
            time.sleep(POLL_SECONDS)

    def _first_answer_of_marker(self) -> bytes:
        client = SaslClient(self._addresses, "SASL_PLAINTEXT")
        client.begin_scram(ScramClient(user=MARKER))
        client.connection.close()
        return client.token

    # -- requests and lines

    def _describe(self, connection: RawConnection, users: Sequence[str | None] | None, version: int) -> None:
        named: Value = None if users is None else [{"name": user} for user in users]
        answer = self._call(connection, DESCRIBE_USER_SCRAM_CREDENTIALS, version, {"users": named})
        sent: dict[str, Json] = {"users": None if users is None else list(users)}
        self._add("DescribeUserScramCredentials", version, sent, answer)

    def _call(self, connection: RawConnection, api: Api, version: int, body: Mapping[str, Value]) -> Struct | str:
        try:
            return connection.call(api, version, body)
        except (ConnectionClosedError, TimeoutError) as error:
            if connection is self._connection:
                connection.close()
                self._connection = self._connect()
            return CLOSED if isinstance(error, ConnectionClosedError) else "NO_RESPONSE"

    def _connect(self) -> RawConnection:
        return RawConnection(self._addresses["PLAINTEXT"], seconds_max=ANSWER_SECONDS_MAX)

    def _add(self, api: str, version: int, sent: dict[str, Json], answer: Struct | str) -> None:
        written = answer if isinstance(answer, str) else _response(answer)
        self.steps.append({"api": api, "version": version, "sent": sent, "answer": written})


Case: TypeAlias = tuple[str, Callable[[ScramScene], None]]


def run_case(scene: ScramScene, case: Case) -> dict[str, Json]:
    """Run a case, and return its line."""
    name, steps = case
    scene.begin_case()
    steps(scene)
    return {"case": name, "steps": scene.steps}


def _body_of(changes: Sequence[Change]) -> tuple[dict[str, Value], dict[str, Json]]:
    deletions = [each for each in changes if isinstance(each, Deletion)]
    upsertions = [each for each in changes if isinstance(each, Upsertion)]
    return (
        {"deletions": [each.sent() for each in deletions], "upsertions": [each.sent() for each in upsertions]},
        {"deletions": [each.written() for each in deletions], "upsertions": [each.written() for each in upsertions]},
    )


def _response(response: Struct) -> dict[str, Json]:
    written = _of_struct(response)
    results = sorted(response.structs("results"), key=lambda result: result.text("user"))
    written["results"] = [_of_result(result) for result in results if result.text("user") != MARKER]
    return written


def _of_result(result: Struct) -> dict[str, Json]:
    written = _of_struct(result)
    if "credential_infos" in result:
        infos = sorted(result.structs("credential_infos"), key=lambda info: info.integer("mechanism"))
        written["credential_infos"] = [_of_struct(info) for info in infos]
    return written


def _of_struct(struct: Struct) -> dict[str, Json]:
    """Return the fields without arrays."""
    written: dict[str, Json] = {}
    for name, value in struct.items():
        if name == "error_code":
            written[name] = error_name(struct.integer(name))
        elif value is None or isinstance(value, int | str):
            written[name] = REQUEST.sub(r"\1REQUEST\2", value) if isinstance(value, str) else value
    return written


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("latin-1")
