"""The token endpoint: OAuth 2.0's client credentials, for clients with OAUTHBEARER (RFC 6749, 7517, 8414).

A client is a user of --user, and needs no token of the admin API. Errors of these calls have OAuth's form.
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import unquote_plus

from msgspec import UNSET, Meta, Struct, UnsetType

from ...broker.security.oauth.bearer_token import ISSUED_ALGORITHM
from ...broker.security.oauth.token_issuer import (
    AUDIENCE_DEFAULT,
    LIFETIME_MS_MAX,
    TokenClaims,
    TokenIssuer,
    can_issue,
)
from ...security.java_text import trim
from ..control import Control
from ..errors import CallError
from ..operation import Operation

TAG = "oauth"
TOKEN_PATH = "/oauth/token"
JWKS_PATH = "/oauth/jwks"
CONFIGURATION_PATH = "/.well-known/openid-configuration"
GRANT_TYPE = "client_credentials"
AUTHORIZATION = "authorization"
BASIC = "basic"
HOST = "host"
HOST_DEFAULT = "localhost"
# A token with these is far below the largest frame of a client that has not authenticated.
TEXT_LENGTH_MAX = 1000
# RFC 6749, section 5.1.
NO_STORE = {"Cache-Control": "no-store"}

Text = Annotated[str, Meta(max_length=TEXT_LENGTH_MAX)]
Lifetime = Annotated[int, Meta(ge=1, le=LIFETIME_MS_MAX)]


class TokenForm(Struct, kw_only=True):
    """A request for a token; other fields are ignored.

    client_id, client_secret: a user and its password, unless they are in `Authorization: Basic`.
    scope, audience: claims of the token; the audience is `kafka` by default.
    """

    grant_type: str | None = None
    client_id: Text | None = None
    client_secret: Text | None = None
    scope: Text | None = None
    audience: Text | None = None


class TokenQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Parameters in the URL of the endpoint, which every client can set.

    lifetime_ms: of the token, rounded up to seconds; that of --token-lifetime-ms by default.
    """

    lifetime_ms: Lifetime | None = None


class Token(Struct, kw_only=True):
    """A token, and the seconds until it expires."""

    access_token: str
    token_type: Literal["Bearer"] = "Bearer"
    expires_in: int
    scope: str | UnsetType = UNSET


class KeySetBody(Struct, kw_only=True):
    """A JSON Web Key Set with the public key of the tokens."""

    keys: list[dict[str, Any]]


class ProviderConfiguration(Struct, kw_only=True):
    """Where the endpoints are, under the host of the call."""

    issuer: str
    token_endpoint: str
    jwks_uri: str
    grant_types_supported: list[str]
    response_types_supported: list[str]
    subject_types_supported: list[str]
    id_token_signing_alg_values_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]


class OauthErrorBody(Struct, kw_only=True):
    """The body of an error response of the token endpoint (RFC 6749, section 5.2)."""

    error: Literal["invalid_request", "invalid_client", "unsupported_grant_type"]
    error_description: str


class OauthError(CallError):
    """An error response of the token endpoint."""

    challenge = 'Basic realm="fauxka"'

    def __init__(self, body: OauthErrorBody) -> None:
        """body: of the response; its status is 401 for a wrong client, else 400."""
        super().__init__(401 if body.error == "invalid_client" else 400, body.error_description)
        self._body = body

    def body(self) -> Struct:
        """Return the body of the response."""
        return self._body


async def issue_token(control: Control, form: TokenForm, query: TokenQuery, headers: Mapping[str, str]) -> Token:
    """Return an access token to a user (grant_type client_credentials).

    The token is signed with RS256 and expires on the broker's clock. Listeners with OAUTHBEARER accept it if no other
    key set is configured.
    """
    issuer = _issuer_of(control)
    user = _authenticated_user(issuer, form, headers)
    if form.grant_type != GRANT_TYPE:
        kind: Any = "invalid_request" if form.grant_type is None else "unsupported_grant_type"
        raise OauthError(OauthErrorBody(error=kind, error_description=f"grant_type: expected {GRANT_TYPE}"))
    await asyncio.to_thread(issuer.make_key)
    scope = trim(form.scope or "") or None
    claims = TokenClaims(_base_url(control, headers), user, form.audience or AUDIENCE_DEFAULT, scope)
    issued = issuer.issue(claims, control.clock.now_ms(), query.lifetime_ms or issuer.lifetime_ms)
    return Token(
        access_token=issued.token, expires_in=issued.expires_in_seconds, scope=UNSET if scope is None else scope
    )


async def get_key_set(control: Control) -> KeySetBody:
    """Return the public key of the tokens as a JSON Web Key Set; no key without users."""
    if control.cluster.token_issuer is None:
        return KeySetBody(keys=[])
    jwk = await asyncio.to_thread(_issuer_of(control).make_key)
    return KeySetBody(keys=[dict(jwk)])


def get_provider_configuration(control: Control, headers: Mapping[str, str]) -> ProviderConfiguration:
    """Return the addresses of the token endpoint and of its key set (OpenID Connect Discovery)."""
    base = _base_url(control, headers)
    return ProviderConfiguration(
        issuer=base,
        token_endpoint=base + TOKEN_PATH,
        jwks_uri=base + JWKS_PATH,
        grant_types_supported=[GRANT_TYPE],
        response_types_supported=[],
        subject_types_supported=["public"],
        id_token_signing_alg_values_supported=[ISSUED_ALGORITHM],
        token_endpoint_auth_methods_supported=["client_secret_basic", "client_secret_post"],
    )


def _issuer_of(control: Control) -> TokenIssuer:
    issuer = control.cluster.token_issuer
    if issuer is None:
        raise _invalid_client("this broker has no users; --user NAME:PASSWORD adds one")
    if not can_issue():
        raise CallError(503, "tokens need pip install 'fauxka[security]'")
    return issuer


def _authenticated_user(issuer: TokenIssuer, form: TokenForm, headers: Mapping[str, str]) -> str:
    """Return the user whose credentials came with the request. Raises OauthError."""
    authorization = headers.get(AUTHORIZATION)
    given = (form.client_id or "", form.client_secret or "") if authorization is None else _basic(authorization)
    # RFC 6749 has both parts of Basic encoded as in a form; most clients send them as they are.
    decoded = (unquote_plus(given[0]), unquote_plus(given[1]))
    matches = [user for user, secret in (given, decoded) if issuer.is_secret_of(user, secret)]
    if not matches:
        raise _invalid_client("expected the name and the password of a user of --user as client id and secret")
    return matches[0]


def _basic(authorization: str) -> tuple[str, str]:
    """Return user and password of an Authorization header; empty ones for another header."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() != BASIC:
        return "", ""
    try:
        user, _, secret = b64decode(trim(credentials), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return user, secret


def _invalid_client(description: str) -> OauthError:
    return OauthError(OauthErrorBody(error="invalid_client", error_description=description))


def _base_url(control: Control, headers: Mapping[str, str]) -> str:
    return f"{control.scheme}://{headers.get(HOST) or HOST_DEFAULT}"


OPERATIONS = (
    Operation(
        method="POST",
        path=TOKEN_PATH,
        perform=issue_token,
        tag=TAG,
        errors=(401,),
        is_public=True,
        error_type=OauthErrorBody,
        headers=NO_STORE,
        has_secret=True,
    ),
    Operation(method="GET", path=JWKS_PATH, perform=get_key_set, tag=TAG, is_public=True),
    Operation(method="GET", path=CONFIGURATION_PATH, perform=get_provider_configuration, tag=TAG, is_public=True),
)
