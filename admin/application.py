"""The admin API as an ASGI application: routes a call to its operation and encodes the result.

Checks of every call: the origin of a browser's request (browser_guard), the token, the size of the body, and no unknown
parameter or field. All errors have one form.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from inspect import isawaitable
from typing import TypeVar, cast
from urllib.parse import parse_qsl, unquote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..faults.rule_error import InvalidValueError
from ..faults.strict_json import decode, decode_query
from .browser_guard import BrowserGuard
from .control import Control
from .errors import CallError, missing_token, of_invalid_value, too_large
from .operation import JSON, NoParameters, Operation
from .page_files import page_routes
from .responses import error_response, json_response

logger = logging.getLogger(__name__)

Parameters = TypeVar("Parameters", bound=msgspec.Struct)

# A rule has a few hundred bytes; the longest list of ids has less than 200,000.
BODY_BYTES_MAX = 1024 * 1024
AUTHORIZATION = "authorization"
# The form of a token request has five.
FORM_FIELDS_MAX = 100
# Bodies that an operation without a body accepts.
NO_BODIES = frozenset({b"", b"{}"})


def make_application(
    control: Control,
    operations: Sequence[Operation],
    *,
    token: str | None,
    stopping: asyncio.Event,
    allowed_hosts: Collection[str] = (),
) -> Starlette:
    """Return the application.

    token: the bearer token that every operation but a public one needs; None for no token.
    allowed_hosts: hosts under which browsers may call, besides loopback names and the address of the connection.
    stopping: set when the broker stops, which ends waiting calls.
    """
    endpoints = _Endpoints(control, token, stopping)
    methods: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        methods.setdefault(operation.path, {})[operation.method] = operation
    routes = [
        Route(path, endpoints.endpoint_of(of_method), methods=list(of_method)) for path, of_method in methods.items()
    ]
    routes += page_routes()
    handlers = {HTTPException: _http_error_response, Exception: _failure_response}
    guard = Middleware(BrowserGuard, allowed_hosts=allowed_hosts)
    application = Starlette(routes=routes, exception_handlers=handlers, middleware=[guard, Middleware(_EncodedPath)])
    application.router.redirect_slashes = False
    return application


class _EncodedPath:
    """ASGI middleware that routes by the path as it was sent: an id may have a slash, which is %2F there."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["raw_path"].decode("latin-1")
        await self._application({**scope, "path": path}, receive, send)


class _Endpoints:
    """Creates the endpoint of each path."""

    def __init__(self, control: Control, token: str | None, stopping: asyncio.Event) -> None:
        self._control = control
        self._credentials = None if token is None else f"Bearer {token}".encode()
        self._stopping = stopping

    def endpoint_of(self, operations: dict[str, Operation]) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of one path."""

        async def respond(request: Request) -> Response:
            # Starlette adds HEAD to GET.
            operation = operations.get(request.method) or operations["GET"]
            try:
                return await self._respond(operation, request)
            except CallError as error:
                return error_response(error)
            except InvalidValueError as error:
                return error_response(of_invalid_value(error.without_value() if operation.has_secret else error))

        return respond

    async def _respond(self, operation: Operation, request: Request) -> Response:
        self._check(operation, request)
        arguments = _parameters_of(operation, request)
        arguments.update(_body_of(operation, await _read_body(request)))
        if operation.wants_caller:
            arguments["caller"] = _HttpCaller(request, self._stopping)
        perform = operation.stream or operation.perform
        result = perform(self._control, **arguments)
        if isawaitable(result):
            result = await result
        if isinstance(result, AsyncIterator):
            return await _streamed(operation, request, cast("AsyncGenerator[bytes]", result))
        return _response(operation, result)

    def _check(self, operation: Operation, request: Request) -> None:
        """Check the token. Raises CallError."""
        if self._credentials is None or operation.is_public:
            return
        given = request.headers.get(AUTHORIZATION, "").encode("latin-1")
        if not hmac.compare_digest(given, self._credentials):
            raise missing_token()


class _HttpCaller:
    """The client of one call."""

    def __init__(self, request: Request, stopping: asyncio.Event) -> None:
        self._request = request
        self._stopping = stopping

    async def disconnected(self) -> None:
        left = asyncio.ensure_future(self._left())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({left, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            stopping.cancel()

    async def _left(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass


def _parameters_of(operation: Operation, request: Request) -> dict[str, object]:
    """Return path, query and headers, those that the operation takes. Raises InvalidValueError."""
    arguments: dict[str, object] = {}
    if operation.path_type is not None:
        parts = {name: unquote(str(value)) for name, value in request.path_params.items()}
        arguments["path"] = read_parameters(operation.path_type, parts.items())
    query = read_parameters(operation.query_type or NoParameters, request.query_params.multi_items())
    if operation.query_type is not None:
        arguments["query"] = query
    if operation.wants_headers:
        arguments["headers"] = request.headers
    return arguments


def _body_of(operation: Operation, body: bytes) -> dict[str, object]:
    """Return the body or the form, if the operation takes one. Raises InvalidValueError and CallError.

    No body is an object without fields.
    """
    if operation.body_type is not None:
        return {"body": decode(body.strip() or b"{}", cast("type[object]", operation.body_type), operation.ignored)}
    if operation.form_type is not None:
        return {"form": read_parameters(operation.form_type, _form_fields(body))}
    if body.strip() not in NO_BODIES:
        raise CallError(400, "this operation has no body", field="", value=len(body), allowed="no body")
    return {}


def read_parameters(model: type[Parameters], given: Iterable[tuple[str, str]]) -> Parameters:
    """Return names and values as a model.

    Raises InvalidValueError for unknown, invalid, missing and repeated parameters.
    """
    values: dict[str, str] = {}
    for name, text in given:
        if name in values:
            raise InvalidValueError(name, text, "one value", f"{name} is given more than once")
        values[name] = text
    return decode_query(values, model)


def _form_fields(body: bytes) -> list[tuple[str, str]]:
    """Return the fields of a form. Raises CallError 400."""
    try:
        return parse_qsl(body.decode("latin-1"), keep_blank_values=True, max_num_fields=FORM_FIELDS_MAX)
    except ValueError as error:
        raise CallError(400, f"expected a form of at most {FORM_FIELDS_MAX} fields", field="") from error


async def _read_body(request: Request) -> bytes:
    """Return the body. Raises CallError 413 before more than BODY_BYTES_MAX is stored."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > BODY_BYTES_MAX:
        raise too_large(int(announced), BODY_BYTES_MAX)
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > BODY_BYTES_MAX:
                raise too_large(size, BODY_BYTES_MAX)
            pieces.append(piece)
    except ClientDisconnect as error:
        raise CallError(400, "the client disconnected before the end of its body") from error
    return b"".join(pieces)


def _response(operation: Operation, result: object) -> Response:
    headers = dict(operation.headers)
    if operation.media_type == JSON:
        return json_response(operation.status, result, headers)
    return Response(cast(bytes, result), operation.status, headers, media_type=operation.media_type)


async def _streamed(operation: Operation, request: Request, events: AsyncGenerator[bytes]) -> Response:
    """Return a response that sends each item as it comes; for HEAD one without a body."""
    if request.method == "HEAD":
        await events.aclose()
        return Response(b"", operation.status, dict(operation.headers), media_type=operation.media_type)
    return StreamingResponse(events, operation.status, dict(operation.headers), media_type=operation.media_type)


def _http_error_response(request: Request, error: Exception) -> Response:
    """Return the response to an unknown path or method, which Starlette rejects."""
    assert isinstance(error, HTTPException)
    allowed = (error.headers or {}).get("Allow")
    path = unquote(request.url.path)
    message = f"there is no {request.method} {path}"
    refused = CallError(error.status_code, message, field="path", value=path, allowed=allowed)
    return json_response(error.status_code, refused.body(), dict(error.headers or {}))


def _failure_response(request: Request, error: Exception) -> Response:
    """Return the response to an internal error; the log has the traceback."""
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return json_response(500, CallError(500, f"{type(error).__name__}: {error}").body())
