"""Everything that can be done with a broker over HTTP, as plain methods: tests in process call the very same.

All of it runs on the event loop's thread.
"""

from __future__ import annotations

from ..broker.server import Server


class Control:
    """One broker with all that steers it, by subject."""

    def __init__(self, server: Server) -> None:
        """Steer a server."""
        self.server = server
        self.cluster = server.cluster

    @property
    def is_running(self) -> bool:
        """Whether the node listens."""
        return bool(self.server.listeners)
