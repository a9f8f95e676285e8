"""The description of the admin API for tools (OpenAPI 3.1), made from the operations and their models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import cast

import msgspec

from .. import __version__
from .errors import ErrorAnswer, WaitTimedOut
from .operation import JSON, Operation

Json = dict[str, object]

REFERENCE = "#/components/schemas/{name}"
BEARER = "token"
DESCRIPTION = "Steers a broker: what goes wrong with which requests, its clock and its state; and tells what happened."


def describe(operations: Sequence[Operation]) -> Json:
    """Return the description of these operations."""
    components = _components(operations)
    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "fauxka", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {BEARER: {"type": "http", "scheme": "bearer", "description": "The --admin-token."}},
        },
    }


def _components(operations: Iterable[Operation]) -> Json:
    """Return the schemas of all models, those of the parameters included, by name."""
    kinds: list[object] = [ErrorAnswer, WaitTimedOut]
    for operation in operations:
        kinds += [operation.path_type, operation.query_type, operation.body_type, operation.answer_type]
    wanted = [kind for kind in dict.fromkeys(kinds) if kind is not None]
    _, components = msgspec.json.schema_components(wanted, ref_template=REFERENCE)
    return cast(Json, components)


def _operation(operation: Operation, components: Json) -> Json:
    described: Json = {
        "operationId": getattr(operation.perform, "__name__", operation.path),
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [
            *_parameters("path", operation.path_type, components),
            *_parameters("query", operation.query_type, components),
        ],
        "responses": _responses(operation),
        "security": [] if operation.is_public else [{}, {BEARER: []}],
    }
    if operation.description:
        described["description"] = operation.description
    if operation.body_type is not None:
        content = {JSON: {"schema": _schema(operation.body_type)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _parameters(where: str, kind: type[msgspec.Struct] | None, components: Json) -> list[Json]:
    if kind is None:
        return []
    properties = cast("dict[str, Json]", cast(Json, components[kind.__name__])["properties"])
    return [
        {
            "name": field.encode_name,
            "in": where,
            "required": where == "path" or field.required,
            "schema": properties[field.encode_name],
        }
        for field in msgspec.structs.fields(kind)
    ]


def _responses(operation: Operation) -> Json:
    responses: Json = {str(operation.status): _success(operation)}
    for status in operation.statuses:
        kind = WaitTimedOut if status == HTTPStatus.REQUEST_TIMEOUT else ErrorAnswer
        responses[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "content": {JSON: {"schema": _schema(kind)}},
        }
    return responses


def _success(operation: Operation) -> Json:
    schema = {"type": "string"} if operation.media_type != JSON else _schema(operation.answer_type)
    media_type = operation.media_type.partition(";")[0]
    return {"description": HTTPStatus(operation.status).phrase, "content": {media_type: {"schema": schema}}}


def _schema(kind: object) -> Json:
    """Return the schema of a model, by its name where it has one."""
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=REFERENCE)
    return cast(Json, schema)
