"""Checks of bytes in JSON that its models cannot express."""

from __future__ import annotations

from msgspec import UNSET, to_builtins

from .json_bytes import BytesValue
from .rule_error import InvalidValueError

ALLOWED = 'a text, {"text": "..."} or {"base64": "..."}'


def check_bytes(field: str, value: object, error_type: type[InvalidValueError] = InvalidValueError) -> None:
    """Raise error_type for a text that is not UTF-8, and for a BytesValue with both or none of its fields."""
    if isinstance(value, BytesValue):
        if (value.text is UNSET) == (value.base64 is UNSET):
            given = "has neither text nor base64" if value.text is UNSET else "has both text and base64"
            raise error_type(field, to_builtins(value), ALLOWED, f"{field} {given}; allowed: {ALLOWED}")
        field, value = f"{field}.text", value.text
    if isinstance(value, str) and not _is_utf8(value):
        raise error_type(field, ascii(value), "a text in UTF-8", f"{field} cannot be {value!a}: not UTF-8 text")


def _is_utf8(text: str) -> bool:
    """Return whether a str of Python has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
