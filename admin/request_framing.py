"""Refuses request heads that another HTTP implementation may read otherwise, so that no request hides in a body.

Rules:
- Lines end with CR LF, and no line continues the one before.
- A request has one Content-Length or one Transfer-Encoding, not both. HTTP/1.0 has no Transfer-Encoding.
- The value of Content-Length is decimal digits, and that of Transfer-Encoding is `chunked`, in lower case.

RFC 9112, sections 2.2, 5.2, 6.1 and 6.3. h11 accepts some of these forms, and gives them one meaning.
"""

from __future__ import annotations

import re

_BARE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_FRAMING_HEADER = re.compile(rb"\r\n(content-length|transfer-encoding)[ \t]*:([^\r]*)", re.IGNORECASE)
_VALUES = {b"content-length": re.compile(rb" *[0-9]+ *"), b"transfer-encoding": re.compile(rb" *chunked *")}


def find_framing_problem(head: bytes) -> str | None:
    """Return what is wrong with a request line and its headers; None for nothing."""
    if _BARE_LINE_END.search(head):
        return "a line must end with CR LF"
    if b"\r\n " in head or b"\r\n\t" in head:
        return "a header must be one line"
    found = [(match[1].lower(), match[2]) for match in _FRAMING_HEADER.finditer(head)]
    if len(found) > 1:
        return "a request must have one Content-Length or one Transfer-Encoding"
    for name, value in found:
        if _VALUES[name].fullmatch(value) is None:
            return f"{name.decode()}: got {value.strip().decode('latin-1')!r}; allowed: decimal digits, or chunked"
        if name == b"transfer-encoding" and b" HTTP/1.0\r\n" in head:
            return "HTTP/1.0 has no Transfer-Encoding"
    return None
