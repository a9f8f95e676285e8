"""The request of a token by the grant type client_credentials (RFC 6749, section 4.4)."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from base64 import b64encode
from http.client import HTTPException
from typing import cast
from urllib.parse import urlencode

from .client_security import TokenEndpoint
from .http_opener import read_response
from .token_error import TokenError

# A century: more cannot be meant.
LIFETIME_SECONDS_MAX = 100 * 366 * 86_400


def request_token(endpoint: TokenEndpoint, *, timeout_seconds: float, bytes_max: int) -> tuple[str, float | None]:
    """Return the token and the seconds that it is valid, None if the response does not say it.

    timeout_seconds: of the whole request. Raises TokenError, without the text of the response.
    """
    form = {"grant_type": "client_credentials", **({} if endpoint.scope is None else {"scope": endpoint.scope})}
    credentials = b64encode(f"{endpoint.client_id}:{endpoint.client_secret}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Accept": "application/json"}
    request = urllib.request.Request(endpoint.url, urlencode(form).encode(), headers)
    name = f"the token endpoint {endpoint.url}"
    try:
        content = read_response(request, seconds_max=timeout_seconds, bytes_max=bytes_max)
    except urllib.error.HTTPError as error:
        error.close()
        raise TokenError(f"{name} responds with {error.code}") from None
    except TimeoutError:
        raise TokenError(f"{name} takes more than {timeout_seconds:g} s") from None
    except (OSError, ValueError, HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise TokenError(f"{name} cannot be used: {' '.join(str(reason).split())}") from None
    return _token_in(content, name, bytes_max)


def _token_in(content: bytes, name: str, bytes_max: int) -> tuple[str, float | None]:
    try:
        fields: object = json.loads(content) if len(content) <= bytes_max else None
    except (ValueError, RecursionError):
        fields = None
    found = cast("dict[str, object]", fields) if isinstance(fields, dict) else {}
    token, seconds = found.get("access_token"), found.get("expires_in")
    if not isinstance(token, str):
        raise TokenError(f"{name} responds without an access_token")
    if not token.isascii():
        raise TokenError(f"{name} responds with an access_token that is not ASCII")
    if isinstance(seconds, int | float) and 0 < seconds <= LIFETIME_SECONDS_MAX:
        return token, float(seconds)
    return token, None
