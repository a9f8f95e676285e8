"""The OpenAPI 3.1 description of the admin API, generated from the operations and their models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import cast

import msgspec

from .. import __version__
from ..faults.actions import ACTION_TYPES, kind_of
from ..faults.docstrings import effect_of
from ..faults.files.file_actions import FILE_ACTIONS
from ..faults.files.file_rules import FileRule
from ..faults.rules.fault_rules import FaultRule
from .errors import ErrorBody, WaitTimedOut
from .openapi_examples import body_example, error_examples
from .operation import EVENT_STREAM, FORM, JSON, Operation

Json = dict[str, object]

REFERENCE = "#/components/schemas/{name}"
BEARER = "token"
DESCRIPTION = "Controls a mock broker: fault rules, clock and state; reads its journal and verdict."


def describe(operations: Sequence[Operation]) -> Json:
    """Return the description of these operations."""
    models = _Models(operations)
    models.add_declarations()
    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, models)
    return {
        "openapi": "3.1.0",
        "info": {"title": "fauxka", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": models.components,
            "securitySchemes": {BEARER: {"type": "http", "scheme": "bearer", "description": "The --admin-token."}},
        },
    }


class _Models:
    """The schemas of all models, generated together: models with the same name get longer names."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        kinds: list[object] = [ErrorBody, WaitTimedOut]
        for operation in operations:
            kinds += [operation.path_type, operation.query_type, operation.body_type, operation.form_type]
            kinds += [operation.result_type, operation.error_type]
        wanted = [kind for kind in dict.fromkeys(kinds) if kind is not None]
        schemas, components = msgspec.json.schema_components(wanted, ref_template=REFERENCE)
        self.components = cast("dict[str, Json]", components)
        self._schemas = dict(zip(wanted, cast("Iterable[Json]", schemas), strict=True))

    def schema_of(self, kind: object) -> Json:
        """Return the schema of a model, a reference if it has a name."""
        return self._schemas[kind]

    def properties_of(self, kind: type[msgspec.Struct]) -> dict[str, Json]:
        """Return the schemas of the fields of a model."""
        name = _component_name(self._schemas[kind])
        return cast("dict[str, Json]", self.components[name]["properties"])

    def add_declarations(self) -> None:
        """Add to each action of a fault rule its points, as `x-points`, and describe the actions of a file rule."""
        mapping = cast("dict[str, dict[str, str]]", self.properties_of(FaultRule)["action"]["discriminator"])["mapping"]
        for action in ACTION_TYPES:
            name = mapping[kind_of(action)].rpartition("/")[2]
            self.components[name]["x-points"] = list(action.points.possible)
        effects = [f"{action.name}: {effect_of(action)}" for action in FILE_ACTIONS]
        self.properties_of(FileRule)["action"]["description"] = "\n".join(effects)


def _component_name(reference: Json) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _operation(operation: Operation, models: _Models) -> Json:
    described: Json = {
        "operationId": getattr(operation.perform, "__name__", operation.path),
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [
            *_parameters("path", operation.path_type, models),
            *_parameters("query", operation.query_type, models),
        ],
        "responses": _responses(operation, models),
        "security": [] if operation.is_public else [{}, {BEARER: []}],
    }
    if operation.description:
        described["description"] = operation.description
    if operation.body_type is not None:
        media: Json = {"schema": models.schema_of(operation.body_type)}
        example = body_example(operation)
        if example is not None:
            media["example"] = example
        content = {JSON: media}
        described["requestBody"] = {"required": _is_required(operation.body_type), "content": content}
    elif operation.form_type is not None:
        form: Json = {"schema": models.schema_of(operation.form_type), "example": body_example(operation)}
        described["requestBody"] = {"required": True, "content": {FORM: form}}
    return described


def _is_required(body: object) -> bool:
    """Return whether a call needs this body: no body is an object without fields."""
    if not (isinstance(body, type) and issubclass(body, msgspec.Struct)):
        return True
    return any(field.required for field in msgspec.structs.fields(body))


def _parameters(where: str, kind: type[msgspec.Struct] | None, models: _Models) -> list[Json]:
    if kind is None:
        return []
    properties = models.properties_of(kind)
    return [
        {
            "name": field.encode_name,
            "in": where,
            "required": where == "path" or field.required,
            "schema": properties[field.encode_name],
        }
        for field in msgspec.structs.fields(kind)
    ]


def _responses(operation: Operation, models: _Models) -> Json:
    responses: Json = {str(operation.status): _success(operation, models)}
    for status in operation.statuses:
        schema = models.schema_of(ErrorBody)
        if status == HTTPStatus.REQUEST_TIMEOUT and status in operation.errors:
            schema = {"anyOf": [models.schema_of(WaitTimedOut), schema]}
        elif operation.error_type is not None and status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED):
            schema = {"anyOf": [models.schema_of(operation.error_type), schema]}
        examples = {name: {"value": value} for name, value in error_examples(operation, status).items()}
        content = {JSON: {"schema": schema, "examples": examples}}
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": content}
    return responses


def _success(operation: Operation, models: _Models) -> Json:
    schema = models.schema_of(operation.result_type) if operation.media_type == JSON else {"type": "string"}
    media_type = operation.media_type.partition(";")[0]
    # OpenAPI 3.1 has no schema for the events of a stream.
    media: Json = {} if media_type == EVENT_STREAM else {"schema": schema}
    return {"description": HTTPStatus(operation.status).phrase, "content": {media_type: media}}
