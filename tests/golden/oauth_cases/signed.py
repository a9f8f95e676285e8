"""Claims of signed tokens."""

from __future__ import annotations

from dataclasses import replace

from ..oauth_brokers import AUDIENCES
from ..oauth_tokens import SEPARATOR, FirstMessage, Jws
from .claims import RS256, SIGNED, SIGNED_CLAIMS, SPACES, Claims, without

_CHANGED: dict[str, Claims] = {
    "other audience": {"aud": AUDIENCES[1]},
    "list of audiences": {"aud": ["other", AUDIENCES[1]]},
    "wrong audience": {"aud": "other"},
    "wrong audiences": {"aud": ["other", "another"]},
    "empty list of audiences": {"aud": []},
    "audience of a number": {"aud": 1},
    "audience of null": {"aud": None},
    "wrong issuer": {"iss": "https://other.example"},
    "issuer of a number": {"iss": 1},
    "issuer of null": {"iss": None},
    "expired": {"exp": "now-60", "iat": "now-90"},
    "expired within the skew": {"exp": "now-10", "iat": "now-90"},
    "expiry with a fraction": {"exp": "now+590.5"},
    "expiry of a string": {"exp": "4000000000"},
    "expiry of null": {"exp": None},
    "negative expiry": {"exp": -5, "iat": -10},
    "expiry far away": {"exp": 99_999_999_999},
    "issued later": {"iat": "now+300"},
    "issued after the expiry": {"iat": "now+900"},
    "issued at the expiry": {"iat": "now+600"},
    "issued with a fraction": {"iat": "now-10.5"},
    "issued by a string": {"iat": "1"},
    "issued by null": {"iat": None},
    "issued before the epoch": {"iat": -1},
    "not yet valid": {"nbf": "now+300"},
    "not yet valid within the skew": {"nbf": "now+10"},
    "not before of a string": {"nbf": "1"},
    "not before after the expiry": {"nbf": "now+900"},
    "principal of a number": {"sub": 1},
    "principal of null": {"sub": None},
    "principal of a list": {"sub": ["alice"]},
    "empty principal": {"sub": ""},
    "principal of spaces": {"sub": "  "},
    "principal with spaces": {"sub": " alice "},
    "principal that is not ASCII": {"sub": "ü€😀"},
    "scope of several words": {"scope": "a b"},
    "scope with spaces": {"scope": " a "},
    "empty scope": {"scope": ""},
    "scope of spaces": {"scope": "  "},
    "scope of a list": {"scope": ["a", "b"]},
    "scope of an empty list": {"scope": []},
    "scope twice": {"scope": ["a", "a"]},
    "scope twice but for spaces": {"scope": ["a", " a "]},
    "scope with an empty element": {"scope": ["a", ""]},
    "scope with a number": {"scope": ["a", 1]},
    "scope with null": {"scope": ["a", None]},
    "scope of a number": {"scope": 1},
    "scope of an object": {"scope": {"a": "b"}},
    "scope of null": {"scope": None},
    "jti of a number": {"jti": 1},
    "principal of a no-break space": {"sub": "\xa0"},
    "principal of a control character": {"sub": "\0"},
    "scope of a no-break space": {"scope": "\xa0"},
    "scope twice but for a no-break space": {"scope": ["a", "\xa0a"]},
    "scope twice but for a control character": {"scope": ["a", "\0a"]},
}
# The error for another authorization id has the principal of the token.
_OTHER_USER = "a=bob"
_AROUND_THE_PRINCIPAL: dict[str, Jws | FirstMessage] = {
    f"signed: U+{ord(space):04X} around the principal": FirstMessage(
        replace(SIGNED, claims={**SIGNED_CLAIMS, "sub": f"{space}alice{space}"}), authorization=_OTHER_USER
    )
    for space in SPACES
}
SIGNED_TOKENS: dict[str, Jws | FirstMessage] = {
    "signed": SIGNED,
    **{f"signed: {name}": replace(SIGNED, claims={**SIGNED_CLAIMS, **claims}) for name, claims in _CHANGED.items()},
    **{f"signed: without {name}": replace(SIGNED, claims=without(SIGNED_CLAIMS, name)) for name in SIGNED_CLAIMS},
    "signed: authorization id": FirstMessage(SIGNED, authorization="a=alice"),
    "signed: authorization id of another user": FirstMessage(SIGNED, authorization="a=bob"),
    **_AROUND_THE_PRINCIPAL,
    "signed: extension": FirstMessage(SIGNED, extensions=f"logicalCluster=lkc-1{SEPARATOR}"),
}

_CLAIMS: Claims = {"client_id": "alice", "iat": "now-1", "exp": "now+600", "scp": ["a"]}
OTHER_NAMES: dict[str, Jws | FirstMessage] = {
    "claims: all": replace(SIGNED, claims=_CLAIMS),
    "claims: audience": replace(SIGNED, claims={**_CLAIMS, "aud": "kafka"}),
    "claims: issuer": replace(SIGNED, claims={**_CLAIMS, "iss": "https://other.example"}),
    "claims: issuer of a number": replace(SIGNED, claims={**_CLAIMS, "iss": 1}),
    "claims: principal in sub": replace(SIGNED, claims={**without(_CLAIMS, "client_id"), "sub": "alice"}),
    "claims: sub of a number": replace(SIGNED, claims={**_CLAIMS, "sub": 1}),
    "claims: scope in scope": replace(SIGNED, claims={**without(_CLAIMS, "scp"), "scope": ["a"]}),
    "claims: principal of a number": replace(SIGNED, claims={**_CLAIMS, "client_id": 1}),
    "claims: principal of a list": replace(SIGNED, claims={**_CLAIMS, "client_id": ["alice"]}),
}

_CLAIMS_OF_ANYBODY: Claims = {"sub": "alice", "iat": "now-1", "exp": "now+600", "scope": "a"}
WITHOUT_IDS: dict[str, Jws | FirstMessage] = {
    "no skew: valid": Jws(_CLAIMS_OF_ANYBODY, {"alg": "RS256"}, "first"),
    "no skew: second key": Jws(_CLAIMS_OF_ANYBODY, {"alg": "RS256"}, "any"),
    "no skew: only key of its type": Jws(_CLAIMS_OF_ANYBODY, {"alg": "ES256"}, "curve"),
    "no skew: key id": Jws(_CLAIMS_OF_ANYBODY, RS256, "first"),
    "no skew: expired": Jws({**_CLAIMS_OF_ANYBODY, "iat": "now-9", "exp": "now-5"}, {"alg": "RS256"}, "first"),
    "no skew: expired now": Jws({**_CLAIMS_OF_ANYBODY, "exp": "now"}, {"alg": "RS256"}, "first"),
    "no skew: not yet valid": Jws({**_CLAIMS_OF_ANYBODY, "nbf": "now+20"}, {"alg": "RS256"}, "first"),
}
