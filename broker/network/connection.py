"""One client connection: splits the bytes into frames, dispatches requests, writes responses in order.

Rules:
- Frames are parsed in place in the receive buffer. A handler must copy what it keeps.
- A connection owns a buffer only while it has unread bytes, see frame_buffer.
- The size of a frame is checked as soon as its four bytes have arrived.
- One request is handled at a time. While its response is pending, or the client does not read, later frames stay in
  the receive buffer. A full buffer pauses reading from the socket, so no client can make the broker's memory grow.
- An applied request that waits only for its flush (`Deferred.is_applied`) lets the next request go on, so that one
  flush serves the batches that a producer has in flight. See response_queue for the order of responses.
- Frames are handled for one slice, then the connection waits for its turn, see connection_turns. Bytes that arrive
  meanwhile stay in the receive buffer, and large responses are written in turns too, see transport_writer.
- A frame that cannot be decoded closes the connection after the pending responses, as in Kafka.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from socket import SO_LINGER, SOL_SOCKET
from struct import Struct
from time import monotonic_ns
from typing import TYPE_CHECKING, Final, cast

from ...protocol.frames import FRAME_SIZE_BYTES, FrameError
from .. import network
from ..requests.connection_info import ConnectionInfo
from ..requests.fault_ports import Ending, Outcome, ResponsePlan, joined
from ..requests.request_context import RequestContext
from ..runtime.buffers import Buffers
from ..security import tls
from ..security.principal import Principal
from .connection_turns import SLICE_FRAMES_MAX
from .frame_buffer import FrameBuffer
from .response_queue import ResponseQueue
from .slow_writer import SlowWriter
from .transport_writer import TransportWriter
from .turn_writes import FRAMES_MAX, READ_BYTES_MAX, TurnWrites

if TYPE_CHECKING:
    from ssl import SSLObject

    from ..requests.frame_handler import FrameHandler
    from .busy_poll import BusyPoll
    from .channel_mute import ChannelMute
    from .shared_parts import SharedParts

logger = logging.getLogger(__name__)

# Responses to requests of one read are written together, in groups of this size: after each write, the transport can
# report that the client does not read.
RESPONSE_BUFFERS_GATHERED_MAX: Final = 64
_SIZE_BYTES: Final[int] = FRAME_SIZE_BYTES
_SLICE_FRAMES_MAX: Final[int] = SLICE_FRAMES_MAX
_now_ns: Final = monotonic_ns

# struct linger: on, 0 seconds.
_DO_NOT_LINGER = Struct("ii").pack(1, 0)


# Returns the principal of a client certificate in DER, or raises NoPrincipalError.
PrincipalOf = Callable[[bytes], Principal]


class Connection:
    """One accepted socket. Its transport has a ConnectionProtocol, which calls the methods of a BufferedProtocol.

    last_read_ns: the time of the last read, or of the creation, on the scale of monotonic_ns.
    """

    def __init__(self, shared: SharedParts, context: RequestContext, *, frame_bytes_max: int) -> None:
        """frame_bytes_max: socket.request.max.bytes."""
        self._dispatcher = shared.dispatcher
        self._frame_handler: FrameHandler = shared.dispatcher
        self._busy_poll: BusyPoll = shared.busy_poll
        self._closed = shared.closed
        self.last_read_ns = monotonic_ns()
        self._context = context
        self._frame_bytes_max = frame_bytes_max
        self._transport: asyncio.Transport | None = None
        self._writer: TransportWriter | None = None
        self._turns = shared.turns
        self._slice_ns: int = shared.turns.slice_ns
        self._turn_writes: TurnWrites = shared.turns.writes
        # Complete frames may be in the buffer that are handled in the connection's next turn.
        self._is_waiting_for_turn = False
        self._frames = FrameBuffer(shared.buffers)
        self._pending = ResponseQueue(self)
        self._slow_writer: SlowWriter | None = None
        self._is_reading_paused = False
        # The calls of `hang` without a `wake`: a fault rule and a cut network may stop the connection at the same time.
        self._hang_count = 0
        self._principal_of: PrincipalOf | None = None
        self._is_dropped = False
        # None until the client exceeds a quota.
        self._mute: ChannelMute | None = None

    @property
    def is_established(self) -> bool:
        """Whether the connection has a transport."""
        return self._transport is not None

    @property
    def info(self) -> ConnectionInfo:
        """The client, its listener and its authentication."""
        return self._context.connection

    # -- those of asyncio.BufferedProtocol, for ConnectionProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of the accepted socket and apply the fault rules for new connections."""
        # A cast, because uvloop's transports do not derive from asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)
        if self._is_dropped:
            self._transport.abort()
            return
        self._writer = TransportWriter(self._transport, self._turns, self._go_on)
        info = self._context.connection
        info.on_muted = self.mute
        if self._principal_of is not None and not self._take_certificate(self._principal_of):
            self._transport.abort()
            return
        self._dispatcher.connection_opened(self)
        self._dispatcher.accepted(self, info)

    def _take_certificate(self, principal_of: PrincipalOf) -> bool:
        """Take the principal of the client's certificate, if it has one; return False if that has no principal."""
        assert self._transport is not None, "a connection with a certificate is established"
        info = self._context.connection
        secured: SSLObject = self._transport.get_extra_info("ssl_object")
        certificate = secured.getpeercert(binary_form=True)
        try:
            if certificate is not None:
                info.take_certificate(principal_of(certificate))
        except tls.principal_mapping.NoPrincipalError as error:
            logger.warning("%s closed: %s", info, error)
            return False
        return True

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the free part of the receive buffer. It is never empty, because _make_room pauses reading first."""
        return self._frames.free_part()

    def buffer_updated(self, nbytes: int) -> None:
        """Handle the frames that are complete."""
        self.last_read_ns = _now_ns()
        if nbytes > READ_BYTES_MAX:
            self._turn_writes.write()
        is_full_read = self._frames.received(nbytes)
        if self._hang_count:
            self._frames.own()
            self._pause_reading()
            return
        if self._is_waiting_for_turn:
            self._make_room()
        else:
            self._handle_frames(self.last_read_ns)
        if is_full_read:
            self._pause_reading()
            self._wait_for_turn()
        self._busy_poll.request_arrived()

    def eof_received(self) -> bool:
        """Close the connection, as Kafka does when a client has closed its side."""
        self._context.connection.is_closed_by_client = True
        self._end_turn()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the buffers and abandon the pending responses."""
        self._transport = None
        self._context.connection.is_closed_by_client |= exc is not None
        self._frames.discard()
        if self._writer is not None:
            self._writer.discard()
            self._writer = None
        if self._slow_writer is not None:
            self._slow_writer.stop()
        self._dispatcher.connection_closed(self)
        self._closed(self)
        self._end_requests()

    def _end_requests(self) -> None:
        """Abandon the pending responses, and report the end of the connection. Later calls have no effect."""
        self._pending.abandon()
        info = self._context.connection
        info.is_closed = True
        info.on_muted = info.on_session_ended = info.on_frames_allowed = None
        if self._mute is not None:
            self._mute.stop()
        on_closed, info.on_closed = info.on_closed, None
        if on_closed is not None:
            on_closed()

    def pause_writing(self) -> None:
        """Handle no further request, because the client does not read."""
        if self._writer is not None:
            self._writer.transport_full()

    def resume_writing(self) -> None:
        """Handle requests again, because the client has read."""
        if self._writer is not None:
            self._writer.transport_ready()

    def guard(self, frame_handler: FrameHandler) -> None:
        """Have all frames handled by a gate."""
        self._frame_handler = frame_handler

    def identify_by(self, principal_of: PrincipalOf) -> None:
        """Take the principal of the client from its certificate."""
        self._principal_of = principal_of

    def allow_frames(self, frame_bytes_max: int) -> None:
        """Take frames of up to frame_bytes_max from now on."""
        self._frame_bytes_max = frame_bytes_max

    def close_after_responses(self) -> None:
        """Close when the pending responses are written."""
        self._pending.when_empty(self.close)

    # -- ResponseWriter, for the dispatcher, the server and the fault injector

    def close(self) -> None:
        """Close after the responses so far are written."""
        if self._writer is not None:
            self._writer.close()

    def abort(self) -> None:
        """Close at once."""
        self._end_turn()
        if self._transport is not None:
            self._transport.abort()

    def drop(self) -> None:
        """Close at once, and give up the requests received so far, also before the connection is established."""
        self._is_dropped = True
        # No frame is handled from now on, because the transport is closing.
        self.abort()
        self._end_requests()

    def reset(self) -> None:
        """Close at once with a RST."""
        self._end_turn()
        transport = self._transport
        if transport is not None:
            # The operating system sends a RST for a socket that lingers for 0 seconds.
            transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, _DO_NOT_LINGER)
            transport.abort()

    def _end_turn(self) -> None:
        """Write the response that waits for the end of the turn, before the transport closes."""
        if self._writer is not None:
            self._writer.end_turn()

    def hang(self) -> None:
        """Handle nothing until `wake` is called as often as `hang`. Reading pauses with the next bytes that arrive."""
        # Not paused here: uvloop begins to read only after connection_made has returned.
        self._hang_count += 1

    def wake(self) -> None:
        """Undo one `hang`. After the last one, handle the frames received so far and read again."""
        self._hang_count -= 1
        self._go_on()

    def mute(self, throttle_ms: int) -> None:
        """Handle no request for throttle_ms of the cluster's clock, and write the responses to earlier ones."""
        if self._mute is None:
            self._mute = network.channel_mute.ChannelMute(self._context.node.clock, self._pending.unmute)
        self._mute.mute(throttle_ms)
        self._pending.mute()

    def slow_down(self, piece_bytes: int, every_ms: int) -> None:
        """Write all later responses in pieces of piece_bytes, one every every_ms of the cluster's clock."""
        self._slow_writer = self._new_slow_writer(piece_bytes, every_ms)

    # -- ResponseSink, for the response queue

    def write(self, responses: Buffers) -> None:
        """Write responses."""
        writer = self._writer
        if writer is None:
            return
        if self._slow_writer is None:
            writer.write(responses)
        elif responses:
            writer.hold()
            self._slow_writer.write(joined(responses), writer.release)

    def write_slowly(self, plan: ResponsePlan, written: Callable[[], None]) -> None:
        """Write the plan's bytes in its pieces, and call written after the last one."""
        self._new_slow_writer(plan.piece_bytes, plan.every_ms).write(joined(plan.buffers), written)

    def end(self, ending: Ending) -> None:
        """Close or reset the connection after the bytes so far."""
        if ending is Ending.RESET:
            self.reset()
        else:
            self.close()

    def go_on(self) -> None:
        """Handle the next requests, because the response queue has room again."""
        self._go_on()

    def answered(self, request_id: int) -> None:
        """Report to the journal that the whole response was written, unless the connection is closing."""
        observer = self._dispatcher.observer
        if observer is not None:
            if self._is_open():
                observer.answered(request_id, monotonic_ns())
            else:
                observer.unanswered(request_id)

    def unanswered(self, request_id: int) -> None:
        """Report to the journal that the response is never written, or not as a whole."""
        if self._dispatcher.observer is not None:
            self._dispatcher.observer.unanswered(request_id)

    def _new_slow_writer(self, piece_bytes: int, every_ms: int) -> SlowWriter:
        return SlowWriter(self._context.node.clock, self._write_slow_piece, piece_bytes=piece_bytes, every_ms=every_ms)

    def _write_slow_piece(self, piece: bytes) -> None:
        if self._writer is not None:
            self._writer.write([piece])

    # -- frames

    def _go_on(self) -> None:
        """Handle the frames received so far, unless they wait for the last `wake`, or for the connection's turn."""
        if not self._hang_count and not self._is_waiting_for_turn:
            self._handle_frames(_now_ns())

    def _wait_for_turn(self) -> None:
        if not self._is_waiting_for_turn:
            self._is_waiting_for_turn = True
            self._turns.wait(self._take_turn)

    def _take_turn(self) -> None:
        self._is_waiting_for_turn = False
        self._go_on()

    def _handle_frames(self, now_ns: int) -> None:
        """Handle complete frames for one slice from now_ns on, then make room for the next read."""
        writer = self._writer
        if writer is None or writer.is_closing:
            self._frames.discard()
            return
        responses: Buffers = []
        try:
            self._handle_slice(writer, responses, now_ns + self._slice_ns)
        except FrameError as error:
            # The error may name a value of the client, which may be as long as its frame.
            logger.warning("%s closed: %.500s", self._context.connection, error)
            self._frames.discard()
            self.write(responses)
            self._pending.when_empty(self.close)
            return
        except Exception:
            logger.exception("%s closed because of an internal error", self._context.connection)
            self._frames.discard()
            self.abort()
            return
        if self._slow_writer is None:
            writer.write_in_turn(responses)
        else:
            self.write(responses)
        if writer.is_closing:
            self._frames.discard()
        else:
            self._make_room()

    def _handle_slice(self, writer: TransportWriter, responses: Buffers, slice_end_ns: int) -> None:
        """Handle complete frames for one slice, and leave responses that are not yet written in responses."""
        frames = self._frames
        for handled in range(_SLICE_FRAMES_MAX):
            frame_end = self._end_of_next_frame(writer)
            if not frame_end:
                return
            if handled and _now_ns() > slice_end_ns:
                break
            if handled == FRAMES_MAX:
                self._turn_writes.write()
            frame_start = frames.start + _SIZE_BYTES
            frames.start = frame_end
            response = self._frame_handler.handle(self._context, frames.view, frame_start, frame_end)
            if isinstance(response, list) and not self._pending.count:
                self._gather(response, responses)
            elif response is not None:
                self._add_pending(response, responses)
        self._wait_for_turn()

    def _gather(self, response: Buffers, responses: Buffers) -> None:
        for buffer in response:
            responses.append(buffer)
        if len(responses) > RESPONSE_BUFFERS_GATHERED_MAX:
            self.write(responses)
            responses.clear()

    def _end_of_next_frame(self, writer: TransportWriter) -> int:
        """Return where the next frame ends in the buffer; 0 if it is incomplete or has to wait.

        Raises FrameError for a size that is not accepted.
        """
        size = self._frames.next_size()
        if size is None or self._pending.is_full or writer.is_paused:
            return 0
        if not 0 <= size <= self._frame_bytes_max:
            self._pending.add(self._frame_handler.refuse_size(self._context, size, self._frame_bytes_max), 0)
            return 0
        frame_end = self._frames.start + _SIZE_BYTES + size
        return frame_end if frame_end <= self._frames.end else 0

    def _add_pending(self, response: Outcome, responses: Buffers) -> None:
        """Write the responses before a response that has to wait, or that ends the connection."""
        self.write(responses)
        responses.clear()
        self._pending.add(response, self._context.request_id)
        if not self._is_open():
            self._frames.discard()

    def _make_room(self) -> None:
        """Make room for the next read, or pause reading if the buffered requests must wait."""
        frames = self._frames
        if not frames.make_room(is_blocked=frames.start < frames.end and self._is_blocked()):
            self._pause_reading()
        elif self._is_reading_paused:
            self._resume_reading()

    def _is_blocked(self) -> bool:
        """Return whether the next frame must wait, even if it is complete."""
        if self._is_waiting_for_turn or self._pending.is_full:
            return True
        return self._writer is None or self._writer.is_paused

    def _pause_reading(self) -> None:
        if self._is_open() and not self._is_reading_paused:
            assert self._transport is not None, "an open connection has a transport"
            self._is_reading_paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._is_open() and not self._hang_count:
            assert self._transport is not None, "an open connection has a transport"
            self._is_reading_paused = False
            self._transport.resume_reading()

    def _is_open(self) -> bool:
        return self._writer is not None and not self._writer.is_closing
