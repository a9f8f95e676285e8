"""A request and its response as messages, and how the details read their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ....protocol.api_keys import Api
from ....protocol.apis.fields import TopicNameOf
from ....protocol.error_codes import ErrorCode
from ....protocol.message import Message
from ....protocol.message_fields import number_in, text_in
from ....protocol.shortened_text import shortened


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response. Each is None if the journal does not have it.

    topic_name_of: returns the name of a topic id, None for an unknown one.
    """

    api: Api
    request: Message | None
    response: Message | None
    topic_name_of: TopicNameOf


def number_or_none(message: object, field: str) -> int | None:
    """Return the number of a field; None without the message or the field."""
    return cast("int | None", getattr(message, field, None))


def text_or_none(message: object, field: str) -> str | None:
    """Return the text of a field, shortened if it is long; None without a text."""
    return shortened(text_in(message, field)) or None


def isolation_in(request: object) -> str:
    """Return the isolation level of a request by Kafka's name."""
    return "read_committed" if number_in(request, "isolation_level", 0) else "read_uncommitted"


def error_name_of(error_code: int) -> str | None:
    """Return Kafka's name of an error code, None for 0."""
    if error_code == ErrorCode.NONE:
        return None
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error {error_code}"


def error_in(message: object, field: str = "error_code") -> str | None:
    """Return the name of the error in a field; None for 0, and without the message or the field."""
    return error_name_of(number_in(message, field, ErrorCode.NONE))
