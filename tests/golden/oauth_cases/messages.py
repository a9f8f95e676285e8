"""First messages: all but a few of MESSAGES have a valid token, those of RAW are bytes."""

from __future__ import annotations

from dataclasses import replace

from ..oauth_tokens import SEPARATOR, FirstMessage, Jws
from .claims import ALICE, EXPIRED, VALID

_FIRST = FirstMessage(VALID)
MESSAGES = {
    "bearer in lower case": replace(_FIRST, scheme="bearer "),
    "bearer in capitals": replace(_FIRST, scheme="BEARER "),
    "two spaces": replace(_FIRST, scheme="Bearer  "),
    "no space": replace(_FIRST, scheme="Bearer"),
    "tab in place of the space": replace(_FIRST, scheme="Bearer\t"),
    "space before the scheme": replace(_FIRST, scheme=" Bearer "),
    "no scheme": replace(_FIRST, scheme=""),
    "another scheme": replace(_FIRST, scheme="Basic "),
    "space behind the token": replace(_FIRST, token=replace(VALID, ends_with=" ")),
    "padding behind the token": replace(_FIRST, token=replace(VALID, ends_with="=")),
    "slash in the token": replace(_FIRST, token=replace(VALID, ends_with="/")),
    "authorization id of the principal": replace(_FIRST, authorization="a=alice"),
    "authorization id of another user": replace(_FIRST, authorization="a=bob"),
    "authorization id of another user, expired": FirstMessage(EXPIRED, authorization="a=bob"),
    "empty authorization id": replace(_FIRST, authorization="a="),
    "escaped authorization id": FirstMessage(Jws({**ALICE, "sub": "a,b"}), authorization="a=a=2Cb"),
    "authorization id without a name": replace(_FIRST, authorization="alice"),
    "channel binding that the client supports": replace(_FIRST, header="y"),
    "channel binding": replace(_FIRST, header="p=tls-unique"),
    "header in capitals": replace(_FIRST, header="N"),
    "extension": replace(_FIRST, extensions=f"logicalCluster=lkc-1{SEPARATOR}"),
    "two extensions": replace(_FIRST, extensions=f"a=b{SEPARATOR}c=d{SEPARATOR}"),
    "extension twice": replace(_FIRST, extensions=f"a=b{SEPARATOR}a=c{SEPARATOR}"),
    "extension auth": replace(_FIRST, extensions=f"auth=x{SEPARATOR}"),
    "auth twice": replace(_FIRST, extensions=f"auth=Bearer {EXPIRED.text()[:5]}{SEPARATOR}"),
    "extension with a digit": replace(_FIRST, extensions=f"a1=b{SEPARATOR}"),
    "extension with an underscore": replace(_FIRST, extensions=f"a_b=c{SEPARATOR}"),
    "extension with an equals sign": replace(_FIRST, extensions=f"a=b=c{SEPARATOR}"),
    "extension without a value": replace(_FIRST, extensions=f"a={SEPARATOR}"),
    "extension without an equals sign": replace(_FIRST, extensions=f"a{SEPARATOR}"),
    "extension with white space": replace(_FIRST, extensions=f"a=b \t\r\nc{SEPARATOR}"),
    "extension of white space": replace(_FIRST, extensions=f"a= {SEPARATOR}"),
    "extension that is not ASCII": replace(_FIRST, extensions=f"a=ü{SEPARATOR}"),
    "extension without its end": replace(_FIRST, extensions="a=b"),
    "extension CREDENTIAL": replace(_FIRST, extensions=f"CREDENTIAL=x{SEPARATOR}"),
    "empty token": replace(_FIRST, token=""),
}
RAW: dict[str, bytes] = {
    "empty": b"",
    "acknowledgement": SEPARATOR.encode(),
    "two acknowledgements": SEPARATOR.encode() * 2,
    "header only": b"n,,",
    "without auth": b"n,,\x01\x01",
    "extension in place of auth": b"n,,\x01a=b\x01\x01",
    "without the last separator": b"n,,\x01auth=Bearer x.y.\x01",
    "with more behind it": b"n,,\x01auth=Bearer x.y.\x01\x01x",
    "with commas in place of separators": b"n,,auth=Bearer x.y.",
    "of PLAIN": b"\0alice\0secret",
    "not UTF-8": b"n,,\x01auth=Bearer \xff\x01\x01",
    "with a zero byte": b"n,,\x01auth=Bearer x\0\x01\x01",
    "AUTH in capitals": b"n,,\x01AUTH=Bearer x.y.\x01\x01",
}
