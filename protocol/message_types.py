"""Lookup of the generated message classes of an API, imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import cast, get_args, get_type_hints

from . import messages
from .api_keys import Api
from .message import Message


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
    return message_lists(message if isinstance(message, type) else type(message))[list_field]


@cache
def message_lists(owner: type[object]) -> Mapping[str, type[Message]]:
    """Return the class of the elements for each field of a message class that is a list of messages."""
    found: dict[str, type[Message]] = {}
    for name, hint in get_type_hints(owner).items():
        for part in (cast(object, hint), *get_args(hint)):
            for element in get_args(part):
                if isinstance(element, type) and issubclass(element, Message) and len(get_args(part)) == 1:
                    found[name] = element
    return found
