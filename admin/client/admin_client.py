"""Calls of the admin API of a running broker, over HTTP.

The broker is the one of --admin or of --ready-file, or else the one of the variable FAUXKA_ADMIN. Without any of them
it is the only running broker of this user that has no ready file of its own (broker/lifecycle/ready_file.py). No call
goes to a default port: another process may have it.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from ...broker.lifecycle.ready_file import ReadyFileError, RunningBroker, read_ready_file, registered_brokers
from ...protocol.host_and_port import address_text
from ...storage.file_systems.path_problems import find_path_problem
from ..admin_options import AdminOptionsError, check_token
from ..errors import KIND_HEADER
from ..errors import Unreachable as Unreachable

if TYPE_CHECKING:
    from ssl import SSLContext

# The admin API of the calls, like --admin. The action of setup/ and `fauxka hunt` set it.
ADMIN_VARIABLE = "FAUXKA_ADMIN"
# A verdict reads whole logs.
RESPONSE_SECONDS_MAX = 120.0
# A longer list of allowed values, such as that of all APIs, hides the message.
ALLOWED_CHARACTERS_MAX = 200


class BadCall(Exception):
    """The broker is not named unambiguously, or it refuses the call. The message is one line for the user."""

    def __init__(
        self, message: str, status: int | None = None, body: JsonObject | None = None, kind: str | None = None
    ) -> None:
        """status, body: of the response that refuses the call; None without one. kind: its KIND_HEADER."""
        super().__init__(message)
        self.status = status
        self.body = body
        self.kind = kind


class JsonObject(dict[str, Any]):
    """An object of a response. To read a field that is missing raises Unreachable: another server has responded."""

    def __missing__(self, name: str) -> object:
        """Raise Unreachable."""
        raise Unreachable(f"this is not the admin API of fauxka: its response has no field {name!r}")


class AdminAddress(NamedTuple):
    """The address of an admin API."""

    host: str
    port: int
    scheme: str = "http"

    @property
    def url(self) -> str:
        """The address as a URL."""
        return f"{self.scheme}://{address_text(self.host, self.port)}"


def find_admin_address(admin: str | None, ready_file: str | None) -> AdminAddress:
    """Return the address of the admin API of the chosen broker. Raises BadCall and Unreachable.

    admin: a URL or "host:port". ready_file: the path of the broker's ready file.
    """
    if admin is not None and ready_file is not None:
        raise BadCall("--admin and --ready-file exclude each other")
    if admin is not None:
        return parse_address(admin)
    if ready_file is not None:
        return _address_of(_read(ready_file), f"the broker of {ready_file}")
    if of_variable := os.environ.get(ADMIN_VARIABLE):
        return parse_address(of_variable, ADMIN_VARIABLE)
    return _address_of(_only_broker(), "the running broker")


def parse_address(text: str, source: str = "--admin") -> AdminAddress:
    """Parse a URL or "host:port", which is one of HTTP. source: named in the error. Raises BadCall."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or port is None or parts.path not in ("", "/") or parts.query:
        raise BadCall(f"{source}: expected http://HOST:PORT or https://HOST:PORT, got {text!r}")
    return AdminAddress(host, port, parts.scheme)


def _read(path: str) -> RunningBroker:
    try:
        return read_ready_file(path)
    except FileNotFoundError as error:
        raise Unreachable(f"there is no {path}: the broker has not started, or has stopped") from error
    except OSError as error:
        raise BadCall(find_path_problem(path, error) or f"cannot read {path}: {error.strerror}") from error
    except ReadyFileError as error:
        raise BadCall(str(error)) from error


def _only_broker() -> RunningBroker:
    brokers = registered_brokers()
    if not brokers:
        raise Unreachable(
            "no running broker found: start one with `fauxka serve`, or name one with --admin or --ready-file"
        )
    if len(brokers) > 1:
        choices = ", ".join(f"--admin {broker.admin} ({broker.bootstrap})" for broker in brokers)
        raise BadCall(f"{len(brokers)} brokers are running; choose one with {choices}")
    return brokers[0]


def _address_of(broker: RunningBroker, what: str) -> AdminAddress:
    if broker.admin is None:
        raise BadCall(f"{what} has no admin API: it was started with --admin-port off")
    return parse_address(broker.admin)


class AdminClient:
    """Calls one admin API. Each call has its own connection."""

    def __init__(
        self,
        address: AdminAddress,
        token: str | None = None,
        ca: str | None = None,
        *,
        seconds_max: float = RESPONSE_SECONDS_MAX,
    ) -> None:
        """Create the client. Raises BadCall for a token that cannot be sent, and a file that cannot be read.

        token: the bearer token, if the API needs one. ca: a file with the certificate of the authority of an API with
        HTTPS; None for the authorities of the system. seconds_max: how long to wait for a response.
        """
        if token is not None:
            try:
                check_token(token)
            except AdminOptionsError as error:
                raise BadCall(str(error)) from error
        self.address = address
        self._seconds_max = seconds_max
        self._tls = _client_context(ca) if address.scheme == "https" else None
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, body: bytes | None = None, **query: object) -> JsonObject:
        """Send a call and return the object of its response. body: JSON. Raises BadCall and Unreachable."""
        fields = _json_object(self.send(method, path, body, query))
        if fields is None:
            raise Unreachable(f"{self.address.url} is not the admin API of fauxka: its response is no object of JSON")
        return fields

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        query: Mapping[str, object] | None = None,
        wait_seconds: float = 0,
    ) -> bytes:
        """Send a call and return the body of its response. Raises BadCall and Unreachable.

        body: JSON. wait_seconds: how long the broker itself may wait before it responds.
        """
        given = {name: value for name, value in (query or {}).items() if value is not None}
        response = self._response_to(
            method, f"{path}?{urlencode(given)}" if given else path, body, self._seconds_max + wait_seconds
        )
        if 200 <= response.status < 300:
            return response.content
        raise self._error_of(response, _json_object(response.content))

    def _response_to(self, method: str, target: str, body: bytes | None, seconds_max: float) -> _Response:
        connection = self._new_connection(seconds_max)
        try:
            connection.request(method, target, body, self._headers)
            response = connection.getresponse()
            kind = response.getheader(KIND_HEADER)
            return _Response(response.status, response.reason, response.read(), kind)
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            # A host name with a long label cannot be encoded.
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
            raise Unreachable(f"no response from the admin API at {self.address.url}: {reason}") from error
        finally:
            connection.close()

    def _new_connection(self, seconds_max: float) -> http.client.HTTPConnection:
        host, port, _ = self.address
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=seconds_max)
        return http.client.HTTPSConnection(host, port, timeout=seconds_max, context=self._tls)

    def _error_of(self, response: _Response, fields: JsonObject | None) -> Exception:
        detail = None if fields is None else fields.get("error")
        if not isinstance(detail, JsonObject) or "message" not in detail:
            status = f"{response.status} {response.reason}"
            return Unreachable(f"{self.address.url} is not the admin API of fauxka: it responded with {status}")
        message = _message_of(detail)
        if response.status == http.HTTPStatus.UNAUTHORIZED:
            message += "; give it with --admin-token or FAUXKA_ADMIN_TOKEN"
        if response.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            return Unreachable(message)
        return BadCall(message, response.status, fields, response.kind)


def _client_context(ca: str | None) -> SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError as error:
        raise BadCall(f"--admin-ca: {ca} has no certificate that can be read") from error
    except OSError as error:
        raise BadCall(f"--admin-ca: cannot read {ca}: {error.strerror}") from error


class _Response(NamedTuple):
    status: int
    reason: str
    content: bytes
    kind: str | None


def _json_object(content: bytes) -> JsonObject | None:
    try:
        fields: object = json.loads(content, object_hook=JsonObject)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, JsonObject) else None


def _message_of(detail: Mapping[str, Any]) -> str:
    message, allowed = str(detail["message"]), str(detail.get("allowed") or "")
    is_shown = allowed and allowed not in message and len(allowed) <= ALLOWED_CHARACTERS_MAX
    return f"{message}; allowed: {allowed}" if is_shown else message
