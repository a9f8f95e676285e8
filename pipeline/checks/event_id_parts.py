"""The text of an event id: parts joined by +, each the place of a content in a record. This module does not use Spark.

A part is `key`, or a source and a name joined by a colon. A name with a + in it is in double quotes, where "" stands
for one quote: header:"a+b". A + in the quotes of a JSON path ($['a+b']) needs no others. The name of a field of Avro or
Protobuf is its path; without one an Avro content is itself the field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ..bad_option import BadOption
from ..schemas.field_path import FieldPath, is_field_path
from ..schemas.schema_options import Content, Format

KEY: Final = "key"
HEADER: Final = "header"
JSON: Final = "json"
AVRO: Final = "avro"
AVRO_KEY: Final = "avro-key"
PROTOBUF: Final = "protobuf"
PROTOBUF_KEY: Final = "protobuf-key"
# A column of a table, which a log does not have.
COLUMN: Final = "column"

# The sources that are decoded by a schema, with the content that they read and its format.
_DECODED: Final[dict[str, tuple[Content, Format]]] = {
    AVRO: ("value", "avro"),
    AVRO_KEY: ("key", "avro"),
    PROTOBUF: ("value", "protobuf"),
    PROTOBUF_KEY: ("key", "protobuf"),
}
_CONTENTS: Final = {KEY: "key", HEADER: "headers", JSON: "value"}

# A longer event id is a mistake, and each part is another column.
PARTS_MAX = 8

_SHAPE = "must be key, header:NAME, json:$.path, avro:field or protobuf:field, or several joined by +"
# The paths that Spark's get_json_object supports; it returns null for any other path.
_JSON_PATH = re.compile(r"""\$(\.[^.\[\]'"*\s]+|\[\d+\]|\['[^'*]+'\])+""")
# The text up to the next + that is in no quotes.
_PART = re.compile(r"""(?:[a-z-]+:"(?:[^"]|"")*")?(?:\['[^']*'\]|[^+])*""")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True, slots=True)
class EventIdPart:
    """A part of an event id. source: KEY, HEADER or another one. name: of the header or path; empty for a key."""

    source: str
    name: str = ""

    @property
    def content(self) -> str:
        """The column that the part is in: key, headers or value of the records view, or the column of a table."""
        if self.source == COLUMN:
            return self.name
        return _DECODED[self.source][0] if self.is_decoded else _CONTENTS[self.source]

    @property
    def is_decoded(self) -> bool:
        """Whether the part is a field that a schema describes."""
        return self.source in _DECODED

    @property
    def format(self) -> Format:
        """The format of the content of a decoded part."""
        return _DECODED[self.source][1]

    @property
    def path(self) -> FieldPath:
        """The path of the field of a decoded part."""
        return tuple(self.name.split(".")) if self.name else ()

    @property
    def text(self) -> str:
        """The part as parse_event_id reads it."""
        if not self.name:
            return self.source
        plain = f"{self.source}:{self.name}"
        found = _PART.match(plain)
        is_plain = found is not None and found.end() == len(plain) and not self.name.startswith('"')
        return plain if is_plain else f'{self.source}:"{self.name.replace(chr(34), chr(34) * 2)}"'


def parse_event_id(text: str) -> tuple[EventIdPart, ...]:
    """Return the parts of an event id of a log, at least one. Raises BadOption."""
    parts = parse_row_id(text)
    if any(part.source == COLUMN for part in parts):
        raise BadOption(f"event-id: {_SHAPE}, not {text}")
    return parts


def parse_row_id(text: str) -> tuple[EventIdPart, ...]:
    """Return the parts of an event id of a table, which may also be column:NAME. Raises BadOption."""
    texts = _split(text)
    if len(texts) > PARTS_MAX:
        raise BadOption(f"event-id: has {len(texts)} parts, and at most {PARTS_MAX} are supported")
    return tuple(_parse_part(part, text) for part in texts)


def text_of_parts(parts: tuple[EventIdPart, ...]) -> str:
    """Return the text of an event id; equal parts have equal texts."""
    return "+".join(part.text for part in parts)


def _split(text: str) -> list[str]:
    parts: list[str] = []
    position = 0
    while True:
        found = _PART.match(text, position)
        assert found is not None, "the pattern matches no characters too"
        parts.append(found.group())
        if found.end() == len(text):
            return parts
        position = found.end() + 1


def _parse_part(part: str, text: str) -> EventIdPart:
    if part in (KEY, AVRO, AVRO_KEY):
        return EventIdPart(part)
    source, _, name = part.partition(":")
    if name.startswith('"'):
        if _QUOTED.fullmatch(name) is None:
            raise BadOption(f"event-id: the quotes of {part} must enclose the whole name")
        name = name[1:-1].replace('""', '"')
    if source not in (HEADER, JSON, COLUMN, *_DECODED) or not name:
        raise BadOption(f"event-id: {_SHAPE}, not {text}")
    if source in _DECODED and not is_field_path(name):
        raise BadOption(f"event-id: {name} is not a field like id or order.id")
    if source == JSON and _JSON_PATH.fullmatch(name) is None:
        raise BadOption(f"event-id: {name} is not a path like $.order.id, $.items[0] or $['order id']")
    return EventIdPart(source, name)
