"""Performs operations over HTTP: of a broker in another process or in a container."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, cast
from urllib.parse import quote

import msgspec
from msgspec import Struct, structs

from ...faults import strict_json
from ...faults.rule_error import InvalidValueError, RuleError
from ...faults.rules.near_misses import NearMiss
from ..client.admin_client import AdminClient, BadCall
from ..errors import CallError, Unreachable, WaitTimeoutError
from ..operation import JSON, Operation
from .base import AnyOperation, wait_seconds

# The errors of operations for invalid values, by their names in the header of a response.
INVALID_VALUES = {each.__name__: each for each in (InvalidValueError, RuleError)}
BAD_REQUEST, UNAUTHORIZED, TIMED_OUT = 400, 401, 408


class HttpSend:
    """A Send over HTTP."""

    def __init__(self, client: AdminClient) -> None:
        """client: of the broker's admin API."""
        self._client = client

    def __call__(self, operation: AnyOperation, arguments: Mapping[str, object], /) -> Any:
        """Perform an operation, and return its result. Raises CallError, InvalidValueError and Unreachable."""
        called = operation_of(operation)
        query = arguments.get("query")
        parameters = {} if query is None else parameters_of(query)
        body = arguments.get("body")
        content = None if body is None else encoded(body)
        seconds = wait_seconds(arguments)
        try:
            answer = self._client.send(
                called.method, path_of(called, arguments), content, parameters, wait_seconds=seconds
            )
        except BadCall as error:
            raise error_of(error) from None
        return result_of(called, answer)


def encoded(body: object) -> bytes:
    """Return a body as JSON. Raises InvalidValueError for a text that UTF-8 does not have."""
    try:
        return strict_json.encode(body)
    except UnicodeEncodeError as error:
        field = field_of(msgspec.to_builtins(body), error.object) or ""
        error_type = strict_json.error_type_of(type(body))
        raise error_type(field, ascii(error.object), "text of UTF-8", f"{field} is no text of UTF-8") from None


def field_of(value: object, text: str, path: str = "") -> str | None:
    """Return the path of a text in a value of JSON's types; None if it is not there."""
    if isinstance(value, str):
        return path if value == text else None
    if isinstance(value, dict):
        steps = [(f"{path}.{name}".removeprefix("."), each) for name, each in cast("dict[str, object]", value).items()]
    elif isinstance(value, list):
        steps = [(f"{path}[{index}]", each) for index, each in enumerate(cast("list[object]", value))]
    else:
        return None
    return next((found for step, each in steps if (found := field_of(each, text, step)) is not None), None)


@cache
def operation_of(perform: AnyOperation) -> Operation:
    """Return the operation of a function, which its module lists."""
    listed = cast("tuple[Operation, ...]", vars(sys.modules[perform.__module__])["OPERATIONS"])
    return next(each for each in listed if each.perform is perform)


def path_of(operation: Operation, arguments: Mapping[str, object]) -> str:
    """Return the path of a call, with its parameters."""
    path = arguments.get("path")
    if path is None:
        return operation.path
    parts = {name: quote(str(value), safe="") for name, value in structs.asdict(cast("Struct", path)).items()}
    return operation.path.format_map(parts)


def parameters_of(query: object) -> dict[str, object]:
    """Return the fields of a query that differ from their defaults, as parameters of a URL."""
    fields = cast("dict[str, object]", msgspec.to_builtins(query))
    default = {each.encode_name: each.default for each in structs.fields(cast("Struct", query))}
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in fields.items()
        if value is not None and value != default[name]
    }


def result_of(operation: Operation, answer: bytes) -> object:
    """Return the body of a response as the operation returns it. Raises Unreachable for anything else."""
    if operation.media_type != JSON:
        return answer
    model = cast("type[object]", operation.result_type)
    try:
        return strict_json.convert(strict_json.parse(answer), model)
    except InvalidValueError as error:
        raise Unreachable(
            f"the response is that of another server, or of another version of fauxka: {error.message}"
        ) from error


def error_of(refusal: BadCall) -> CallError | InvalidValueError:
    """Return the error that the operation has raised."""
    message, body, status = str(refusal), refusal.body, refusal.status or BAD_REQUEST
    detail: Mapping[str, Any] = {} if body is None else body.get("error", {})
    if status == TIMED_OUT and body is not None and "hits" in body:
        misses = strict_json.convert(body["near_misses"], list[NearMiss])
        return WaitTimeoutError(message, body["hits"], misses)
    field, value, allowed = (detail.get(name) for name in ("field", "value", "allowed"))
    error_type = INVALID_VALUES.get(refusal.kind or "")
    if error_type is not None:
        return error_type(field or "", value, allowed or "", detail.get("message", message))
    # The client's message says how to give the token.
    said = message if status == UNAUTHORIZED else detail.get("message", message)
    return CallError(status, said, field=field, value=value, allowed=allowed)
