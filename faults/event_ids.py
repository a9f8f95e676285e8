"""What identifies an event, as a test names it: the value of its record, its key, a header, or a field of its JSON.

- `value`, `key`.
- `header:NAME`: the first header of that name.
- `json:PATH`: a field of the value, such as order.id, items[0].id or ['order id'], also after $. as in JSONPath. A text
  is an id by its characters and a number by its digits as they are sent; an object or a list by its JSON.
Records with the same id are the same event. A record without the content, or with null there, has no id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Protocol, cast

VALUE, KEY = "value", "key"
_HEADER, _JSON = "header", "json"
ALLOWED = "value, key, header:NAME or json:PATH"
# To find the probable meaning of another one.
SHAPES = (VALUE, KEY, f"{_HEADER}:NAME", f"{_JSON}:PATH")

_STEP = re.compile(r"""\.?(?P<name>[^.\[\]'"*\s]+)|\[(?P<index>\d{1,9})\]|\['(?P<quoted>[^']+)'\]""")
_ROOT = re.compile(r"\$(?=[.\[])")


class IdentifiedRecord(Protocol):
    """A record of a log."""

    @property
    def key(self) -> bytes | None:
        """The key; None for null."""
        ...

    @property
    def value(self) -> bytes | None:
        """The value; None for null."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        """Names and values."""
        ...


# Returns the event id of a record; None if it has none.
EventIdOf = Callable[[IdentifiedRecord], bytes | None]


def find_event_id(text: str) -> EventIdOf | None:
    """Return what reads the event id of this text from a record; None for a text of no known shape."""
    if text == VALUE:
        return lambda record: record.value
    if text == KEY:
        return record_key
    source, _, name = text.partition(":")
    if source == _HEADER and name:
        return lambda record: next((value for header, value in record.headers if header == name), None)
    path = _parse_path(name) if source == _JSON else None
    return None if path is None else lambda record: _find_field(record.value, path)


def record_key(record: IdentifiedRecord) -> bytes | None:
    """Return the key of a record."""
    return record.key


def _parse_path(text: str) -> Sequence[str | int] | None:
    """Return the steps of a path, at least one; None if it is no path."""
    root = _ROOT.match(text)
    position = 0 if root is None else root.end()
    steps: list[str | int] = []
    while step := _STEP.match(text, position):
        # Only the first name, without a $ before it, has no dot.
        if step["name"] is not None and (step.group()[0] == ".") != bool(position):
            return None
        steps.append(int(step["index"]) if step["index"] is not None else step["name"] or step["quoted"])
        position = step.end()
    return steps if steps and position == len(text) else None


def _find_field(value: bytes | None, path: Sequence[str | int]) -> bytes | None:
    if value is None:
        return None
    try:
        found = cast("object", json.loads(value, parse_int=str, parse_float=str))
    except (ValueError, RecursionError):
        return None
    for step in path:
        if isinstance(step, str) and isinstance(found, dict):
            found = cast("dict[str, object]", found).get(step)
        elif isinstance(step, int) and isinstance(found, list):
            found = next(iter(cast("list[object]", found)[step : step + 1]), None)
        else:
            return None
    if found is None:
        return None
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, sort_keys=True)
    return text.encode(errors="surrogatepass")
