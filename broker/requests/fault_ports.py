"""What the broker asks of those who make things go wrong, and of those who write down what happened.

Both are Protocols: the broker knows neither rules nor journals, and carries out what it is told. Without a rule in
force a request costs one test of an attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...faults.fault import Fault
    from ...faults.request_view import ConnectionView, ReceivedRequest
    from ..runtime.deferred import Buffers
    from .request_context import RequestContext

# What becomes of the answer to a request that has been handled.
RESPONDED = 0
PENDING = 1
NO_RESPONSE = 2


class FaultPlan(Protocol):
    """Says what goes wrong, at each of the points that a connection and its requests pass."""

    @property
    def is_armed(self) -> bool:
        """Whether any rule is in force that looks at requests."""
        ...

    @property
    def is_accepting_armed(self) -> bool:
        """Whether any rule is in force that looks at connections as they come."""
        ...

    def accepted(self, connection: ConnectionView) -> Fault | None:
        """A connection came; nothing was read from it."""
        ...

    def received(self, request: ReceivedRequest) -> Fault | None:
        """A request came; nothing of it is applied. Raises FrameError where its body does not decode."""
        ...

    def applied(self, request: ReceivedRequest) -> Fault | None:
        """A request was applied, and is not answered."""
        ...

    def answering(self, request: ReceivedRequest) -> Fault | None:
        """The bytes of an answer are there, and none was written."""
        ...


class RequestObserver(Protocol):
    """Is told what happened to each request. What it returns as a request's id is what it is told of it later."""

    def handled(self, context: RequestContext, size: int, state: int) -> int:
        """The handler has returned. size: of the frame. state: RESPONDED, PENDING or NO_RESPONSE. Returns the id."""
        ...

    def answered(self, request_id: int) -> None:
        """An answer that was waited for has been written."""
        ...

    def unanswered(self, request_id: int) -> None:
        """The answer will never be written, or was not whole."""
        ...

    def response_replaced(self, request_id: int, partitions: frozenset[tuple[str, int]], error_code: int) -> None:
        """What was applied is answered with an error; for all partitions where none is named."""
        ...

    def not_applied(self, request: ReceivedRequest, fault: Fault) -> int:
        """A fault keeps the request, or part of it, from being applied, perhaps for a time. Returns the id."""
        ...

    def applied_later(self, request_id: int, context: RequestContext, size: int, state: int) -> int:
        """What was not applied has been handled after all, or the rest of it has; see handled. Returns the same id."""
        ...

    def fault_acted(self, request_id: int, rule_id: int, point: str, kind: str) -> None:
        """A fault acted on the request."""
        ...

    def topic_created(self, topic: str) -> None:
        """There is a new topic of this name, whose offsets begin at 0 whatever one of that name had before."""
        ...


class Ending(Enum):
    """What is done behind the bytes of an answer."""

    NOTHING = "nothing"
    CLOSE = "close"
    RESET = "reset"


class ResponsePlan:
    """An answer that is not simply written: cut, changed, slow, or with an end behind it.

    is_whole: whether the client gets what it was owed.
    is_at_once: the end comes now, whatever else is owed before it.
    piece_bytes, every_ms: the answer goes out in pieces of that size, one each every_ms; 0 for all at once.
    """

    __slots__ = ("buffers", "ending", "every_ms", "is_at_once", "is_whole", "piece_bytes")

    def __init__(
        self,
        buffers: Buffers | None = None,
        ending: Ending = Ending.NOTHING,
        *,
        is_whole: bool = True,
        is_at_once: bool = False,
        piece_bytes: int = 0,
        every_ms: int = 0,
    ) -> None:
        """Plan an answer of these buffers, of none without them."""
        self.buffers: Buffers = [] if buffers is None else buffers
        self.ending = ending
        self.is_whole = is_whole
        self.is_at_once = is_at_once
        self.piece_bytes = piece_bytes
        self.every_ms = every_ms


def joined(buffers: Sequence[bytes | bytearray | memoryview]) -> bytes:
    """Return the bytes of an answer in one piece."""
    return b"".join(buffers)
