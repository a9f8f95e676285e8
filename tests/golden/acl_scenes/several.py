"""One request out of several that are for one topic or group each."""

from typing import TypeVar

from fauxka.protocol.message import Message

from ...messages import replaced

SomeMessage = TypeVar("SomeMessage", bound=Message)


def joined(field: str, first: SomeMessage, *others: SomeMessage) -> SomeMessage:
    """Return the first request with the entries of that field of all requests."""
    return replaced(first, **{field: [entry for request in (first, *others) for entry in getattr(request, field)]})
