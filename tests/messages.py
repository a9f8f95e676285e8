"""Generated messages, looked at and changed field by field."""

from __future__ import annotations

import copy
from typing import TypeGuard, TypeVar

from fauxka.protocol.message import Message

SomeMessage = TypeVar("SomeMessage", bound=Message)


def is_message_class(value: object) -> TypeGuard[type[Message]]:
    return isinstance(value, type) and issubclass(value, Message)


def replaced(message: SomeMessage, **changes: object) -> SomeMessage:
    """Return a copy of a message with other values in some fields."""
    changed = copy.copy(message)
    for name, value in changes.items():
        assert name in message.__slots__, f"{type(message).__name__} has no {name}"
        setattr(changed, name, value)
    return changed
