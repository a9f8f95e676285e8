"""What the connections of a node have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dispatch.dispatch import Dispatcher
    from .busy_poll import BusyPoll
    from .connection_quotas import QuotaConnection
    from .connection_turns import ConnectionTurns
    from .receive_buffers import ReceiveBuffers


class SharedParts(NamedTuple):
    """The parts that all connections of a node share. closed: called when a connection is closed."""

    dispatcher: Dispatcher
    busy_poll: BusyPoll
    buffers: ReceiveBuffers
    turns: ConnectionTurns
    closed: Callable[[QuotaConnection], None]
