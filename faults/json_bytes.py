"""Bytes in JSON: the convention for keys, header values and all other bytes of records.

- In JSON, a text is the bytes of the text in UTF-8. `{"text": "..."}` is the same, `{"base64": "..."}` is any bytes.
- In Python, a str is the bytes of the text in UTF-8, and bytes are bytes. The two forms of JSON are allowed too.
- Bytes that a response has are a text if they are UTF-8, and otherwise `{"base64": "..."}`: they read back as the same.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

from msgspec import UNSET, Meta, Struct, UnsetType

# The longest string of Kafka's protocol.
TEXT_CHARACTERS_MAX = 32767

Text = Annotated[str, Meta(max_length=TEXT_CHARACTERS_MAX)]


class BytesValue(Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes, given as UTF-8 text or as base64: exactly one of the two."""

    text: Text | UnsetType = UNSET
    base64: bytes | UnsetType = UNSET


# msgspec has no union of str and bytes, because both are strings in JSON. with_bytes_values replaces bytes first.
if TYPE_CHECKING:
    OneBytes: TypeAlias = str | bytes | BytesValue
else:
    OneBytes = Text | BytesValue


def bytes_of(value: OneBytes) -> bytes:
    """Return the bytes of a valid value."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    return value.text.encode() if isinstance(value.text, str) else cast("bytes", value.base64)


def bytes_value_of(value: bytes) -> str | BytesValue:
    """Return bytes as responses have them: a text if they are UTF-8, otherwise a BytesValue of base64."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return BytesValue(base64=value)


def with_bytes_value(value: object) -> object:
    """Return bytes as a BytesValue, and any other value as it is."""
    return BytesValue(base64=value) if isinstance(value, bytes) else value


def as_json(value: object) -> object:
    """Return a value of JSON's types and Python's bytes with `{"base64": "..."}` in place of bytes, at any depth."""
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [as_json(each) for each in cast("list[object]", value)]
    return value
