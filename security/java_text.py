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
# Java compares UTF-16, and no halves of pairs by their case.
_CHARACTER_MAX = "\uffff"


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


def equals_ignore_case(left: str, right: str) -> bool:
    """Return whether the texts differ in the case of characters only (String.equalsIgnoreCase)."""
    return len(left) == len(right) and all(map(_is_same_letter, left, right))


def _is_same_letter(left: str, right: str) -> bool:
    if left == right:
        return True
    if max(left, right) > _CHARACTER_MAX:
        return False
    left, right = _upper_letter(left), _upper_letter(right)
    return left == right or left.lower() == right.lower()


def _upper_letter(letter: str) -> str:
    """Return the letter in upper case, itself where that has several letters (Character.toUpperCase)."""
    upper = letter.upper()
    return upper if len(upper) == 1 else letter


def decode_utf8(data: bytes) -> str:
    """Return the text of UTF-8, with U+FFFD for each malformed part (new String(data, UTF_8))."""
    return _SURROGATE.sub(_NO_UTF8, data).decode(errors="replace")
