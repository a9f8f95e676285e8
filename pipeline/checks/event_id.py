"""The event id of a record: its key, one of its headers, or a field of the JSON in its value."""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as f

from ..bad_option import BadOption

KEY: Final = "key"
_HEADER_PREFIX: Final = "header:"
_JSON_PREFIX: Final = "json:"
# The paths that Spark's get_json_object supports; it returns null for any other path.
_JSON_PATH = re.compile(r"""\$(\.[^.\[\]'"*\s]+|\[\d+\]|\['[^'*]+'\])+""")
# Control characters and invalid UTF-8, which the cast to string replaces by U+FFFD.
_NO_TEXT = "[\\x00-\\x1f\\x7f\ufffd]"
# Matches nearly all ids, and faster than _NO_TEXT.
_PLAIN_TEXT = "^[ -~]*\\z"


def check_event_id(text: str) -> None:
    """Raise BadOption if text is not a valid event id for event_id_column. Does not use Spark."""
    if text.startswith(_JSON_PREFIX):
        path = text.removeprefix(_JSON_PREFIX)
        if _JSON_PATH.fullmatch(path) is None:
            raise BadOption(f"event-id: {path} is not a path like $.order.id, $.items[0] or $['order id']")
    elif text != KEY and (not text.startswith(_HEADER_PREFIX) or text == _HEADER_PREFIX):
        raise BadOption(f"event-id: must be key, header:NAME or json:$.path, not {text}")


def content_read_for(text: str) -> str:
    """Return the column of the records view that event_id_column reads: key, headers or value."""
    if text == KEY:
        return "key"
    return "headers" if text.startswith(_HEADER_PREFIX) else "value"


def event_id_column(text: str, *, is_empty_an_id: bool = False) -> Column:
    """Return the event id as a string column over the records view; null for a record without one.

    text: key, header:NAME (the first header of that name) or json:$.path. Bytes that are not text become 0x and
    hexadecimal digits. is_empty_an_id: an id of no characters is one; otherwise it is null. Raises BadOption.
    """
    found = _content_of(text)
    return found if is_empty_an_id else f.nullif(found, f.lit(""))


def is_empty_id(text: str) -> Column:
    """Return whether the event id of a record is there and has no characters. Raises BadOption."""
    return f.coalesce(_content_of(text) == "", f.lit(False))


def _content_of(text: str) -> Column:
    check_event_id(text)
    if text == KEY:
        return text_of(f.col("key"))
    if text.startswith(_HEADER_PREFIX):
        name = text.removeprefix(_HEADER_PREFIX)
        return text_of(f.get(f.filter(f.col("headers"), lambda header: header["key"] == name), 0)["value"])
    return f.get_json_object(f.col("value").cast("string"), text.removeprefix(_JSON_PREFIX))


def text_of(content: Column) -> Column:
    """Return a binary column as text, or as 0x and hexadecimal digits where the bytes are not text."""
    text = content.cast("string")
    digits = f.concat(f.lit("0x"), f.lower(f.hex(content)))
    return f.when(text.rlike(_PLAIN_TEXT), text).when(text.rlike(_NO_TEXT), digits).otherwise(text)
