"""The connection of a request, as the dispatcher and the fault injector use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .connection_info import ConnectionInfo


class ResponseWriter(Protocol):
    """A client connection that can be closed, stopped and slowed down."""

    @property
    def info(self) -> ConnectionInfo:
        """The client, its listener and its authentication."""
        ...

    def close(self) -> None:
        """Close after the responses so far are written."""
        ...

    def abort(self) -> None:
        """Close at once, without writing what is buffered."""
        ...

    def drop(self) -> None:
        """Close at once, and give up the requests received so far, also before the connection is established."""
        ...

    def reset(self) -> None:
        """Close at once with a RST."""
        ...

    def hang(self) -> None:
        """Read nothing until `wake` is called as often as `hang`."""
        ...

    def wake(self) -> None:
        """Undo one `hang`, and continue after the last one."""
        ...

    def slow_down(self, piece_bytes: int, every_ms: int) -> None:
        """Write all later responses in pieces of piece_bytes, one every every_ms."""
        ...
