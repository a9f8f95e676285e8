"""What identifies an event in a topic: the value of its record, its key, or a header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import BadHuntOption

if TYPE_CHECKING:
    from ...broker.replica.record_reader import StoredRecord

VALUE, KEY, HEADER_PREFIX = "value", "key", "header:"
ALLOWED = "value, key or header:NAME"


def check_event_id(text: object, name: str = "--event-id") -> str:
    """Return text if it is an event id. Raises BadHuntOption with the name."""
    is_header = isinstance(text, str) and text.startswith(HEADER_PREFIX) and text != HEADER_PREFIX
    if not isinstance(text, str) or not (is_header or text in (VALUE, KEY)):
        raise BadHuntOption(f"{name}: {text!r} is no event id; allowed: {ALLOWED}")
    return text


def event_of(record: StoredRecord, event_id: str) -> bytes | None:
    """Return the event id of a record; None if it has none."""
    if event_id == VALUE:
        return record.value
    if event_id == KEY:
        return record.key
    name = event_id.removeprefix(HEADER_PREFIX)
    values = [value for header, value in record.headers if header == name]
    return values[-1] if values else None
