"""The event id of a record: its key, one of its headers, a field of its value, or several of them.

An event id of several parts is a JSON array of their texts, such as ["order-7","2026"], so that ("a", "bc") and
("ab", "c") differ. A record without one of the parts has no event id.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as f

from .decoded_fields import DECODED, PROBLEM, name_of
from .event_id_parts import COLUMN, HEADER, KEY, EventIdPart, parse_event_id, parse_row_id

# Control characters and invalid UTF-8, which the cast to string replaces by U+FFFD.
_NO_TEXT = "[\\x00-\\x1f\\x7f\ufffd]"
# Matches nearly all ids, and faster than _NO_TEXT.
_PLAIN_TEXT = "^[ -~]*\\z"


def contents_read_for(text: str) -> frozenset[str]:
    """Return the columns of the records view that the event id is read from: of key, headers and value."""
    return frozenset(part.content for part in parse_event_id(text))


def event_id_column(text: str, *, is_empty_an_id: bool = False) -> Column:
    """Return the event id as a string column over the records view; null for a record without one.

    text: see event_id_parts; of a header the first of that name counts. Bytes that are not text become 0x and
    hexadecimal digits. Fields of Avro and Protobuf need the column of with_decoded_fields. is_empty_an_id: a content of
    no characters is one; otherwise it is null. Raises BadOption.
    """
    return _id_of(_contents_of(parse_event_id(text)), is_empty_an_id=is_empty_an_id)


def row_id_column(text: str, *, is_empty_an_id: bool = False, binary: frozenset[str] = frozenset()) -> Column:
    """Return the same over the rows of a table, where a part can be column:NAME. Raises BadOption.

    binary: the names of such columns whose type is binary.
    """
    contents = [
        text_of(f.col(part.name)) if part.source == COLUMN and part.name in binary else _content_of(part, index)
        for index, part in enumerate(parse_row_id(text))
    ]
    return _id_of(contents, is_empty_an_id=is_empty_an_id)


def _id_of(contents: Sequence[Column], *, is_empty_an_id: bool) -> Column:
    found = contents if is_empty_an_id else [f.nullif(content, f.lit("")) for content in contents]
    return found[0] if len(found) == 1 else f.when(_has_all(found), f.to_json(f.array(*found)))


def is_empty_id(text: str) -> Column:
    """Return whether a record has each part of the event id, and one of them no characters. Raises BadOption."""
    contents = _contents_of(parse_event_id(text))
    is_empty = reduce(Column.__or__, [content == "" for content in contents])
    return f.coalesce(_has_all(contents) & is_empty, f.lit(False))


def decode_problem(text: str) -> Column:
    """Return why a content with a part of the event id cannot be decoded; null if there is no such problem."""
    has_decoded = any(part.is_decoded for part in parse_row_id(text))
    return f.col(f"{DECODED}.{PROBLEM}") if has_decoded else f.lit(None).cast("string")


def _contents_of(parts: Sequence[EventIdPart]) -> list[Column]:
    return [_content_of(part, index) for index, part in enumerate(parts)]


def _has_all(contents: Sequence[Column]) -> Column:
    return reduce(Column.__and__, [content.isNotNull() for content in contents])


def _content_of(part: EventIdPart, index: int) -> Column:
    if part.is_decoded:
        return f.col(f"{DECODED}.{name_of(index)}")
    if part.source == COLUMN:
        return f.col(part.name).cast("string")
    if part.source == KEY:
        return text_of(f.col("key"))
    if part.source == HEADER:
        return text_of(f.get(f.filter(f.col("headers"), lambda header: header["key"] == part.name), 0)["value"])
    return f.get_json_object(f.col("value").cast("string"), part.name)


def text_of(content: Column) -> Column:
    """Return a binary column as text, or as 0x and hexadecimal digits where the bytes are not text."""
    text = content.cast("string")
    digits = f.concat(f.lit("0x"), f.lower(f.hex(content)))
    return f.when(text.rlike(_PLAIN_TEXT), text).when(text.rlike(_NO_TEXT), digits).otherwise(text)
