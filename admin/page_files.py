"""The page at `/`: four files, made from the sources when a browser first asks for them.

- No file needs a token: none has data of the broker. The page gets data from the admin API, and asks for its token.
- The modules are one script, which a browser gets in one response.
- A file has an ETag of its content. A browser that has the file asks with it, and gets status 304 without a body.
"""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable
from functools import cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .errors import CallError
from .page_sources import FOLDER, INDEX, STYLE, joined_script
from .responses import error_response

SCRIPT = "main.js"
MEDIA_TYPES = {
    INDEX: "text/html; charset=utf-8",
    STYLE: "text/css; charset=utf-8",
    SCRIPT: "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
# Scripts, styles and calls only from where the page came from: text from the wire that became HTML could run nothing.
CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    # Another version of the broker may serve the same address.
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
GZIP = "gzip"
NOT_MODIFIED = 304
# Of the 64 digits of a hash: a file has few versions.
ETAG_DIGITS = 16
# zlib writes the format of gzip (RFC 1952).
_GZIP_WBITS = 31


def page_routes() -> list[Route]:
    """Return the routes of the page and of its files."""
    return [Route("/", _file_endpoint(lambda _: INDEX)), Route("/page/{name}", _file_endpoint(_name_of))]


def _name_of(request: Request) -> str:
    return str(request.path_params["name"])


def _file_endpoint(name_of: Callable[[Request], str]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        name = name_of(request)
        if name not in MEDIA_TYPES:
            message = f"there is no {request.method} {request.url.path}"
            return error_response(CallError(404, message, field="path", value=request.url.path))
        headers = HEADERS | {"ETag": _etag(name)}
        if headers["ETag"] in request.headers.get("if-none-match", "").split(", "):
            return Response(status_code=NOT_MODIFIED, headers=headers)
        # A client that accepts it in other words gets the file itself.
        if GZIP in request.headers.get("accept-encoding", "").split(", "):
            packed_headers = headers | {"Content-Encoding": GZIP}
            return Response(_compressed(name), headers=packed_headers, media_type=MEDIA_TYPES[name])
        return Response(_content(name), headers=headers, media_type=MEDIA_TYPES[name])

    return respond


@cache
def _content(name: str) -> bytes:
    return joined_script(SCRIPT).encode() if name == SCRIPT else (FOLDER / name).read_bytes()


@cache
def _compressed(name: str) -> bytes:
    return zlib.compress(_content(name), level=9, wbits=_GZIP_WBITS)


@cache
def _etag(name: str) -> str:
    """Return the ETag of both encodings: a weak one, because they have other bytes."""
    return f'W/"{sha256(_content(name)).hexdigest()[:ETAG_DIGITS]}"'
