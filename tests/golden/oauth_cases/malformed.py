"""Unsecured tokens that are malformed."""

from __future__ import annotations

from collections.abc import Sequence

from ..case_recorder import Json
from ..oauth_tokens import FirstMessage, Jws, base64url
from .claims import Claims

_CLAIMS = b'{"sub":"alice","exp":4000000000}'
_HEADERS: dict[str, Claims | Sequence[Json] | bytes] = {
    "without an algorithm": {},
    "algorithm of null": {"alg": None},
    "algorithm in capitals": {"alg": "NONE"},
    "algorithm of a number": {"alg": 1},
    "algorithm of a list": {"alg": ["none"]},
    "algorithm RS256": {"alg": "RS256"},
    "with a type": {"alg": "none", "typ": "JWT"},
    "of a list": ["alg"],
    "of a string": b'"alg"',
    "not JSON": b"alg=none",
    "empty": b"",
    "of spaces": b"  ",
}
_PAYLOADS = {
    "of a list": b"[1]",
    "of a number": b"1",
    "of null": b"null",
    "not JSON": b"sub=alice",
    "empty": b"",
    "of spaces": b" ",
    "cut off": _CLAIMS[:-1],
    "with more behind it": _CLAIMS + b" x",
    "with a comma behind it": _CLAIMS + b",",
    "with an object behind it": _CLAIMS + b"{}",
    "with space around it": b" \n" + _CLAIMS + b"\n ",
    "with a repeated claim": b'{"sub":"bob","sub":"alice","exp":4000000000}',
    "that is not UTF-8": b'{"sub":"\xff","exp":4000000000}',
    "with half a surrogate": b'{"sub":"\\ud800","exp":4000000000}',
    "with a control character": b'{"sub":"a\nb","exp":4000000000}',
    "with an escaped control character": b'{"sub":"a\\nb","exp":4000000000}',
    "with single quotes": b"{'sub':'alice','exp':4000000000}",
    "with a comment": b'{"sub":"alice",/* */"exp":4000000000}',
    "with a trailing comma": b'{"sub":"alice","exp":4000000000,}',
    "with NaN": b'{"sub":"alice","exp":NaN}',
    "with Infinity": b'{"sub":"alice","exp":Infinity}',
    "with a leading zero": b'{"sub":"alice","exp":04000000000}',
    "with an exponent": b'{"sub":"alice","exp":4e9}',
    "with a huge exponent": b'{"sub":"alice","exp":1e999}',
    "with a huge number": b'{"sub":"alice","exp":' + b"9" * 40 + b"}",
    "with a thousand digits": b'{"sub":"alice","exp":' + b"9" * 1000 + b"}",
    "with more digits than allowed": b'{"sub":"alice","exp":' + b"9" * 1001 + b"}",
    "with a byte order mark": b"\xef\xbb\xbf" + _CLAIMS,
    "in UTF-16": b'{"sub":"alice","exp":4000000000}'.decode().encode("utf-16-be"),
    "with deep lists": b'{"sub":"alice","exp":4000000000,"x":' + b"[" * 400 + b"]" * 400 + b"}",
    "with lists that are too deep": b'{"sub":"alice","exp":4000000000,"x":' + b"[" * 600 + b"]" * 600 + b"}",
}
_HEADER, _BODY = base64url(b'{"alg":"none"}'), base64url(_CLAIMS)
_TEXTS = {
    "one part": _HEADER,
    "one part with a dot": f"{_HEADER}.",
    "two parts": f"{_HEADER}.{_BODY}",
    "four parts": f"{_HEADER}.{_BODY}.x.x",
    "two dots": f"{_HEADER}..",
    "dots only": "...",
    "one dot": ".",
    "dot first": f".{_HEADER}.{_BODY}.",
    "two dots behind it": f"{_HEADER}.{_BODY}..",
    "signature": f"{_HEADER}.{_BODY}.x",
    "one letter behind the header": f"{_HEADER}A.{_BODY}.",
    "bits behind the claims": f"{_HEADER}.{base64url(_CLAIMS + b' ')[:-1]}B.",
    "one letter": "x",
}
MALFORMED: dict[str, Jws | FirstMessage] = {
    **{f"header {name}": Jws(_CLAIMS, value) for name, value in _HEADERS.items()},
    **{f"claims {name}": Jws(value) for name, value in _PAYLOADS.items()},
    **{f"token: {name}": FirstMessage(text) for name, text in _TEXTS.items()},
}
