"""The SASL sessions of a broker's clients: list, end and expire them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from ...faults.strict_json import convert
from ..operations import session_operations
from ..operations.session_operations import Session, SessionMatch, SessionQuery
from .base import Methods

# Within the class, `list` is the method.
SessionItems = list[Session]


class SessionValues(TypedDict, total=False):
    """The values that the fields of a session may have. A field that is missing here may have any."""

    principal: str
    mechanism: str
    listener: str
    node: int
    connection: int


class Sessions(Methods):
    """The SASL sessions of the clients. Raises InvalidValueError for a wrong value."""

    def list(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Return the sessions that have all of these values, in the order of their connections."""
        return self._all(session_operations.list_sessions, convert(dict(values), SessionQuery))

    def end(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Close the connections of these sessions, without values those of all, and return them."""
        ended = self._perform(session_operations.end_sessions, query=convert(dict(values), SessionMatch))
        return ended.items

    def expire(self, **values: Unpack[SessionValues]) -> SessionItems:
        """End the lifetime of these sessions, without values of all, and return them.

        The next request of each client ends its connection, unless it authenticates again by it (KIP-368).
        """
        expired = self._perform(session_operations.expire_sessions, body=convert(dict(values), SessionMatch))
        return expired.items
