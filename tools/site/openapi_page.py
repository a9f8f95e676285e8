"""The page of the OpenAPI document: each operation of the admin API with its parameters, body and statuses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fauxka.admin.openapi import describe
from fauxka.admin.operations.all_operations import OPERATIONS

Json = Mapping[str, Any]

HEAD = """# OpenAPI

A running broker serves this document at `/openapi.json`, and [openapi.json](openapi.json) is that of this version.
Generators make clients of it. [Admin API](admin-api.md) explains the operations, with a call of each.
"""


def openapi_document() -> str:
    """Return the document as JSON."""
    return json.dumps(_document(), indent=2, sort_keys=True) + "\n"


def openapi_page() -> str:
    """Return the page: a section for each tag, and below it one for each operation."""
    lines = [HEAD]
    by_tag: dict[str, list[str]] = {}
    for path, methods in _document()["paths"].items():
        for method, operation in methods.items():
            (tag,) = operation["tags"]
            by_tag.setdefault(tag, []).extend(_operation_lines(f"{method.upper()} {path}", operation))
    for tag, section in sorted(by_tag.items()):
        lines += [f"## {tag.capitalize()}", "", *section]
    return "\n".join(lines)


def _document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json.dumps(describe(OPERATIONS)))
    return loaded


def _operation_lines(name: str, operation: Json) -> Iterator[str]:
    yield from (f"### `{name}`", "", operation["summary"], "")
    parameters = [f"`{each['name']}` ({each['in']})" for each in operation.get("parameters", ())]
    body = operation.get("requestBody", {}).get("content", {})
    if parameters:
        yield f"- Parameters: {', '.join(parameters)}"
    if body:
        yield f"- Body: {', '.join(map(_content_text, body.items()))}"
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield f"- {status}: {', '.join(map(_content_text, response.get('content', {}).items())) or 'no body'}"
    errors = [status for status in operation["responses"] if not status.startswith("2")]
    yield from (f"- Errors: {', '.join(errors)}", "")


def _content_text(content: tuple[str, Json]) -> str:
    kind, described = content
    schema = described.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f"`{schema}` as {kind}" if schema else kind
