"""What tells events apart: the key of a record, one of its headers, or a field of the JSON in its value."""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as f

from .bad_option import BadOption

KEY: Final = "key"
_HEADER_PREFIX: Final = "header:"
_JSON_PREFIX: Final = "json:"
# Names and numbers of elements, as Spark's get_json_object reads them; it has null for a path that it cannot read.
_JSON_PATH = re.compile(r"""\$(\.[^.\[\]'"*\s]+|\[\d+\]|\['[^'*]+'\])+""")
# What would be no text on a terminal, or is no text at all: bytes that are no UTF-8 become U+FFFD in the match.
_NO_TEXT = "[\\x00-\\x1f\\x7f\ufffd]"
# What nearly all ids are, and sooner told.
_PLAIN_TEXT = "^[ -~]*\\z"


def check_event_id(text: str) -> None:
    """Raise BadOption if event_id_column would; without Spark."""
    if text.startswith(_JSON_PREFIX):
        path = text.removeprefix(_JSON_PREFIX)
        if _JSON_PATH.fullmatch(path) is None:
            raise BadOption(f"event-id: {path} is no path like $.order.id, $.items[0] or $['order id']")
    elif text != KEY and (not text.startswith(_HEADER_PREFIX) or text == _HEADER_PREFIX):
        raise BadOption(f"event-id: key, header:NAME or json:$.path, not {text}")


def content_read_for(text: str) -> str:
    """Return the column of the records view that event_id_column reads: key, headers or value."""
    if text == KEY:
        return "key"
    return "headers" if text.startswith(_HEADER_PREFIX) else "value"


def event_id_column(text: str) -> Column:
    """Return the column of the records view's rows that text names: key, header:NAME or json:$.path.

    A string; bytes that are no text are written as 0x and hexadecimal digits. It is null where a record has none.
    Of several headers of a name the first counts. Raises BadOption.
    """
    check_event_id(text)
    if text == KEY:
        return text_of(f.col("key"))
    if text.startswith(_HEADER_PREFIX):
        return text_of(_header(text.removeprefix(_HEADER_PREFIX)))
    return f.get_json_object(f.col("value").cast("string"), text.removeprefix(_JSON_PREFIX))


def text_of(content: Column) -> Column:
    """Return a binary column as text; what is none as 0x and hexadecimal digits."""
    text = content.cast("string")
    digits = f.concat(f.lit("0x"), f.lower(f.hex(content)))
    return f.when(text.rlike(_PLAIN_TEXT), text).when(text.rlike(_NO_TEXT), digits).otherwise(text)


def _header(name: str) -> Column:
    """Return the value of the first header of that name."""
    headers = f.col("headers")
    return f.get(f.filter(headers, lambda header: header["key"] == name), 0)["value"]
