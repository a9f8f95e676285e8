"""Unsecured tokens ("alg":"none"): Kafka's default for OAUTHBEARER.

Source: OAuthBearerUnsecuredValidatorCallbackHandler, OAuthBearerUnsecuredJws and OAuthBearerValidationUtils, Kafka
4.3.0; tests/golden/oauth-4.3.0.jsonl. Jackson reads the JSON there: bytes behind the value are ignored, a repeated name
has its last value, null and booleans are texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import floor, isinf
from typing import NamedTuple, cast

from ....security.java_text import is_blank, is_decimal, trim
from ...config.config_types import ConfigError
from .bearer_token import (
    JSON_ERRORS,
    BearerToken,
    InvalidToken,
    decode_base64url,
    end_without_response,
    find_text_claim,
    read_number,
    refuse_constant,
    without_surrogates,
)

PRINCIPAL_CLAIM_DEFAULT = "sub"
SCOPE_CLAIM_DEFAULT = "scope"
_PREFIX = "unsecuredValidator"
_PARTS = 3
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
# Long.MAX_VALUE, to which Math.round limits a larger number.
_LONG_MAX = 2**63 - 1
_DECODER = json.JSONDecoder(parse_int=read_number, parse_float=read_number, parse_constant=refuse_constant)

# A claim as OAuthBearerUnsecuredJws converts it.
Claim = str | float | list[str]


class UnsecuredOptions(NamedTuple):
    """The options of the JAAS config. required_scope: what a token must have, in order."""

    principal_claim: str = PRINCIPAL_CLAIM_DEFAULT
    scope_claim: str = SCOPE_CLAIM_DEFAULT
    required_scope: tuple[str, ...] = ()
    clock_skew_ms: int = 0


def parse_unsecured_options(options: Mapping[str, str], key: str) -> UnsecuredOptions:
    """Return the options that begin with unsecuredValidator. key: for the message. Raises ConfigError."""
    name = f"{_PREFIX}AllowableClockSkewMs"
    skew = trim(options.get(name, "")) or "0"
    if not is_decimal(skew):
        raise ConfigError(f"{key}: {name}: expected a number of ms, got {skew}")
    return UnsecuredOptions(
        trim(options.get(f"{_PREFIX}PrincipalClaimName", "")) or PRINCIPAL_CLAIM_DEFAULT,
        trim(options.get(f"{_PREFIX}ScopeClaimName", "")) or SCOPE_CLAIM_DEFAULT,
        _required_scope(options, key),
        int(skew),
    )


def _required_scope(options: Mapping[str, str], key: str) -> tuple[str, ...]:
    """Return the scopes between spaces. Raises ConfigError. Source: OAuthBearerScopeUtils.parseScope, Kafka 4.3.0."""
    name = f"{_PREFIX}RequiredScope"
    scopes = tuple(each for each in trim(options.get(name, "")).split(" ") if each)
    for scope in scopes:
        if _SCOPE.fullmatch(scope) is None:
            raise ConfigError(f'{key}: {name}: got {scope}; allowed: printable ASCII without " and \\, between spaces')
    return scopes


class UnsecuredValidator:
    """A TokenValidator of tokens without a signature."""

    def __init__(self, options: UnsecuredOptions) -> None:
        """options: of the listener."""
        self._options = options

    def prepare(self) -> None:
        """Do nothing."""

    def find_principal(self, token: str) -> str | None:
        """Return the principal that a token names, None for none. Nothing is verified."""
        return find_text_claim(token, self._options.principal_claim)

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Return the principal of a token. Raises InvalidToken and FrameError, see TokenValidator."""
        claims = _claims_of(token)
        scope = _scope_of(claims, self._options.scope_claim)
        expires = _number(claims, "exp")
        if expires is None:
            raise InvalidToken("No expiration time in JWT")
        principal = claims.get(self._options.principal_claim)
        if not isinstance(principal, str) or is_blank(principal):
            raise InvalidToken(f"No principal name in JWT claim: {self._options.principal_claim}")
        self._check_times(_number(claims, "iat"), expires, now_ms)
        missing = next((each for each in self._options.required_scope if each not in scope), None)
        if missing is not None:
            required = f"[{', '.join(self._options.required_scope)}]"
            raise InvalidToken(f"the scope has no {missing}; required are {required}", required)
        return BearerToken(without_surrogates(principal), _round_ms(expires))

    def _check_times(self, issued: float | None, expires: float, now_ms: int) -> None:
        skew_ms = self._options.clock_skew_ms
        if issued is not None and issued * 1000 > now_ms + skew_ms:
            raise InvalidToken(f"issued at {issued:f} s, which is after {now_ms} ms and a clock skew of {skew_ms} ms")
        if now_ms - skew_ms >= expires * 1000:
            raise InvalidToken(f"expired at {expires:f} s; it is {now_ms} ms, with a clock skew of {skew_ms} ms")
        if issued is not None and expires <= issued:
            raise InvalidToken(f"expires at {expires:f} s, which is not after its issue at {issued:f} s")


def _claims_of(token: str) -> dict[str, Claim]:
    """Return the claims of an unsecured token. Raises InvalidToken and FrameError."""
    parts = token.split(".")
    if ".." in token or len(parts) != _PARTS:
        raise InvalidToken(f"an unsecured JWS has {_PARTS} parts, and this token {len(parts)}")
    header, claims = _read_object(parts[0]), _read_object(parts[1])
    if "alg" not in header:
        raise end_without_response("JWS header must have an Algorithm value")
    if header["alg"] != "none":
        raise InvalidToken("Unsecured JWS must have 'none' for an algorithm")
    if parts[2]:
        raise InvalidToken("Unsecured JWS must not contain a digital signature")
    return claims


def _read_object(part: str) -> dict[str, Claim]:
    """Return the members of the object in one part; none for any other JSON. Raises InvalidToken."""
    data = decode_base64url(part)
    try:
        # Jackson detects UTF-16 and UTF-32, too.
        text = data.decode(json.detect_encoding(data)).lstrip(" \t\r\n")
        # No bytes are an object without members.
        value = _DECODER.raw_decode(text)[0] if text else None
    except JSON_ERRORS as error:
        raise InvalidToken("malformed JSON") from error
    if not isinstance(value, dict):
        return {}
    return {name: _converted(each) for name, each in cast("dict[str, object]", value).items()}


def _converted(value: object) -> Claim:
    if isinstance(value, list):
        return [_as_text(each) for each in cast("list[object]", value)]
    return value if isinstance(value, float) else _as_text(value)


def _as_text(value: object) -> str:
    """Return what JsonNode.asText returns: nothing for a list or an object."""
    match value:
        case str():
            return value
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case _:
            return ""


def _number(claims: Mapping[str, Claim], name: str) -> float | None:
    value = claims.get(name)
    if value is not None and not isinstance(value, float):
        raise InvalidToken(f"The '{name}' claim is no number")
    return value


def _scope_of(claims: Mapping[str, Claim], name: str) -> set[str]:
    value = claims.get(name, "")
    if isinstance(value, int | float):
        raise InvalidToken(f"The '{name}' claim is a number")
    texts = [value] if isinstance(value, str) else value
    return {trim(text) for text in texts if not is_blank(text)}


def _round_ms(seconds: float) -> int:
    ms = seconds * 1000 + 0.5
    return _LONG_MAX if isinf(ms) else min(_LONG_MAX, floor(ms))
