"""HTTP for calls with credentials: without redirects, and limited in time and size as a whole.

urllib would send the credentials on to the address of the redirect, and limits each step of a connection only.
"""

from __future__ import annotations

from concurrent.futures import Future
from http.client import HTTPResponse, IncompleteRead
from threading import Thread
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)


def new_opener() -> OpenerDirector:
    """Return an opener like urlopen's, without redirects, FTP and files. Its open raises HTTPError for a redirect."""
    opener = OpenerDirector()
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(), HTTPDefaultErrorHandler(), HTTPErrorProcessor()):
        opener.add_handler(handler)
    return opener


def read_response(request: Request, *, seconds_max: float, bytes_max: int) -> bytes:
    """Return the body of a response; of a longer one the first bytes_max + 1 bytes.

    seconds_max: from the lookup of the host to the last byte. Raises TimeoutError, HTTPError for a status that is no
    success, URLError and other OSErrors, HTTPException for what is no HTTP or broken off, and ValueError.
    """
    response: Future[bytes] = Future()

    def read() -> None:
        try:
            response.set_result(_body_of(request, seconds_max, bytes_max))
        except BaseException as error:
            response.set_exception(error)

    # A thread, because nothing else limits a lookup, or headers that come byte by byte. After the limit it ends with
    # the connection, or with the process.
    Thread(target=read, name=f"GET {request.host}", daemon=True).start()
    return response.result(seconds_max)


def _body_of(request: Request, seconds: float, bytes_max: int) -> bytes:
    response: HTTPResponse
    with new_opener().open(request, timeout=seconds) as response:
        content = response.read(bytes_max + 1)
        if len(content) <= bytes_max and response.length:
            # A read with a size does not raise it.
            raise IncompleteRead(content, response.length)
        return content
