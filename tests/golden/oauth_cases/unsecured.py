"""Claims of unsecured tokens, and the options of their validator."""

from __future__ import annotations

from ..oauth_tokens import FirstMessage, Jws
from .claims import ALICE, SPACES, VALID, Claims, without

_CHANGED: dict[str, Claims] = {
    "issued before": {"iat": "now-10"},
    "expiry with a fraction": {"exp": "now+590.5"},
    "expiry of zero": {"exp": 0},
    "negative expiry": {"exp": -1},
    "expired": {"exp": "now-10"},
    "expired now": {"exp": "now"},
    "expiry of a string": {"exp": "4000000000"},
    "expiry of null": {"exp": None},
    "expiry of true": {"exp": True},
    "expiry of a list": {"exp": [1]},
    "expiry of an object": {"exp": {}},
    "issued later": {"iat": "now+60"},
    "issued after the expiry": {"iat": "now+900"},
    "issued at the expiry": {"iat": "now+600"},
    "issued by a string": {"iat": "now "},
    "issued by null": {"iat": None},
    "issued at zero": {"iat": 0},
    "not yet valid": {"nbf": "now+300"},
    "not before of a string": {"nbf": "x"},
    "principal of null": {"sub": None},
    "principal of a number": {"sub": 1},
    "principal of false": {"sub": False},
    "principal of a list": {"sub": ["alice"]},
    "principal of an object": {"sub": {"name": "alice"}},
    "empty principal": {"sub": ""},
    "principal of spaces": {"sub": "  "},
    "principal with spaces": {"sub": " alice "},
    "principal that is not ASCII": {"sub": "ü€😀"},
    "principal with a colon": {"sub": "a:b"},
    "scope of a string": {"scope": "a b"},
    "scope of a list": {"scope": ["a", "b"]},
    "scope of a number": {"scope": 1},
    "scope of an object": {"scope": {}},
    "scope of null": {"scope": None},
    "scope of true": {"scope": True},
    "scope of lists": {"scope": [["a"], 1, None]},
    "principal of a no-break space": {"sub": "\xa0"},
    "principal of a control character": {"sub": "\0"},
    "other claims": {"iss": "x", "aud": ["y"], "jti": "z", "deep": {"a": [1, {"b": 2}]}},
}
_AROUND_THE_PRINCIPAL: dict[str, Jws | FirstMessage] = {
    f"U+{ord(space):04X} around the principal": FirstMessage(
        Jws({**ALICE, "sub": f"{space}alice{space}"}), authorization="a=bob"
    )
    for space in SPACES
}
UNSECURED: dict[str, Jws | FirstMessage] = {
    "valid": VALID,
    **{name: Jws({**ALICE, **claims}) for name, claims in _CHANGED.items()},
    "without a principal": Jws(without(ALICE, "sub")),
    "without an expiry": Jws(without(ALICE, "exp")),
    "without a claim": Jws({}),
    **_AROUND_THE_PRINCIPAL,
}

_USER: Claims = {"user": "alice", "exp": "now+600", "roles": ["write", "read"]}
_CHANGED_OPTIONS: dict[str, Claims] = {
    "all": {},
    "expired within the skew": {"exp": "now-30"},
    "expired": {"exp": "now-90"},
    "issued within the skew": {"iat": "now+30"},
    "issued after the skew": {"iat": "now+90"},
    "without a scope": {"roles": None},
    "scope of a string": {"roles": "read write"},
    "one of two scopes": {"roles": ["read"]},
    "the other scope": {"roles": ["write"]},
    "scopes with spaces": {"roles": [" read ", "write", "", "  "]},
    "scope twice": {"roles": ["read", "read", "write"]},
    "scopes with no-break spaces": {"roles": ["\xa0read", "write"]},
    "scopes with control characters": {"roles": ["\x1fread\0", "write"]},
    "scope of another claim": {"roles": [], "scope": ["read", "write"]},
    "one of two scopes, expired": {"roles": ["read"], "exp": "now-90"},
}
_PRINCIPAL: Claims = {"sub": "alice", "exp": "now+600", "roles": ["write", "read"]}
OPTIONS: dict[str, Jws | FirstMessage] = {
    **{f"options: {name}": Jws({**_USER, **claims}) for name, claims in _CHANGED_OPTIONS.items()},
    "options: principal in another claim": Jws(_PRINCIPAL),
    "options: authorization id": FirstMessage(Jws({**_USER, "sub": "bob"}), authorization="a=bob"),
}
