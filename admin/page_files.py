"""The page at `/`: static files of this package, read when a browser first asks for them.

No file needs a token: none has data of the broker. The page gets data from the admin API, and asks for its token.
"""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from . import page_declarations
from .errors import CallError
from .responses import error_response

FOLDER = Path(__file__).parent / "page"
INDEX = "index.html"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
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
        if name not in _names():
            message = f"there is no {request.method} {request.url.path}"
            return error_response(CallError(404, message, field="path", value=request.url.path))
        media_type = MEDIA_TYPES[Path(name).suffix]
        # A client that accepts it in other words gets the file itself.
        if GZIP in request.headers.get("accept-encoding", "").split(", "):
            return Response(_compressed(name), headers=HEADERS | {"Content-Encoding": GZIP}, media_type=media_type)
        return Response(_content(name), headers=HEADERS, media_type=media_type)

    return respond


@cache
def _names() -> frozenset[str]:
    return frozenset(file.name for file in FOLDER.iterdir() if file.suffix in MEDIA_TYPES) | {page_declarations.MODULE}


@cache
def _content(name: str) -> bytes:
    if name == page_declarations.MODULE:
        return page_declarations.declared_module().encode()
    return (FOLDER / name).read_bytes()


@cache
def _compressed(name: str) -> bytes:
    return zlib.compress(_content(name), wbits=_GZIP_WBITS)
