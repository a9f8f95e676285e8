"""Lookup of the generated message classes of an API, imported on first use, and of field values by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast, get_args, get_type_hints

from . import messages
from .api_keys import Api
from .message import Message
from .primitives import ZERO_UUID


def request_type(api: Api) -> type[Message]:
    """Return the class of the API's requests."""
    return _type_named(api, f"{api.name}Request")


def response_type(api: Api) -> type[Message]:
    """Return the class of the API's responses."""
    return _type_named(api, f"{api.name}Response")


def _type_named(api: Api, name: str) -> type[Message]:
    return cast("type[Message]", getattr(import_module(f"{messages.__name__}.{api.module}"), name))


def element_type(message: object, list_field: str) -> type[Message]:
    """Return the class of the elements of a list field. message: a message or its class."""
    return _element_type_of(message if isinstance(message, type) else type(message), list_field)


@cache
def _element_type_of(owner: type[object], list_field: str) -> type[Message]:
    hint = cast(object, get_type_hints(owner)[list_field])
    (element,) = next(get_args(part) for part in (hint, *get_args(hint)) if len(get_args(part)) == 1)
    return cast("type[Message]", element)


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
