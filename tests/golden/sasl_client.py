"""One connection to a listener with SASL, which records each request and what the broker made of it.

A step is {"sent": ..., "answer": ...}. An answer is the decoded response, "CLOSED" if the broker closed the connection
instead, or "NO_RESPONSE". Salt, nonce and signature of SCRAM have names in place of what differs from run to run.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..wire.wire_connection import ConnectionClosedError
from . import raw_apis
from .case_recorder import Json
from .error_names import error_name
from .raw_apis_security import SASL_AUTHENTICATE, SASL_HANDSHAKE
from .raw_client import RawConnection
from .raw_schema import Struct

# connection.failed.authentication.delay.ms of both brokers: far more than a response takes.
FAILED_DELAY_MS = 300
# A timer may fire a tick early.
DELAY_SLACK_MS = 10
# How long a broker is given for a response, and for the end of a connection after the last one.
ANSWER_SECONDS_MAX = 10.0
END_SECONDS = 1.0

CLIENT_NONCE = "nonce-of-the-client"
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
CLOSED = "CLOSED"
UNSUPPORTED_VERSION = b"\0\x23"
# The last version of ApiVersions.
LAST_VERSIONS = 4

# The addresses of the listeners by name.
Addresses = Mapping[str, str]


class SaslClient:
    """A connection on one of the listeners.

    steps: what was sent and answered. token: the token of the last answer.
    """

    def __init__(self, addresses: Addresses, listener: str) -> None:
        """Connect. addresses: of every listener, by name."""
        self.steps: list[Json] = []
        self.token = b""
        self._addresses = addresses
        self.connection = RawConnection(addresses[listener], seconds_max=ANSWER_SECONDS_MAX)

    def versions(self, version: int, **fields: str) -> None:
        """Send an ApiVersions."""
        body = {"client_software_name": "golden", "client_software_version": "1", **fields}
        answer = self._exchange(self.connection.request(raw_apis.API_VERSIONS, version, body))
        sent = f"ApiVersions v{version} {fields or ''}".strip()
        if isinstance(answer, bytes):
            # A version that the broker does not support is answered in version 0, whatever the error.
            read_as = 0 if answer[4:6] == UNSUPPORTED_VERSION or version > LAST_VERSIONS else version
            response = self.connection.parse(raw_apis.API_VERSIONS, read_as, answer)
            self._add(sent, self._of_versions(response))
        else:
            self._add(sent, answer)

    def handshake(self, mechanism: str, version: int = 1) -> None:
        """Send a SaslHandshake."""
        started = time.monotonic()
        answer = self._exchange(self.connection.request(SASL_HANDSHAKE, version, {"mechanism": mechanism}))
        sent = f"SaslHandshake v{version} {mechanism}"
        if not isinstance(answer, bytes):
            self._add(sent, answer)
            return
        response = self.connection.parse(SASL_HANDSHAKE, version, answer)
        fields: dict[str, Json] = {
            "error_code": error_name(response.integer("error_code")),
            "mechanisms": list(response.texts("mechanisms")),
        }
        if response.integer("error_code"):
            fields["is_delayed"] = _is_delayed(started)
        self._add(sent, fields)

    def authenticate(self, token: bytes, version: int = 2, name: str | None = None) -> None:
        """Send a SaslAuthenticate. name: of the token in the step; None for the token itself."""
        started = time.monotonic()
        answer = self._exchange(self.connection.request(SASL_AUTHENTICATE, version, {"auth_bytes": token}))
        self.token = b""
        sent = f"SaslAuthenticate v{version} {text_of(token) if name is None else name}"
        if not isinstance(answer, bytes):
            self._add(sent, answer)
            return
        response = self.connection.parse(SASL_AUTHENTICATE, version, answer)
        self.token = response.data("auth_bytes")
        fields: dict[str, Json] = {
            "error_code": error_name(response.integer("error_code")),
            "error_message": response.optional_text("error_message"),
            "auth_bytes": text_of(self.token),
        }
        if "session_lifetime_ms" in response:
            fields["session_lifetime_ms"] = response.integer("session_lifetime_ms")
        if response.integer("error_code"):
            fields["is_delayed"] = _is_delayed(started)
        self._add(sent, fields)

    def log_in_by_scram(self, scram: ScramClient, version: int = 2) -> None:
        """Send a SaslHandshake and the messages of SCRAM. version: of SaslAuthenticate."""
        self.begin_scram(scram, version)
        self.finish_scram(scram, version)

    def begin_scram(self, scram: ScramClient, version: int = 2) -> None:
        """Send a SaslHandshake and the first message of SCRAM."""
        self.handshake(scram.mechanism)
        self.authenticate(scram.first, version)

    def finish_scram(self, scram: ScramClient, version: int = 2) -> None:
        """Send the final message of SCRAM if the first one has a response, and check the server's signature."""
        if not self.token:
            return
        used = replace(scram)
        self.authenticate(used.final(self.token), version)
        assert not self.token or used.is_signature(self.token), "the server has another credential"

    def bare_token(self, token: bytes, name: str | None = None) -> None:
        """Send a token as a frame of its own. name: as for authenticate."""
        answer = self._exchange(token)
        if isinstance(answer, bytes):
            self.token = answer
        sent = f"token {text_of(token) if name is None else name}"
        self._add(sent, text_of(answer) if isinstance(answer, bytes) else answer)

    def metadata(self) -> None:
        """Send a Metadata for no topic."""
        answer = self._exchange(self.connection.request(raw_apis.METADATA, 9, {"topics": []}))
        if isinstance(answer, bytes):
            brokers = self.connection.parse(raw_apis.METADATA, 9, answer).structs("brokers")
            ports = {address.rsplit(":", 1)[1]: name for name, address in self._addresses.items()}
            names: list[Json] = [ports[str(broker.integer("port"))] for broker in brokers]
            self._add("Metadata v9", {"listeners": names})
        else:
            self._add("Metadata v9", answer)

    def frame(self, name: str, frame: bytes) -> None:
        """Send any bytes behind their size. name: of the step."""
        self._add(name, _size_of(self._exchange(frame)))

    def raw(self, name: str, data: bytes) -> None:
        """Send any bytes. name: of the step."""
        self.connection.send(data)
        self._add(name, _size_of(self._receive()))

    def wait(self, seconds: float) -> None:
        """Send nothing for a while."""
        time.sleep(seconds)
        self._add(f"nothing for {seconds} s", None)

    def close(self) -> str:
        """Close the connection, and return whether the broker had closed it before."""
        self.connection.seconds_max = END_SECONDS
        try:
            self.connection.receive_frame()
        except ConnectionClosedError:
            return CLOSED
        except TimeoutError:
            return "OPEN"
        finally:
            self.connection.close()
        return "UNEXPECTED_RESPONSE"

    def _exchange(self, frame: bytes) -> bytes | str:
        try:
            self.connection.send_frame(frame)
        except ConnectionClosedError:
            return CLOSED
        return self._receive()

    def _receive(self) -> bytes | str:
        try:
            return self.connection.receive_frame()
        except ConnectionClosedError:
            return CLOSED
        except TimeoutError:
            return "NO_RESPONSE"

    def _add(self, sent: str, answer: Json) -> None:
        self.steps.append({"sent": sent, "answer": answer})

    def _of_versions(self, response: Struct) -> Json:
        """Return the error and the keys; of the keys that a PLAINTEXT listener has too only that they are the same."""
        keys = _keys_of(response)
        listed: list[Json] = [list(key) for key in keys]
        is_same = len(keys) > 1 and keys == self._keys_without_sasl()
        return {
            "error_code": error_name(response.integer("error_code")),
            "api_keys": "as without SASL" if is_same else listed,
        }

    def _keys_without_sasl(self) -> list[list[int]]:
        with RawConnection(self._addresses["PLAINTEXT"]) as connection:
            return _keys_of(connection.call(raw_apis.API_VERSIONS, 0, {}))


@dataclass
class ScramClient:
    """The client's side of SCRAM (RFC 5802), with what a wrong client sends.

    extensions: behind the nonce of the first message. header: before it. nonce: sent in the final message in place of
    the one that the server returned; {server} in it stands for the server's part. channel_binding: the header as the
    final message has it, None for the true one.
    """

    mechanism: str = "SCRAM-SHA-256"
    user: str = "alice"
    password: str = "secret"
    extensions: str = ""
    header: str = "n,,"
    nonce: str = f"{CLIENT_NONCE}{{server}}"
    channel_binding: str | None = None
    server_signature: str = ""

    @property
    def bare(self) -> str:
        """The first message without its header."""
        name = self.user.replace("=", "=3D").replace(",", "=2C")
        return f"n={name},r={CLIENT_NONCE}{self.extensions}"

    @property
    def first(self) -> bytes:
        """The first message."""
        return (self.header + self.bare).encode()

    def final(self, server_first: bytes) -> bytes:
        """Return the final message to the server's first one."""
        text = server_first.decode()
        nonce, salt, iterations = (part[2:] for part in text.split(",")[:3])
        header = self.header if self.channel_binding is None else self.channel_binding
        sent_nonce = self.nonce.format(server=nonce.removeprefix(CLIENT_NONCE))
        without_proof = f"c={b64encode(header.encode()).decode()},r={sent_nonce}"
        salted = hashlib.pbkdf2_hmac(HASHES[self.mechanism], self.password.encode(), b64decode(salt), int(iterations))
        client_key = self._hmac(salted, b"Client Key")
        stored_key = hashlib.new(HASHES[self.mechanism], client_key).digest()
        signed = f"{self.bare},{text},{without_proof}".encode()
        signature = self._hmac(stored_key, signed)
        proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
        self.server_signature = b64encode(self._hmac(self._hmac(salted, b"Server Key"), signed)).decode()
        return f"{without_proof},p={b64encode(proof).decode()}".encode()

    def is_signature(self, server_final: bytes) -> bool:
        """Return whether the server's final message proves that it has the credential of the user."""
        return server_final.decode() == f"v={self.server_signature}"

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, HASHES[self.mechanism]).digest()


def plain(user: str = "alice", password: str = "secret", authorization_id: str = "") -> bytes:
    """Return a token of PLAIN."""
    return f"{authorization_id}\0{user}\0{password}".encode()


def text_of(token: bytes) -> str:
    """Return a token as text, with names for what SCRAM draws."""
    text = token.decode("latin-1")
    if len(text) > 1000:
        return f"{text[:20]}... of {len(text)} bytes"
    # Kafka draws letters and digits, scramp base64.
    text = re.sub(rf"r=(other-)?(?:{CLIENT_NONCE})?[A-Za-z0-9+/=]{{10,}}(?=,(?:s|p|a)=|$)", r"r=\1NONCE", text)
    text = re.sub(r",s=[^,]+,i=", ",s=SALT,i=", text)
    text = re.sub(r",p=[A-Za-z0-9+/=]{40,}", ",p=PROOF", text)
    return re.sub(r"^v=[^,]+", "v=SIGNATURE", text)


def _keys_of(response: Struct) -> list[list[int]]:
    return [[key.integer(name) for name in key] for key in response.structs("api_keys")]


def _size_of(answer: bytes | str) -> str:
    return f"{len(answer)} bytes" if isinstance(answer, bytes) else answer


def _is_delayed(started: float) -> bool:
    return (time.monotonic() - started) * 1000 >= FAILED_DELAY_MS - DELAY_SLACK_MS
