"""One client's connection: bytes in, frames to dispatch, answers out in order, and limits on what waits.

Frames are parsed where they lie in the receive buffer. One request is worked on at a time: while its answer is not
there (Deferred), or while the client does not read what it was sent, later frames stay in the buffer, and once that is
full the socket is no longer read. So neither side of a connection can make the broker's memory grow.

Only requests that are applied and wait for nothing but their flush let those behind them go on (Deferred.is_applied):
the batches that a producer has in flight are then flushed together. A number of such answers may be owed at a time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from socket import SO_LINGER, SOL_SOCKET
from struct import Struct
from typing import TYPE_CHECKING, cast

from ...protocol.frames import FRAME_SIZE_BYTES, FrameError
from ..requests.fault_ports import Ending, ResponsePlan, joined
from ..requests.request_context import RequestContext
from ..runtime.deferred import Buffers
from .response_queue import ResponseQueue
from .slow_writer import SlowWriter

if TYPE_CHECKING:
    from ..dispatch.dispatch import Dispatcher
    from .busy_poll import BusyPoll

logger = logging.getLogger(__name__)

# What a connection reads ahead: a client's usual five batches of 16 KiB in flight take one system call.
RECEIVE_BUFFER_BYTES = 256 * 1024
# A buffer that grew beyond this for one large frame is given back when it is empty.
RECEIVE_BUFFER_BYTES_KEPT = 4 * 1024 * 1024
# The room below which the unread rest is moved to the front, so that a read is never for a handful of bytes.
RECEIVE_ROOM_BYTES_MIN = 16 * 1024
# Bytes of answers that may wait for a client that does not read, before its next request is looked at.
# One answer may be larger (fetch.max.bytes): its record bytes are not copied, they stay where the log keeps them.
RESPONSE_BYTES_WAITING_MAX = 1024 * 1024
# Buffers of answers gathered before they are written together: requests that came in one read are answered in one
# write, but the transport must get the chance to say that the client does not read.
RESPONSE_BUFFERS_GATHERED_MAX = 64

_SIZE = Struct(">i")
# struct linger: on, for no time.
_DO_NOT_LINGER = Struct("ii").pack(1, 0)


class Connection(asyncio.BufferedProtocol):
    """The protocol of one accepted socket."""

    def __init__(
        self, dispatcher: Dispatcher, context: RequestContext, busy_poll: BusyPoll, *, frame_bytes_max: int
    ) -> None:
        """Serve one socket; frame_bytes_max is socket.request.max.bytes."""
        self._dispatcher = dispatcher
        self._busy_poll = busy_poll
        self._context = context
        self._frame_bytes_max = frame_bytes_max
        self._transport: asyncio.Transport | None = None
        self._view = memoryview(b"")
        self._start = 0
        self._end = 0
        self._read_end = 0
        self._owed = ResponseQueue(self)
        self._slow_writer: SlowWriter | None = None
        self._is_writing_paused = False
        self._is_reading_paused = False
        self._is_hanging = False

    # -- asyncio.BufferedProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport of the accepted socket."""
        # Only asyncio's own type, uvloop's transports do not derive from asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=RESPONSE_BYTES_WAITING_MAX)
        peer = transport.get_extra_info("peername")
        info = self._context.connection
        info.client_host = str(peer[0]) if peer else ""
        self._dispatcher.connection_opened(self)
        self._dispatcher.accepted(self, info)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next bytes go; never empty, see _make_room."""
        if not self._view:
            self._view = memoryview(bytearray(RECEIVE_BUFFER_BYTES))
            self._read_end = RECEIVE_BUFFER_BYTES
        return self._view[self._end : self._read_end]

    def buffer_updated(self, nbytes: int) -> None:
        """Work on what is complete."""
        self._end += nbytes
        if self._is_hanging:
            self._pause_reading()
            return
        self._answer_frames()
        self._busy_poll.request_came()

    def eof_received(self) -> bool:
        """Close: a client that will not send any more is, to Kafka, gone."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client; a request that still waits is abandoned."""
        self._transport = None
        self._view = memoryview(b"")
        if self._slow_writer is not None:
            self._slow_writer.stop()
        self._dispatcher.connection_closed(self)
        self._owed.abandon()
        if self._context.connection.on_closed is not None:
            self._context.connection.on_closed()

    def pause_writing(self) -> None:
        """Answer no more: the client does not read."""
        self._is_writing_paused = True

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        self._is_writing_paused = False
        self._answer_frames()

    # -- for the dispatcher, the server and those who make things go wrong

    def close(self) -> None:
        """Close after what was already answered has been written."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def reset(self) -> None:
        """Close at once in the way of a host that knows nothing of the connection any more: with RST."""
        transport = self._transport
        if transport is not None:
            # A socket that does not linger is not closed in order, it is reset.
            transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, _DO_NOT_LINGER)
            transport.abort()

    def hang(self) -> None:
        """Look at nothing that comes until `wake`; the socket is not read from any more once something has come."""
        # Before the first bytes there is nothing to pause: uvloop begins to read when connection_made has returned.
        self._is_hanging = True

    def wake(self) -> None:
        """Go on with what has come, and read again."""
        self._is_hanging = False
        self._answer_frames()

    def slow_down(self, piece_bytes: int, every_ms: int) -> None:
        """Write everything from now on in pieces of piece_bytes, one each every_ms of the cluster's clock."""
        self._slow_writer = self._new_slow_writer(piece_bytes, every_ms)

    # -- ResponseSink

    def write(self, answers: Buffers) -> None:
        """See ResponseSink."""
        if self._slow_writer is None:
            self._write(answers)
        elif answers:
            self._is_writing_paused = True
            self._slow_writer.write(joined(answers), self.resume_writing)

    def write_slowly(self, plan: ResponsePlan, written: Callable[[], None]) -> None:
        """See ResponseSink."""
        slow_writer = self._new_slow_writer(plan.piece_bytes, plan.every_ms)
        slow_writer.write(joined(plan.buffers), written)

    def end(self, ending: Ending) -> None:
        """See ResponseSink."""
        if ending is Ending.RESET:
            self.reset()
        else:
            self.close()

    def go_on(self) -> None:
        """See ResponseSink."""
        self._answer_frames()

    def answered(self, request_id: int) -> None:
        """See ResponseSink."""
        observer = self._dispatcher.observer
        if observer is not None:
            if self._transport is None or self._transport.is_closing():
                observer.unanswered(request_id)
            else:
                observer.answered(request_id)

    def unanswered(self, request_id: int) -> None:
        """See ResponseSink."""
        if self._dispatcher.observer is not None:
            self._dispatcher.observer.unanswered(request_id)

    def _new_slow_writer(self, piece_bytes: int, every_ms: int) -> SlowWriter:
        clock = self._context.node.clock
        return SlowWriter(clock, lambda piece: self._write([piece]), piece_bytes=piece_bytes, every_ms=every_ms)

    # -- frames

    def _answer_frames(self) -> None:
        """Answer the complete frames in the buffer until one has to wait; then make room for what comes next.

        The size of a frame is checked as soon as its four bytes are there.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        answers: Buffers = []
        owed = self._owed
        dispatcher = self._dispatcher
        try:
            while not owed.is_full and not self._is_writing_paused:
                frame_start = self._start + FRAME_SIZE_BYTES
                if frame_start > self._end:
                    break
                (size,) = _SIZE.unpack_from(self._view, self._start)
                if not 0 <= size <= self._frame_bytes_max:
                    raise FrameError(f"a frame of {size} bytes; socket.request.max.bytes is {self._frame_bytes_max}")
                frame_end = frame_start + size
                if frame_end > self._end:
                    break
                self._start = frame_end
                answer = dispatcher.handle(self._context, self._view, frame_start, frame_end)
                if type(answer) is list and not owed.count:
                    answers += answer
                    if len(answers) > RESPONSE_BUFFERS_GATHERED_MAX:
                        self.write(answers)
                        answers = []
                elif answer is not None:
                    if answers:
                        self.write(answers)
                        answers = []
                    owed.add(answer, self._context.request_id)
                    if transport.is_closing():
                        return
        except FrameError as error:
            logger.warning("connection %d of %s closed: %s", *self._name(), error)
            self.write(answers)
            owed.when_none(self.close)
            return
        except Exception:
            logger.exception("connection %d of %s closed by a fault of ours", *self._name())
            self.abort()
            return
        self.write(answers)
        self._make_room()

    def _name(self) -> tuple[int, str]:
        return self._context.connection.connection_id, self._context.connection.client_host

    def _write(self, answers: Buffers) -> None:
        transport = self._transport
        if not answers or transport is None or transport.is_closing():
            return
        if len(answers) == 1:
            transport.write(answers[0])
        elif memoryview in map(type, answers):
            transport.writelines(answers)
        else:
            # Without records all pieces are small, and one buffer is cheaper to send than many.
            transport.write(b"".join(answers))

    def _make_room(self) -> None:
        """Have room for the next read, or stop reading where the buffered requests must wait."""
        if self._start == self._end:
            self._start = self._end = 0
            if len(self._view) > RECEIVE_BUFFER_BYTES_KEPT:
                self._view = memoryview(b"")
            self._read_end = len(self._view)
            if self._is_reading_paused:
                self._resume_reading()
            return
        if len(self._view) - self._end < RECEIVE_ROOM_BYTES_MIN:
            self._move_to_front()
        self._read_end = self._end_of_next_read()
        if self._read_end == self._end:
            self._pause_reading()
        elif self._is_reading_paused:
            self._resume_reading()

    def _end_of_next_read(self) -> int:
        """Return how far the next read may go.

        Where a large frame has begun it ends with that frame: the next one then begins at the front, and its bytes
        never have to be moved there.
        """
        lacking = self._lacking_bytes()
        if lacking > RECEIVE_ROOM_BYTES_MIN:
            return min(self._end + lacking, len(self._view))
        return len(self._view)

    def _lacking_bytes(self) -> int:
        """Return how many bytes the frame that has begun still lacks; 0 where it has not, or must wait."""
        if self._end - self._start < FRAME_SIZE_BYTES or self._is_blocked():
            return 0
        (size,) = _SIZE.unpack_from(self._view, self._start)
        return max(0, self._start + FRAME_SIZE_BYTES + int(size) - self._end)

    def _is_blocked(self) -> bool:
        return self._owed.is_full or self._is_writing_paused

    def _move_to_front(self) -> None:
        """Move the unread bytes to the front, into a larger buffer where the frame that has begun does not fit.

        The buffer at most doubles: a size that a client claims is not memory until its bytes have come.
        """
        unread = self._end - self._start
        wanted = unread + max(RECEIVE_ROOM_BYTES_MIN, self._lacking_bytes())
        if wanted > len(self._view) and not self._is_blocked():
            larger = memoryview(bytearray(min(wanted, 2 * len(self._view))))
            larger[:unread] = self._view[self._start : self._end]
            self._view = larger
        elif self._start > 0:
            self._view[:unread] = self._view[self._start : self._end]
        self._start, self._end = 0, unread

    def _pause_reading(self) -> None:
        if self._transport is not None and not self._is_reading_paused:
            self._is_reading_paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._transport is not None and not self._transport.is_closing() and not self._is_hanging:
            self._is_reading_paused = False
            self._transport.resume_reading()
