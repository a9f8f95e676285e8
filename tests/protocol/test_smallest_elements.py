"""Arrays of the smallest elements are read: no count that the bytes have room for is rejected."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from types import UnionType
from typing import Any, cast, get_args, get_origin

from fauxka.protocol.message import Message
from fauxka.protocol.primitives import ZERO_UUID

from ..each_case import each_case
from ..messages import is_message_class
from .message_catalog import MESSAGE_VERSIONS, MessageVersion

# An element_bytes_min that is one byte too large expects this many bytes more, which is more than follows any array.
ELEMENT_COUNT = 300


def with_one_full_array(message_class: type[Any]) -> Iterator[Message]:
    """Yield default messages, each with many default elements in one array, also in nested arrays."""
    types = typing.get_type_hints(message_class)
    for name in message_class.__slots__:
        element_class = class_of_elements(types[name])
        if element_class is None:
            continue
        smallest = ZERO_UUID if element_class is bytes else element_class()
        yield message_class(**{name: [smallest] * ELEMENT_COUNT})
        if is_message_class(element_class):
            for element in with_one_full_array(element_class):
                yield message_class(**{name: [element]})


def class_of_elements(annotation: object) -> type[Any] | None:
    if get_origin(annotation) is UnionType:
        annotation = get_args(annotation)[0]
    return cast("type[Any]", get_args(annotation)[0]) if get_origin(annotation) is list else None


@each_case(MESSAGE_VERSIONS)
def test_array_of_smallest_elements_is_read(message_version: MessageVersion) -> None:
    for message in with_one_full_array(message_version.message_class):
        # Fields that the version does not have are not written.
        message_version.decoded(message_version.encoded(message))
