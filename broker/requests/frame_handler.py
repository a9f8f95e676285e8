"""What handles the requests of a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..runtime.buffers import Buffers
    from ..runtime.deferred import Deferred
    from .fault_ports import Outcome
    from .request_context import RequestContext


class FrameHandler(Protocol):
    """Handles the frames of a connection: the dispatcher, or the gate before it."""

    def handle(self, context: RequestContext, frame: memoryview, start: int, end: int) -> Outcome:
        """Handle the request in frame[start:end]. Raises FrameError to end the connection."""
        ...

    def refuse_size(self, context: RequestContext, size: int, bytes_max: int) -> Deferred[Buffers]:
        """End the connection because of the size of a frame: raise FrameError, or return when to end it."""
        ...
