"""HTTP without redirects, for calls with credentials: urllib would send them on to the address of the redirect."""

from __future__ import annotations

from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
)


def new_opener() -> OpenerDirector:
    """Return an opener like urlopen's, without redirects, FTP and files. Its open raises HTTPError for a redirect."""
    opener = OpenerDirector()
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(), HTTPDefaultErrorHandler(), HTTPErrorProcessor()):
        opener.add_handler(handler)
    return opener
