"""Functions of Java for texts that say who a client is, or what a security config means.

Python's str.strip and str.split remove every space of Unicode, and str.isdecimal accepts every digit of Unicode. Java's
String.trim ends at U+0020, and a name with another space around it is another name.
Source: java.lang.String, Java 17.
"""

from __future__ import annotations

import re

# What String.trim removes at both ends.
SPACE = "".join(map(chr, range(0x21)))
# The three bytes of a surrogate, or the first two: Java replaces them by one character, Python each byte.
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_NO_UTF8 = b"\xff"


def trim(text: str) -> str:
    """Return the text without the characters up to U+0020 at both ends (String.trim)."""
    return text.strip(SPACE)


def is_blank(text: str) -> bool:
    """Return whether trim leaves nothing (Kafka: Utils.isBlank)."""
    return not trim(text)


def split_trimmed(text: str, separator: str) -> list[str]:
    """Return the trimmed parts between separators, without the blank ones."""
    return [trimmed for part in text.split(separator) if (trimmed := trim(part))]


def is_decimal(text: str) -> bool:
    """Return whether the text is one or more of the digits 0 to 9."""
    return text.isascii() and text.isdecimal()


def decode_utf8(data: bytes) -> str:
    """Return the text of UTF-8, with U+FFFD for each malformed part (new String(data, UTF_8))."""
    return _SURROGATE.sub(_NO_UTF8, data).decode(errors="replace")
