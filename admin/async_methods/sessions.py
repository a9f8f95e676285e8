"""The SASL sessions of a broker's clients: list, end and expire them.

Made of admin/methods/sessions.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from typing import Unpack

from ...faults.strict_json import convert
from ..methods.sessions import SessionItems, SessionValues
from ..operations import session_operations
from ..operations.session_operations import SessionMatch, SessionQuery
from .base import AsyncMethods


class AsyncSessions(AsyncMethods):
    """The SASL sessions of the clients. Raises InvalidValueError for a wrong value."""

    async def list(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Return the sessions that have all of these values, in the order of their connections."""
        return await self._all(session_operations.list_sessions, convert(dict(values), SessionQuery))

    async def end(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Close the connections of these sessions, without values those of all, and return them."""
        ended = await self._perform(session_operations.end_sessions, query=convert(dict(values), SessionMatch))
        return ended.items

    async def expire(self, **values: Unpack[SessionValues]) -> SessionItems:
        """End the lifetime of these sessions, without values of all, and return them.

        The next request of each client ends its connection, unless it authenticates again by it (KIP-368).
        """
        expired = await self._perform(session_operations.expire_sessions, body=convert(dict(values), SessionMatch))
        return expired.items
