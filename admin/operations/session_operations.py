"""Operations on the SASL sessions of clients: list, end and expire them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from msgspec import Meta, Struct

from ...broker.requests.response_writer import ResponseWriter
from ...broker.security.sasl.sasl_session import SaslSession, Stage
from ..control import Control
from ..operation import Operation
from ..paging import INT64_MAX, LIMIT_DEFAULT, Limit, page_of

TAG = "security"

# The longest string of the protocol.
Text = Annotated[str, Meta(min_length=1, max_length=32_767)]
Natural = Annotated[int, Meta(ge=0, le=INT64_MAX)]


class Session(Struct, kw_only=True):
    """The session of a client that has authenticated.

    principal: such as "User:alice". authenticated_at_ms: of the last authentication. expires_at_ms: when the session is
    over, null for never. Both are on the broker's clock.
    """

    node: int
    connection: int
    listener: str
    client_host: str
    principal: str
    mechanism: str
    authenticated_at_ms: int
    expires_at_ms: int | None


class SessionMatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """The sessions that have all of these values; null and no value stand for any."""

    principal: Text | None = None
    mechanism: Text | None = None
    listener: Text | None = None
    node: Natural | None = None
    connection: Natural | None = None


class SessionQuery(SessionMatch, kw_only=True, forbid_unknown_fields=True):
    """The sessions to list."""

    since: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Only connections with a greater number.")] = 0
    limit: Limit = LIMIT_DEFAULT


class SessionPage(Struct, kw_only=True):
    """Sessions in the order of their connections."""

    items: list[Session]
    next: str | None


class SessionList(Struct, kw_only=True):
    """Sessions."""

    items: list[Session]


def list_sessions(control: Control, query: SessionQuery) -> SessionPage:
    """List the sessions of clients that have authenticated by SASL."""
    found = (each.model for each in _matching(control, query) if each.model.connection > query.since)
    items, token = page_of(found, query.limit, lambda each: each, lambda each: str(each.connection))
    return SessionPage(items=items, next=token)


def end_sessions(control: Control, query: SessionMatch) -> SessionList:
    """Close the connections of the sessions that have all of these values, and return them.

    Their clients may connect and authenticate again.
    """
    return _change(control, query, lambda each: each.writer.close())


def expire_sessions(control: Control, body: SessionMatch) -> SessionList:
    """End the lifetime of the sessions that have all of these values, and return them.

    As in Kafka, the next request of each client ends its connection, unless the client authenticates again by it
    (KIP-368).
    """
    return _change(control, body, lambda each: each.session.expire())


class _Found(Struct):
    writer: ResponseWriter
    session: SaslSession
    model: Session


def _change(control: Control, match: SessionMatch, change: Callable[[_Found], None]) -> SessionList:
    found = list(_matching(control, match))
    for each in found:
        change(each)
    return SessionList(items=[each.model for each in found])


def _matching(control: Control, match: SessionMatch) -> Iterator[_Found]:
    """Yield the sessions that have the values of match, in the order of their connections."""
    wanted = {name: value for name in SessionMatch.__struct_fields__ if (value := getattr(match, name)) is not None}
    writers = (writer for server in control.server.running for writer in server.connections)
    for writer in sorted(writers, key=lambda writer: writer.info.connection_id):
        each = _session_of(writer)
        if each is not None and all(getattr(each.model, name) == value for name, value in wanted.items()):
            yield each


def _session_of(writer: ResponseWriter) -> _Found | None:
    """Return the session of a connection; None if its client has not authenticated, or has failed to do so again."""
    info = writer.info
    session = info.sasl
    if session is None or session.authenticated_ms is None or session.stage is Stage.FAILED:
        return None
    model = Session(
        node=info.node_id,
        connection=info.connection_id,
        listener=info.listener_name,
        client_host=info.client_host,
        principal=str(session.principal),
        mechanism=session.mechanism or "",
        authenticated_at_ms=session.authenticated_ms,
        expires_at_ms=session.expires_ms,
    )
    return _Found(writer, session, model)


OPERATIONS = (
    Operation(method="GET", path="/v1/sessions", perform=list_sessions, tag=TAG),
    Operation(method="DELETE", path="/v1/sessions", perform=end_sessions, tag=TAG),
    Operation(method="POST", path="/v1/sessions/expire", perform=expire_sessions, tag=TAG),
)
