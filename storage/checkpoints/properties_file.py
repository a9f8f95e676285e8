"""Parser of Java's properties syntax, the format of Kafka's server.properties.

Comments start with # or !. A key ends at =, : or white space. An odd number of backslashes at the end continues a line.
Escapes are \\t \\n \\r \\f and \\uXXXX; a backslash before any other character stands for that character.
Source: java.util.Properties.load, Java 17.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ... import ConfigError
from ..file_systems.path_problems import find_path_problem

WHITE_SPACE = " \t\f"
LINE_END = re.compile(r"\r\n|\r|\n")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|[\s\S]|$)")
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
# A key: characters up to the first separator without a backslash before it.
KEY = re.compile(r"(?:\\[\s\S]|[^\\=: \t\f])*")
SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
# server.properties has some 150 lines; a larger file is something else.
PROPERTIES_BYTES_MAX = 1024 * 1024


class PropertiesError(ValueError):
    """The file is not in properties syntax."""


def read_properties_file(path: str) -> dict[str, str]:
    """Return the entries of a properties file. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            content = file.read(PROPERTIES_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(find_path_problem(path, error) or f"cannot read {path}: {error.strerror}") from error
    if len(content) > PROPERTIES_BYTES_MAX:
        raise ConfigError(f"{path} has more than {PROPERTIES_BYTES_MAX} bytes; is it a properties file?")
    try:
        # Java reads properties files as Latin-1, in which every byte is a character.
        return parse_properties(content.decode("latin-1"))
    except PropertiesError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse_properties(text: str) -> dict[str, str]:
    """Return the keys and values; the last value of a repeated key counts. Raises PropertiesError."""
    entries: dict[str, str] = {}
    for line in logical_lines(text):
        key = KEY.match(line)
        assert key is not None, "the pattern matches the empty text"
        separator = SEPARATOR.match(line, key.end())
        assert separator is not None, "the pattern matches the empty text"
        entries[unescape(key.group())] = unescape(line[separator.end() :])
    return entries


def logical_lines(text: str) -> Iterator[str]:
    """Yield the lines with an entry, continuation lines joined."""
    pending = ""
    for natural in LINE_END.split(text):
        line = natural.lstrip(WHITE_SPACE)
        if not pending and (not line or line[0] in "#!"):
            continue
        pending += line
        if ends_in_continuation(line):
            pending = pending[:-1]
            # A continued line that is empty so far must not count as a new line.
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
    """Return the character of one escape."""
    escape = match.group(1)
    if escape == "u":
        raise PropertiesError("Malformed \\uxxxx encoding.")
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return ESCAPED.get(escape, escape)


def escaped_value(text: str) -> str:
    """Return text as a properties value in ASCII, with the characters of the syntax escaped."""
    units = memoryview(text.encode("utf-16-be", "surrogatepass"))
    characters = [int.from_bytes(units[position : position + 2], "big") for position in range(0, len(units), 2)]
    return "".join(
        chr(unit) if (" " < chr(unit) < "\x7f" and chr(unit) != "\\") or (unit == 0x20 and index) else f"\\u{unit:04x}"
        for index, unit in enumerate(characters)
    )
