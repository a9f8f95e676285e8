"""Requests of the matrix as data, and the messages that they become."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import TypeAlias, cast, get_args, get_origin, get_type_hints

from fauxka.protocol.api_keys import APIS
from fauxka.protocol.message import Message
from fauxka.protocol.primitives import ZERO_UUID

from ..acl_scene import MISSING_ID

# A field: as in the JSON of a message. The topic id of a topic is its name.
Field: TypeAlias = "str | int | float | bool | bytes | list[Field] | dict[str, Field] | None"
TOPIC_ID = "topic_id"


@dataclass(frozen=True)
class Request:
    """One request. title: behind the name of the API, if it has more than one. versions: any may be drawn."""

    api: str
    title: str
    versions: tuple[int, ...]
    fields: Mapping[str, Field]

    def name(self, version: int) -> str:
        """Return the name of its line in the golden file."""
        return f"{self.api} v{version} {self.title}".strip()

    def message(self, topic_ids: Mapping[str, bytes]) -> Message:
        """Return the message. topic_ids: by the name of the topic."""
        return _message(_request_class(self.api), self.fields, topic_ids)


def requests_of(api: str, versions: tuple[int, ...], **titled: Mapping[str, Field]) -> list[Request]:
    """Return a request for each title. Underscores in a title stand for spaces; "only" for none."""
    return [
        Request(api, "" if title == "only" else title.replace("_", " "), versions, fields)
        for title, fields in titled.items()
    ]


@cache
def _request_class(api: str) -> type[Message]:
    module = next(each.module for each in APIS.values() if each.name == api)
    found: type[Message] = getattr(importlib.import_module(f"fauxka.protocol.messages.{module}"), f"{api}Request")
    return found


@cache
def _hints(module: str, name: str) -> dict[str, object]:
    """Return the types of the fields of a message class."""
    return get_type_hints(getattr(importlib.import_module(module), name))


def _message(message_class: type[Message], fields: Mapping[str, Field], topic_ids: Mapping[str, bytes]) -> Message:
    hints = _hints(message_class.__module__, message_class.__name__)
    values = {name: _value(name, hints[name], field, topic_ids) for name, field in fields.items()}
    return message_class(**values)


def _value(name: str, hint: object, field: Field, topic_ids: Mapping[str, bytes]) -> object:
    if name == TOPIC_ID and isinstance(field, str):
        return topic_ids.get(field, MISSING_ID) if field else ZERO_UUID
    if isinstance(field, list):
        (element,) = get_args(_without_none(hint))
        return [_value(name, element, each, topic_ids) for each in field]
    if isinstance(field, dict):
        return _message(cast("type[Message]", _without_none(hint)), field, topic_ids)
    return field


def _without_none(hint: object) -> object:
    if get_origin(hint) is UnionType:
        return next(each for each in get_args(hint) if each is not type(None))
    return hint
