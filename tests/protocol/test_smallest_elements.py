"""Frames full of the smallest elements are read: no count is refused that the bytes left have room for."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from types import UnionType
from typing import Any, cast, get_args, get_origin

import pytest

from fauxka.protocol.message import Message
from fauxka.protocol.primitives import ZERO_UUID

from ..messages import is_message_class
from .message_catalog import MESSAGE_VERSIONS, MessageVersion

# A smallest size that is one byte too large asks for as many bytes more than there are, and what stands behind an
# array is shorter than that.
ELEMENT_COUNT = 300


def with_one_full_array(message_class: type[Any]) -> Iterator[Message]:
    """Default messages, each with many default elements in one array, which may lie inside the first of another."""
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


@pytest.mark.parametrize("message_version", MESSAGE_VERSIONS, ids=str)
def test_as_many_smallest_elements_as_fit_are_read(message_version: MessageVersion) -> None:
    for message in with_one_full_array(message_version.message_class):
        # What the version does not have is not written; reading back what was is enough.
        message_version.decoded(message_version.encoded(message))
