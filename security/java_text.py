"""Functions of Java for texts that say who a client is, or what a security config means.

Python's str.strip and str.split remove every space of Unicode, and str.isdecimal accepts every digit of Unicode. Java's
String.trim ends at U+0020, and a name with another space around it is another name. tools/identity_text.py checks the
places where such texts are compared; docs/decisions/identity-comparison.md lists them.
Source: java.lang.String and java.net.InetAddress, Java 17; tests/broker/java_text_17.jsonl.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address

# What String.trim removes at both ends.
SPACE = "".join(map(chr, range(0x21)))
# The white space of Java's expressions is that of ASCII.
_COMMA = re.compile(r"\s*,\s*", re.ASCII)
# The three bytes of a surrogate, or the first two: Java replaces them by one character, Python each byte.
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_NO_UTF8 = b"\xff"


def trim(text: str) -> str:
    """Return the text without the characters up to U+0020 at both ends (String.trim)."""
    return text.strip(SPACE)


def is_blank(text: str) -> bool:
    """Return whether trim leaves nothing (Kafka: Utils.isBlank)."""
    return not trim(text)


def split_list(text: str) -> list[str]:
    """Return the elements of a list, without the blank ones (Kafka: ConfigDef.parseType of a LIST)."""
    return [element for element in _COMMA.split(trim(text)) if element]


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
    left, right = _upper_letter(left), _upper_letter(right)
    # Of several letters in lower case the first one is Character.toLowerCase.
    return left == right or left.lower()[0] == right.lower()[0]


def _upper_letter(letter: str) -> str:
    """Return the letter in upper case, itself where that has several letters (Character.toUpperCase)."""
    upper = letter.upper()
    return upper if len(upper) == 1 else letter


def host_address(address: str) -> str:
    """Return an IP address as ACLs have it: eight numbers for IPv6, without "::" (InetAddress.getHostAddress)."""
    if ":" not in address:
        return address
    text, separator, scope = address.partition("%")
    ip = IPv6Address(text)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return ":".join(f"{int(group, 16):x}" for group in ip.exploded.split(":")) + separator + scope


def decode_utf8(data: bytes) -> str:
    """Return the text of UTF-8, with U+FFFD for each malformed part (new String(data, UTF_8))."""
    return _SURROGATE.sub(_NO_UTF8, data).decode(errors="replace")
