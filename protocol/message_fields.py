"""The values of message fields by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from .primitives import ZERO_UUID


def elements(message: object, list_field: str) -> list[object]:
    """Return the list in a field, not a copy; a new empty list if the field is null."""
    found = cast("list[object] | None", getattr(message, list_field))
    return [] if found is None else found


def text_in(message: object, field: str) -> str:
    """Return the text of a field; "" if it is null or the message has no such field."""
    return cast("str | None", getattr(message, field, None)) or ""


def number_in(message: object, field: str, default: int) -> int:
    """Return the number of a field; default if the message has no such field."""
    return cast(int, getattr(message, field, default))


def topic_id_in(message: object, field: str) -> bytes:
    """Return the topic id of a field; ZERO_UUID (none) if the message has no such field."""
    return cast(bytes, getattr(message, field, ZERO_UUID))


def set_values(message: object, values: Mapping[str, object]) -> None:
    """Set the fields of a message, by name."""
    for name, value in values.items():
        setattr(message, name, value)
