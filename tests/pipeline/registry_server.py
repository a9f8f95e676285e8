"""A schema registry on loopback with the routes that serializers, deserializers and the pipeline use.

Responses are those of the API reference of Confluent's Schema Registry. The type AVRO is left out. A Protobuf schema is
stored in base64, as confluent-kafka registers it, and only returned so by its id and with format=serialized. That is
what Karapace supports too (SchemasResponse in its src/karapace/api).
"""

import json
import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
Answer = tuple[int, object]


@dataclass
class RegistryServer:
    """What the registry stores, and how it responds.

    authorization: the required header; None accepts every request. statuses: HTTP statuses of the next responses.
    broken_off: the number of next responses without their end. paths: of the requests.
    """

    url: str = ""
    schemas: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    subjects: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    authorization: str | None = None
    statuses: list[int] = field(default_factory=list[int])
    broken_off: int = 0
    paths: list[str] = field(default_factory=list[str])

    def register(self, subject: str, schema: dict[str, Any]) -> int:
        """Return the id of a schema; equal ones have the same."""
        known = [schema_id for schema_id, one in self.schemas.items() if one == schema]
        schema_id = known[0] if known else len(self.schemas) + 1
        self.schemas[schema_id] = schema
        versions = self.subjects.setdefault(subject, [])
        if schema_id not in versions:
            versions.append(schema_id)
        return schema_id

    def respond(self, method: str, target: str, body: dict[str, Any]) -> Answer:
        """Return the status and the body of a response. target: the path and the query."""
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        if method == "GET" and path == "/schemas/types":
            return 200, ["JSON", "PROTOBUF", "AVRO"]
        if found := re.fullmatch(r"/schemas/ids/(\d+)", path):
            schema = self.schemas.get(int(found[1]))
            if schema is None:
                return 404, {"error_code": 40403, "message": "Schema not found"}
            return 200, schema if query.get("format") == ["serialized"] else in_text(schema)
        if found := re.fullmatch(r"/subjects/([^/]+)/versions/(\d+)", path):
            return self._version(unquote(found[1]), int(found[2]))
        if found := re.fullmatch(r"/subjects/([^/]+)(/versions)?", path):
            subject = unquote(found[1])
            kept = {name: value for name, value in body.items() if name in ("schema", "schemaType", "references")}
            schema = {name: value for name, value in kept.items() if value not in ("AVRO", [], None)}
            schema_id = self.register(subject, schema)
            return 200, {"subject": subject, "id": schema_id, "version": self.subjects[subject].index(schema_id) + 1}
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}

    def _version(self, subject: str, version: int) -> Answer:
        versions = self.subjects.get(subject, [])
        if not 0 < version <= len(versions):
            return 404, {"error_code": 40401, "message": f"Subject '{subject}' not found."}
        schema_id = versions[version - 1]
        return 200, {"subject": subject, "version": version, "id": schema_id, **in_text(self.schemas[schema_id])}


def in_text(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the text of a Protobuf schema, which no reader here needs to be right."""
    return {**schema, "schema": 'syntax = "proto3";'} if schema.get("schemaType") == "PROTOBUF" else schema


@contextmanager
def registry_server() -> Generator[RegistryServer, None, None]:
    """Serve an empty registry on a free port."""
    registry = RegistryServer()

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            registry.paths.append(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            answer: object
            if registry.authorization not in (None, self.headers.get("Authorization")):
                status, answer = 401, {"error_code": 401, "message": "Unauthorized"}
            elif registry.statuses and (status := registry.statuses.pop(0)) != 200:
                answer = {"error_code": status, "message": "as the test wants it"}
            else:
                status, answer = registry.respond(self.command, self.path, json.loads(body or b"{}"))
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", _CONTENT_TYPE)
            self.send_header("Content-Length", str(len(content)))
            if 300 <= status < 400:
                self.send_header("Location", f"{registry.url}/elsewhere")
            self.end_headers()
            is_broken_off, registry.broken_off = registry.broken_off > 0, max(registry.broken_off - 1, 0)
            self.wfile.write(content[:-1] if is_broken_off else content)

        do_GET = do_POST = _handle

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing to stderr."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()
