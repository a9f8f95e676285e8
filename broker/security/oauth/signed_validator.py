"""Signed tokens, checked with a key set.

Source: BrokerJwtValidator and ClaimValidationUtils of Kafka 4.3.0, and the validators of jose4j's JwtConsumer that it
builds; tests/golden/oauth-4.3.0.jsonl. A token with an audience is refused where no audience is expected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple, cast

from ....security.java_text import decode_utf8, equals_ignore_case, trim
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
from .key_set import SignedPart, UnknownKey
from .key_source import KeySource

_PARTS = 3
_LONG_MAX = 2**63 - 1
# Claims that are texts wherever they are.
_TEXT_CLAIMS = ("iss", "sub", "jti")
_NESTED = "jwt"

Claims = Mapping[str, object]


class ClaimRules(NamedTuple):
    """What the claims of a token must be.

    audiences: one of them must be an audience of the token. If there are none, the token must have none; None for no
    rule. issuer: None for any.
    """

    audiences: frozenset[str] | None = frozenset()
    issuer: str | None = None
    clock_skew_seconds: int = 30
    principal_claim: str = "sub"
    scope_claim: str = "scope"


class SignedValidator:
    """A TokenValidator of tokens with a signature."""

    def __init__(self, keys: KeySource, rules: ClaimRules) -> None:
        """keys: of the issuer. rules: of the listener."""
        self.prepare = keys.prepare
        self._keys = keys
        self._rules = rules

    def find_principal(self, token: str) -> str | None:
        """Return the principal that a token names, None for none. Nothing is verified."""
        name = find_text_claim(token, self._rules.principal_claim)
        return None if name is None else trim(name)

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Return the principal of a token. Raises InvalidToken and FrameError, see TokenValidator."""
        claims = self._verified_claims(token)
        self._check_names(claims)
        issued, expires = _seconds(claims, "iat"), _seconds(claims, "exp")
        self._check_times(issued, expires, _optional_seconds(claims, "nbf"), now_ms // 1000)
        _check_scope(claims.get(self._rules.scope_claim))
        principal = claims.get(self._rules.principal_claim)
        if not isinstance(principal, str) or not (name := trim(principal)):
            raise InvalidToken(f"no text in the claim {self._rules.principal_claim}")
        if issued < 0 or expires < 0:
            raise InvalidToken("a time before 1970")
        return BearerToken(without_surrogates(name), expires * 1000)

    def _verified_claims(self, token: str) -> Claims:
        """Return the claims of a token whose signature is valid. Raises InvalidToken."""
        parts = token.split(".")
        if len(parts) != _PARTS or not all(parts):
            raise InvalidToken(f"a signed token has {_PARTS} parts, none of them empty")
        header = _read_object(parts[0])
        algorithm, key_id = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or not isinstance(key_id, str | None):
            raise InvalidToken("a header without an algorithm, or with a key id that is no text")
        if header.get("crit") not in (None, []) or equals_ignore_case(str(header.get("cty", "")), _NESTED):
            raise InvalidToken("a header with crit, or of a nested token")
        signed, _, _ = token.rpartition(".")
        part = SignedPart(algorithm, key_id, signed.encode(), decode_base64url(parts[2]))
        try:
            self._keys.key_set().verify(part)
        except UnknownKey:
            self._keys.key_is_missing()
            raise
        return _read_object(parts[1])

    def _check_names(self, claims: Claims) -> None:
        for name in _TEXT_CLAIMS:
            if not isinstance(claims.get(name), str | None):
                raise InvalidToken(f"the claim {name} is no text")
        if self._rules.issuer is not None and claims.get("iss") != self._rules.issuer:
            raise InvalidToken(f"the issuer is not {self._rules.issuer}")
        expected, audience = self._rules.audiences, claims.get("aud")
        if expected is None or (audience is None and not expected):
            return
        found = {each for each in _elements(audience) if isinstance(each, str)}
        if not found & expected:
            raise InvalidToken(f"the audience is none of {', '.join(sorted(expected)) or 'those expected'}")

    def _check_times(self, issued: int, expires: int, not_before: int | None, now: int) -> None:
        skew = self._rules.clock_skew_seconds
        if now - skew >= expires:
            raise InvalidToken(f"expired at {expires} s; it is {now} s, with a clock skew of {skew} s")
        if expires < issued:
            raise InvalidToken(f"expires at {expires} s, before its issue at {issued} s")
        if not_before is not None and (expires < not_before or now + skew < not_before):
            raise InvalidToken(f"not valid before {not_before} s; it is {now} s, with a clock skew of {skew} s")


def _read_object(part: str) -> Claims:
    """Return the members of the object in one part. Raises InvalidToken."""
    try:
        value = json.loads(
            decode_utf8(decode_base64url(part)),
            parse_int=_read_int,
            parse_float=read_number,
            parse_constant=refuse_constant,
            object_pairs_hook=_members,
            # Control characters may be in texts.
            strict=False,
        )
    except JSON_ERRORS as error:
        raise InvalidToken("malformed JSON") from error
    if not isinstance(value, dict):
        raise InvalidToken("JSON that is no object")
    return cast("Claims", value)


def _read_int(text: str) -> int:
    # Checks the length, which bounds the time of int().
    read_number(text)
    return int(text)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidToken("a repeated name")
    return members


def _seconds(claims: Claims, name: str) -> int:
    seconds = _optional_seconds(claims, name)
    if seconds is None:
        raise InvalidToken(f"no claim {name}")
    return seconds


def _optional_seconds(claims: Claims, name: str) -> int | None:
    """Return whole seconds, as Java converts a number to a long; None without the claim. Raises InvalidToken.

    An integer that is no long is refused.
    """
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidToken(f"the claim {name} is no number")
    if isinstance(value, int) and abs(value) > _LONG_MAX:
        raise InvalidToken(f"the claim {name} is too large")
    if not isfinite(value):
        return _LONG_MAX if value > 0 else -_LONG_MAX
    return max(-_LONG_MAX, min(_LONG_MAX, int(value)))


def _check_scope(scope: object) -> None:
    """Raise InvalidToken for empty and repeated scopes. A scope of another type than text and list is ignored."""
    seen: set[str] = set()
    for each in _elements(scope):
        if each is not None and not isinstance(each, str):
            raise end_without_response("a scope that is no text")
        text = trim(each or "")
        if not text or text in seen:
            raise InvalidToken("an empty or repeated scope")
        seen.add(text)


def _elements(value: object) -> list[object]:
    if isinstance(value, str):
        return [value]
    return cast("list[object]", value) if isinstance(value, list) else []
