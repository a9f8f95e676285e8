"""The Protocols between the broker and the faults package: the fault plan, and the observer that writes the journal.

The broker imports neither rules nor the journal. Without an armed rule a request costs one test of an attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred
from .request_context import ResponseObserver

if TYPE_CHECKING:
    from ...faults.fault import Fault
    from ...faults.plain_append import PlainAppend
    from ...faults.request_view import ConnectionView, ReceivedRequest
    from ...storage.append_result import AppendResult
    from ...storage.deleted_records import DeletedRecords
    from .consumption_observer import ConsumptionObserver
    from .request_context import RequestContext

# The response of a handled request: written next, pending, or none (acks=0).
RESPONDED = 0
PENDING = 1
NO_RESPONSE = 2


class FaultPlan(Protocol):
    """Chooses the fault to inject at each point that a connection or a request passes."""

    @property
    def is_armed(self) -> bool:
        """Whether a rule for requests is in force."""
        ...

    @property
    def is_accepting_armed(self) -> bool:
        """Whether a rule for new connections is in force."""
        ...

    def accepted(self, connection: ConnectionView) -> Fault | None:
        """Return the fault for a new connection, from which nothing was read."""
        ...

    def is_matched_ahead(self, request: ReceivedRequest) -> bool:
        """Return whether matching may hold the event loop, so that match_ahead is called first, in a thread.

        Raises FrameError if the body does not decode.
        """
        ...

    def match_ahead(self, request: ReceivedRequest) -> None:
        """Match the request for all points to come. Raises FrameError if its body does not decode."""
        ...

    def received(self, request: ReceivedRequest) -> Fault | None:
        """Return the fault for a request that is not applied yet. Raises FrameError if its body does not decode."""
        ...

    def applied(self, request: ReceivedRequest) -> Fault | None:
        """Return the fault for a request that was applied and has no response yet."""
        ...

    def answering(self, request: ReceivedRequest) -> Fault | None:
        """Return the fault for a request whose response is encoded and not yet written."""
        ...


class RequestObserver(ResponseObserver, Protocol):
    """Records what happens to each request. The request ids that it returns identify the request in later calls."""

    @property
    def consumption(self) -> ConsumptionObserver:
        """The observer of consumers."""
        ...

    def handled(self, context: RequestContext, size: int, state: int) -> int:
        """Record a request that its handler has handled, and return its id.

        size: bytes of the frame. state: RESPONDED, PENDING or NO_RESPONSE.
        """
        ...

    def appended(self, append: PlainAppend, result: AppendResult) -> int:
        """Record a Produce of one appended batch after its response, and return its id; 0 if `handled` must record it.

        result: the decision of the log on the batch, which append is made of.
        """
        ...

    def held(self, request_id: int, held_ns: int) -> None:
        """Record that a fault has held the request, or its response, for held_ns."""
        ...

    def answered(self, request_id: int, at_ns: int = 0) -> None:
        """Record that a pending response was written. at_ns: of a monotonic clock."""
        ...

    def unanswered(self, request_id: int) -> None:
        """Record that a response is never written, or was not written as a whole."""
        ...

    def response_replaced(self, request_id: int, partitions: frozenset[tuple[str, int]], error_code: int) -> None:
        """Record an error response to an applied request, for the given partitions; an empty set means all."""
        ...

    def not_applied(self, request: ReceivedRequest, fault: Fault) -> int:
        """Record that a fault prevents or delays the request or a part of it. Returns the id."""
        ...

    def applied_later(self, request_id: int, context: RequestContext, size: int, state: int) -> int:
        """Record that a request reported to not_applied, or the rest of it, was handled. Returns the same id."""
        ...

    def fault_acted(self, request_id: int, rule_id: int, point: str, kind: str) -> None:
        """Record that a fault acted on the request."""
        ...

    def records_deleted(self, topic: str, partition: int, deleted: DeletedRecords) -> None:
        """Record that retention or DeleteRecords has deleted records."""
        ...

    def topic_created(self, topic: str) -> None:
        """Record a new topic. Its offsets begin at 0, even if a topic of the name existed before."""
        ...

    def topics_removed(self, names: Mapping[bytes, str]) -> None:
        """Record that topics were deleted. names: by their ids."""
        ...


class Ending(Enum):
    """What happens to the connection after the bytes of a response."""

    NOTHING = "nothing"
    CLOSE = "close"
    RESET = "reset"


class ResponsePlan:
    """A response that a fault cuts, changes, slows down, or follows by an end of the connection.

    is_whole: whether the client receives the whole, correct response.
    is_at_once: the connection ends now, before the responses that are pending.
    piece_bytes, every_ms: the response is written in pieces of piece_bytes, one every every_ms; 0: all at once.
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
        """buffers: the bytes to write; none by default."""
        self.buffers: Buffers = [] if buffers is None else buffers
        self.ending = ending
        self.is_whole = is_whole
        self.is_at_once = is_at_once
        self.piece_bytes = piece_bytes
        self.every_ms = every_ms


# The result of a request: a response, a plan for one, either of them pending, or None without a response.
Outcome = Buffers | ResponsePlan | Deferred[ResponsePlan] | Deferred[Buffers] | None


def joined(buffers: Sequence[bytes | bytearray | memoryview]) -> bytes:
    """Return the bytes of a response as one object."""
    return b"".join(buffers)
