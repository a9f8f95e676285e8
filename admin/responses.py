"""JSON responses of the admin API, and the response to each kind of error."""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from starlette.responses import Response

from .errors import KIND_HEADER, CallError
from .operation import JSON


def json_response(status: int, body: object, headers: dict[str, str] | None = None) -> Response:
    """Return a response with body as JSON."""
    return Response(msgspec.json.encode(body), status, headers, media_type=JSON)


def error_response(error: CallError) -> Response:
    """Return the response to a refused call."""
    headers = {KIND_HEADER: error.kind}
    if error.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = error.challenge
    return json_response(error.status, error.body(), headers)
