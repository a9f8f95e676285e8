"""The SASL sessions of a broker's clients: list, end and expire them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from ..admin.operations import session_operations
from ..admin.operations.session_operations import Session, SessionList, SessionMatch, SessionPage, SessionQuery
from ..faults.strict_json import convert
from .calls import ControlCall, RemoteCall, all_numbered, all_remote, parameters_of

PATH = "/v1/sessions"
# Within the classes, `list` is the method.
SessionItems = list[Session]


class SessionValues(TypedDict, total=False):
    """The values that the fields of a session may have. A field that is missing here may have any."""

    principal: str
    mechanism: str
    listener: str
    node: int
    connection: int


class Sessions:
    """The sessions of Broker and AsyncBroker. Raises RuleError for a wrong value."""

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def list(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Return the sessions that have all of these values, in the order of their connections."""
        return all_numbered(self._call, session_operations.list_sessions, SessionQuery, _match_of(values))

    def end(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Close the connections of these sessions, without values those of all, and return them."""
        match = _match_of(values)
        return self._call(lambda control: session_operations.end_sessions(control, match)).items

    def expire(self, **values: Unpack[SessionValues]) -> SessionItems:
        """End the lifetime of these sessions, without values of all, and return them.

        The next request of each client ends its connection, unless it authenticates again by it (KIP-368).
        """
        match = _match_of(values)
        return self._call(lambda control: session_operations.expire_sessions(control, match)).items


class RemoteSessions:
    """The sessions of RemoteBroker. Its methods raise CallError and Unreachable, and RuleError for a wrong value."""

    def __init__(self, call: RemoteCall) -> None:
        """call: sends a call of the admin API."""
        self._call = call

    def list(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Return the sessions that have all of these values; as Sessions.list."""
        return all_remote(self._call, PATH, SessionPage, **parameters_of(_match_of(values)))

    def end(self, **values: Unpack[SessionValues]) -> SessionItems:
        """Close the connections of these sessions, and return them; as Sessions.end."""
        return convert(self._call("DELETE", PATH, None, **parameters_of(_match_of(values))), SessionList).items

    def expire(self, **values: Unpack[SessionValues]) -> SessionItems:
        """End the lifetime of these sessions, and return them; as Sessions.expire."""
        return convert(self._call("POST", f"{PATH}/expire", _match_of(values)), SessionList).items


def _match_of(values: SessionValues) -> SessionMatch:
    return convert(dict(values), SessionMatch)
