"""Headers and signatures of signed tokens, right and wrong."""

from __future__ import annotations

from dataclasses import replace

from ..oauth_tokens import FirstMessage, Jws, base64url
from .claims import RS256, SIGNED, SIGNED_CLAIMS, Claims

_HEADERS: dict[str, tuple[Claims, str]] = {
    "type": ({**RS256, "typ": "at+jwt"}, "first"),
    "type of a number": ({**RS256, "typ": 1}, "first"),
    "content type": ({**RS256, "cty": "JWT"}, "first"),
    "key without an algorithm": ({"alg": "RS256", "kid": "any"}, "any"),
    "RS512": ({"alg": "RS512", "kid": "any"}, "any"),
    "RS512 by a key for RS256": ({"alg": "RS512", "kid": "first"}, "first"),
    "PS256": ({"alg": "PS256", "kid": "any"}, "any"),
    "ES256": ({"alg": "ES256", "kid": "curve"}, "curve"),
    "ES256 by the id of an RSA key": ({"alg": "ES256", "kid": "first"}, "curve"),
    "key for encryption": ({"alg": "RS256", "kid": "encryption"}, "encryption"),
    "unknown key id": ({"alg": "RS256", "kid": "other"}, "first"),
    "key id in capitals": ({"alg": "RS256", "kid": "FIRST"}, "first"),
    "key id of a number": ({"alg": "RS256", "kid": 1}, "first"),
    "key id of null": ({"alg": "RS256", "kid": None}, "first"),
    "key id of a key of no type": ({"alg": "RS256", "kid": "unknown"}, "first"),
    "without a key id": ({"alg": "RS256"}, "first"),
    "without a key id, ES256": ({"alg": "ES256"}, "curve"),
    "key of another id": (RS256, "any"),
    "key that is in no set": (RS256, "stolen"),
    "HS256 by the public key": ({"alg": "HS256", "kid": "first"}, "first"),
    "critical header": ({**RS256, "crit": ["x"], "x": 1}, "first"),
    "payload that is not encoded": ({**RS256, "crit": ["b64"], "b64": False}, "first"),
    "key in the header": ({"alg": "RS256", "jwk": {"kty": "RSA"}}, "first"),
}
_VALID = b'{"sub":"alice","iss":"https://issuer.example","aud":"kafka","iat":1,"exp":4000000000,"scope":"a"}'
_HEADER, _BODY = base64url(b'{"alg":"RS256","kid":"first"}'), base64url(_VALID)
_TEXTS = {
    "one part": _HEADER,
    "two parts": f"{_HEADER}.{_BODY}",
    "four parts": f"{_HEADER}.{_BODY}.x.x",
    "five parts": f"{_HEADER}.x.{_BODY}.x.x",
    "empty signature": f"{_HEADER}.{_BODY}.",
    "short signature": f"{_HEADER}.{_BODY}.x",
    "header not JSON": f"{base64url(b'x')}.{_BODY}.x",
    "header of a list": f"{base64url(b'[]')}.{_BODY}.x",
    "empty header": f".{_BODY}.x",
    "empty claims": f"{_HEADER}..x",
}
_PAYLOADS = {
    "claims not JSON": b"x",
    "claims of a list": b"[]",
    "claims of null": b"null",
    "no claim": b"{}",
    "claims with a repeated claim": _VALID[:-1] + b',"sub":"bob"}',
    "claims with more behind them": _VALID + b"x",
    "claims that are not UTF-8": _VALID.replace(b"alice", b"\xff"),
}
_NONE = {
    "algorithm none": Jws(SIGNED_CLAIMS),
    "algorithm none with a key id": Jws(SIGNED_CLAIMS, {"alg": "none", "kid": "first"}),
    "algorithm none with a signature": Jws(SIGNED_CLAIMS, {"alg": "none", "kid": "first"}, signature="x"),
    "without an algorithm": Jws(SIGNED_CLAIMS, {"kid": "first"}, signature="x"),
    "unknown algorithm": Jws(SIGNED_CLAIMS, {"alg": "XX1", "kid": "first"}, signature="x"),
    "algorithm of a number": Jws(SIGNED_CLAIMS, {"alg": 1, "kid": "first"}, signature="x"),
    "another signature": replace(SIGNED, signature="x" * 342),
}
SIGNATURES: dict[str, Jws | FirstMessage] = {
    **{f"signature: {name}": Jws(SIGNED_CLAIMS, header_of, key) for name, (header_of, key) in _HEADERS.items()},
    **{f"signature: {name}": token for name, token in _NONE.items()},
    **{f"signature: {name}": replace(SIGNED, claims=data) for name, data in _PAYLOADS.items()},
    **{f"signed token: {name}": FirstMessage(text) for name, text in _TEXTS.items()},
}
