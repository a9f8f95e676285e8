"""Client of a schema registry with Confluent's REST API: schemas by id, with the schemas that they refer to.

It sends GET /schemas/ids/ID, GET /subjects/SUBJECT/versions/VERSION for a reference, and GET /schemas/types before a
job. Each response is limited in time and size. A redirect is an error, because the next address would get the
credentials. Source: the API reference of Confluent's Schema Registry, and SchemaRegistryClient of confluent-kafka 2.16.
"""

from __future__ import annotations

import base64
import http.client
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import Request

import msgspec
from msgspec import Struct

from ...client.http_opener import read_response
from ..bad_option import BadOption
from .undecodable_content import UndecodableContent

REQUEST_SECONDS_MAX = 10
# A registry limits a schema to 1 MB by default.
RESPONSE_BYTES_MAX = 16 * 1024 * 1024
# A registry elects another leader within seconds. Between the attempts these seconds pass.
RETRY_SECONDS: Final = (0.2, 1.0, 2.0)
REFERENCES_MAX = 200

_NOT_ALLOWED: Final = (401, 403)
# Not found, and a format that the type of the schema does not have.
_OF_SCHEMA: Final = (404, 422, 501)
_OVERLOADED: Final = (429, 500, 502, 503, 504)


class _Reference(Struct):
    name: str
    subject: str
    version: int


class _Version(Struct):
    id: int


class _Answer(Struct):
    schema: str
    kind: str = msgspec.field(default="AVRO", name="schemaType")
    references: list[_Reference] | None = None


_Decoded = TypeVar("_Decoded", _Version, _Answer)


@dataclass(frozen=True, slots=True)
class NamedSchema:
    """A referenced schema and the name that others use for it: a full name in Avro, a file in Protobuf."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema and its referenced schemas, dependencies first. kind: AVRO, PROTOBUF or JSON."""

    kind: str
    text: str
    references: tuple[NamedSchema, ...]


@dataclass(frozen=True, slots=True)
class SchemaRegistry:
    """The address of a registry without credentials, and `user:password` for HTTP's basic authentication."""

    url: str
    user: str | None = field(default=None, repr=False)

    def schema_of(self, schema_id: int, form: str | None = None) -> RegisteredSchema:
        """Return a schema. form: `serialized` for the descriptors of Protobuf in base64.

        Raises UndecodableContent if the registry has no such schema, BadOption if the registry fails.
        """
        answer = self._schema(schema_id, form)
        found: dict[str, NamedSchema] = {}
        self._find_references(answer, form, found, set())
        return RegisteredSchema(answer.kind, answer.schema, tuple(found.values()))

    def check(self) -> None:
        """Send the smallest request. Raises BadOption if the registry does not respond or rejects the credentials."""
        try:
            self._get("/schemas/types", ())
        except UndecodableContent:
            # Some registries do not have this route; they do respond.
            return

    def _find_references(
        self, answer: _Answer, form: str | None, found: dict[str, NamedSchema], begun: set[str]
    ) -> None:
        for one in answer.references or ():
            if one.name in begun:
                continue
            begun.add(one.name)
            if len(begun) > REFERENCES_MAX:
                raise UndecodableContent(f"its schema refers to more than {REFERENCES_MAX} others")
            # A deleted version can still be referred to. The schema is requested by its id, because not every registry
            # returns a version in another format.
            path = f"/subjects/{quote(one.subject, safe='')}/versions/{one.version}?deleted=true"
            version = self._decoded(path, _Version, f"the referenced schema {one.name}")
            referenced = self._schema(version.id, form)
            self._find_references(referenced, form, found, begun)
            found[one.name] = NamedSchema(one.name, referenced.schema)

    def _schema(self, schema_id: int, form: str | None) -> _Answer:
        query = "" if form is None else f"?format={form}"
        return self._decoded(f"/schemas/ids/{schema_id}{query}", _Answer, f"schema id {schema_id}")

    def _decoded(self, path: str, kind: type[_Decoded], what: str) -> _Decoded:
        try:
            content = self._get(path)
        except UndecodableContent as error:
            raise UndecodableContent(f"{what} is not in the registry ({error})") from None
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.DecodeError, RecursionError, ValueError):
            raise BadOption(f"schema-registry: {self.url} does not respond as a schema registry") from None

    def _get(self, path: str, waits: Sequence[float] | None = None) -> bytes:
        """Return the body of a response. Raises UndecodableContent for a schema that is not there, otherwise BadOption.

        waits: seconds before each further attempt while the registry is unavailable; default: RETRY_SECONDS.
        """
        for seconds in RETRY_SECONDS if waits is None else waits:
            try:
                return self._read(path)
            except _UnavailableError:
                time.sleep(seconds)
        try:
            return self._read(path)
        except _UnavailableError as error:
            raise BadOption(f"schema-registry: {self.url}: {' '.join(str(error).split())}") from None

    def _read(self, path: str) -> bytes:
        """Send one request. Raises _UnavailableError, UndecodableContent and BadOption."""
        request = Request(self.url + path, headers={"Accept": "application/vnd.schemaregistry.v1+json"})
        if self.user is not None:
            request.add_header("Authorization", f"Basic {base64.b64encode(self.user.encode()).decode()}")
        try:
            content = read_response(request, seconds_max=REQUEST_SECONDS_MAX, bytes_max=RESPONSE_BYTES_MAX)
        except HTTPError as error:
            with error:
                raise self._problem(error.code) from None
        except URLError as error:
            cause = error.reason
            raise _UnavailableError(getattr(cause, "strerror", None) or str(cause)) from None
        except TimeoutError:
            raise _UnavailableError("the response takes too long") from None
        except (OSError, http.client.HTTPException) as error:
            raise _UnavailableError(str(error) or type(error).__name__) from None
        if len(content) > RESPONSE_BYTES_MAX:
            raise BadOption(f"schema-registry: {self.url}: a response of more than {RESPONSE_BYTES_MAX} bytes")
        return content

    def _problem(self, status: int) -> Exception:
        if status in _OF_SCHEMA:
            return UndecodableContent(f"HTTP {status}")
        if status in _OVERLOADED:
            return _UnavailableError(f"HTTP {status}")
        hint = ""
        if status in _NOT_ALLOWED:
            hint = ": set --schema-registry-user" if self.user is None else ": the user or the password is wrong"
        return BadOption(f"schema-registry: {self.url}: HTTP {status}{hint}")


class _UnavailableError(Exception):
    """The registry may respond to the same request later."""


def parse_registry(url: str, user: str | None) -> SchemaRegistry:
    """Return the registry at a URL, which may have the user and password. Raises BadOption."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address, host = False, ""
        parts = urlsplit("")
    if not is_address or parts.query or parts.fragment:
        shown = "that URL" if "@" in url else url
        raise BadOption(f"schema-registry: must be http://HOST:PORT or https://HOST:PORT, not {shown}")
    if parts.username is not None:
        user = user or f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    if user is not None and ":" not in user:
        raise BadOption("schema-registry-user: must be USER:PASSWORD")
    return SchemaRegistry(urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), user)
