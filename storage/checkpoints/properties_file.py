"""Java's properties syntax, in which Kafka's server.properties is written.

Comments with # or !, keys ended by = or : or white space, lines continued by an odd number of backslashes, escapes with
a backslash (\\t \\n \\r \\f, four hexadecimal digits after \\u, any other character for itself).
Source: java.util.Properties.load, Java 17.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WHITE_SPACE = " \t\f"
LINE_END = re.compile(r"\r\n|\r|\n")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|[\s\S]|$)")
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
# A key: characters up to the first separator that no backslash precedes.
KEY = re.compile(r"(?:\\[\s\S]|[^\\=: \t\f])*")
SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
# server.properties has some 150 lines; a file that is larger than this is not one.
PROPERTIES_BYTES_MAX = 1024 * 1024


class PropertiesError(ValueError):
    """A file that is not in properties syntax."""


def parse_properties(text: str) -> dict[str, str]:
    """Return the keys and values of text; of a repeated key the last. Raises PropertiesError."""
    entries: dict[str, str] = {}
    for line in logical_lines(text):
        key = KEY.match(line)
        assert key is not None, "the pattern matches the empty text"
        separator = SEPARATOR.match(line, key.end())
        assert separator is not None, "the pattern matches the empty text"
        entries[unescape(key.group())] = unescape(line[separator.end() :])
    return entries


def logical_lines(text: str) -> Iterator[str]:
    """Yield the lines that hold an entry, with continued ones joined."""
    pending = ""
    for natural in LINE_END.split(text):
        line = natural.lstrip(WHITE_SPACE)
        if not pending and (not line or line[0] in "#!"):
            continue
        pending += line
        if ends_in_continuation(line):
            pending = pending[:-1]
            # A continued line that is empty so far must not be taken for the start of a new one.
            pending = pending or " "
            continue
        yield pending.lstrip(WHITE_SPACE)
        pending = ""
    if pending.strip(WHITE_SPACE):
        yield pending.lstrip(WHITE_SPACE)


def ends_in_continuation(line: str) -> bool:
    """Whether the last backslash of line is not itself escaped."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def unescape(text: str) -> str:
    """Return text with its escapes replaced."""
    return ESCAPE.sub(replacement, text)


def replacement(match: re.Match[str]) -> str:
    """Return what one escape stands for."""
    escape = match.group(1)
    if escape == "u":
        raise PropertiesError("Malformed \\uxxxx encoding.")
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return ESCAPED.get(escape, escape)


def escaped_value(text: str) -> str:
    """Return text as it stands for a value: ASCII, with escapes where a reader would take a character for syntax."""
    units = memoryview(text.encode("utf-16-be", "surrogatepass"))
    characters = [int.from_bytes(units[position : position + 2], "big") for position in range(0, len(units), 2)]
    return "".join(
        chr(unit) if (" " < chr(unit) < "\x7f" and chr(unit) != "\\") or (unit == 0x20 and index) else f"\\u{unit:04x}"
        for index, unit in enumerate(characters)
    )
