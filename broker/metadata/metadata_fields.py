"""Decodes the fields of the metadata file.

A decoder takes a JSON value and its place in the file, and raises CorruptFileError, which names the place, for a value
that is unexpected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from ...storage.corrupt_file import CorruptFileError

METADATA_FILE = "cluster-metadata.json"
# The most characters of a wrong value in a message.
SHOWN_MAX = 100

Value = TypeVar("Value")


class Fields:
    """The fields of a JSON object that must have exactly these names."""

    def __init__(self, value: object, place: str, names: tuple[str, ...]) -> None:
        """Raise CorruptFileError for a missing or an unknown field. place: of the object, "" for the whole file."""
        if not isinstance(value, dict):
            raise wrong(place or "the file", value, "an object")
        self._fields = cast(dict[str, object], value)
        self._prefix = f"{place}." if place else ""
        for name in names:
            if name not in self._fields:
                raise CorruptFileError(f"{METADATA_FILE} has no field {self._prefix}{name}")
        for name in self._fields.keys() - set(names):
            raise CorruptFileError(f"{METADATA_FILE} has the unknown field {self._prefix}{name}")

    def decode(self, name: str, decode: Callable[[object, str], Value]) -> Value:
        """Return the decoded value of a field. decode: takes the JSON value and its place for messages."""
        return decode(self._fields[name], f"{self._prefix}{name}")


def items(value: object, place: str) -> list[object]:
    """Return the elements of a list."""
    if not isinstance(value, list):
        raise wrong(place, value, "a list")
    return cast(list[object], value)


def text_not_empty(value: object, place: str) -> str:
    """Return a text of one character or more."""
    if not isinstance(value, str) or not value:
        raise wrong(place, value, "a string that is not empty")
    return value


def any_text(value: object, place: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise wrong(place, value, "a string")
    return value


def integer_up_to(minimum: int, maximum: int) -> Callable[[object, str], int]:
    """Return the decoder of an integer in these bounds."""

    def decode(value: object, place: str) -> int:
        # In Python bool is a subclass of int.
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise wrong(place, value, f"an integer from {minimum} to {maximum}")
        return value

    return decode


def json_object(value: object, place: str) -> Mapping[str, object]:
    """Return an object."""
    if not isinstance(value, dict):
        raise wrong(place, value, "an object")
    return cast(dict[str, object], value)


def wrong(place: str, value: object, expected: str) -> CorruptFileError:
    """Return the error for a value that is unexpected."""
    return CorruptFileError(f"{METADATA_FILE}: {place} is {json.dumps(value)[:SHOWN_MAX]}; expected {expected}")
