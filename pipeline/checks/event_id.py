"""The event id of a record: its key, one of its headers, a field of the JSON in its value, or several of them.

An event id of several parts is a JSON array of their texts, such as ["order-7","2026"], so that ("a", "bc") and
("ab", "c") differ. A record without one of the parts has no event id.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as f

from .event_id_parts import HEADER, KEY, EventIdPart, parse_event_id

# Control characters and invalid UTF-8, which the cast to string replaces by U+FFFD.
_NO_TEXT = "[\\x00-\\x1f\\x7f\ufffd]"
# Matches nearly all ids, and faster than _NO_TEXT.
_PLAIN_TEXT = "^[ -~]*\\z"


def contents_read_for(text: str) -> frozenset[str]:
    """Return the columns of the records view that event_id_column reads: of key, headers and value."""
    return frozenset(_content_column(part) for part in parse_event_id(text))


def _content_column(part: EventIdPart) -> str:
    if part.source == KEY:
        return "key"
    return "headers" if part.source == HEADER else "value"


def event_id_column(text: str, *, is_empty_an_id: bool = False) -> Column:
    """Return the event id as a string column over the records view; null for a record without one.

    text: see event_id_parts; of a header the first of that name counts. Bytes that are not text become 0x and
    hexadecimal digits. is_empty_an_id: a content of no characters is one; otherwise it is null. Raises BadOption.
    """
    contents = [_content_of(part) for part in parse_event_id(text)]
    found = contents if is_empty_an_id else [f.nullif(content, f.lit("")) for content in contents]
    return found[0] if len(found) == 1 else f.when(_has_all(found), f.to_json(f.array(*found)))


def is_empty_id(text: str) -> Column:
    """Return whether a record has each part of the event id, and one of them no characters. Raises BadOption."""
    contents = [_content_of(part) for part in parse_event_id(text)]
    is_empty = reduce(Column.__or__, [content == "" for content in contents])
    return f.coalesce(_has_all(contents) & is_empty, f.lit(False))


def _has_all(contents: Sequence[Column]) -> Column:
    return reduce(Column.__and__, [content.isNotNull() for content in contents])


def _content_of(part: EventIdPart) -> Column:
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
