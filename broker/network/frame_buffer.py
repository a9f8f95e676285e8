"""The unread bytes of one connection, and the place of its next read.

Rules:
- Without unread bytes a connection owns no buffer: its next read goes into the shared one (receive_buffers). While that
  read is handled, `view` is the shared buffer.
- The buffer grows only with bytes that were received, so that a claimed frame size costs no memory.
- A read within a large frame ends at the end of the frame. The frame after it then begins at the front of the buffer,
  and its bytes need not be moved there.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from ...protocol.frames import FRAME_SIZE_BYTES
from .receive_buffers import RECEIVE_BUFFER_BYTES

if TYPE_CHECKING:
    from .receive_buffers import ReceiveBuffers

# With less free room, the unread bytes are moved to the front, so that no read is for a few bytes only.
RECEIVE_ROOM_BYTES_MIN: Final = 16 * 1024

_NO_BUFFER: Final = memoryview(b"")
_unpack_size: Final = Struct(">i").unpack_from
_SIZE_BYTES: Final[int] = FRAME_SIZE_BYTES


class FrameBuffer:
    """view[start:end]: the unread bytes, which begin with the size of a frame."""

    __slots__ = ("_buffers", "_is_sending_large", "_read_end", "end", "start", "view")

    def __init__(self, buffers: ReceiveBuffers) -> None:
        """buffers: those of all connections."""
        self._buffers = buffers
        # The connection's own buffer; while a read is handled, perhaps the shared one; without unread bytes, none.
        self.view = _NO_BUFFER
        self.start = 0
        self.end = 0
        self._read_end = 0
        # Whether the last unread bytes did not fit into a buffer of the usual size.
        self._is_sending_large = False

    def free_part(self) -> memoryview:
        """Return where the next read goes."""
        if self.view or (self._is_sending_large and self._take_large_buffer()):
            return self.view[self.end : self._read_end]
        return self._buffers.shared

    def _take_large_buffer(self) -> bool:
        """Own a large buffer, if one is kept. The next frame is then received in place, and not moved."""
        large = self._buffers.find_larger(RECEIVE_BUFFER_BYTES)
        if large is None:
            return False
        self.view = large
        self._read_end = len(large)
        return True

    def received(self, size: int) -> bool:
        """Add the bytes of a read, and return whether they filled the free part."""
        if not self.view:
            self.view = self._buffers.shared
            self._read_end = RECEIVE_BUFFER_BYTES
        self.end += size
        return self.end == self._read_end

    def next_size(self) -> int | None:
        """Return the size of the next frame, which may be wrong, or None if its four bytes have not arrived."""
        if self.end - self.start < _SIZE_BYTES:
            return None
        size: int = _unpack_size(self.view, self.start)[0]
        return size

    def own(self) -> None:
        """Own the buffer that contains the unread bytes."""
        if self.view is self._buffers.shared:
            self._buffers.claim()
            self._read_end = len(self.view)

    def discard(self) -> None:
        """Discard the unread bytes, because they are never handled."""
        if self.view is not self._buffers.shared:
            self._buffers.release(self.view)
        self._clear()

    def make_room(self, *, is_blocked: bool) -> bool:
        """Make room for the next read; return False if there is none.

        is_blocked: the next frame must wait, even if it is complete. The buffer then does not grow.
        """
        if self.start == self.end:
            if self.view is not self._buffers.shared and self.view is not _NO_BUFFER:
                self._is_sending_large = self.end > RECEIVE_BUFFER_BYTES
                self._buffers.release(self.view)
            self._clear()
            return True
        self.own()
        missing = 0 if is_blocked else self._missing_bytes()
        if len(self.view) - self.end < RECEIVE_ROOM_BYTES_MIN:
            self._move_to_front(missing, is_blocked=is_blocked)
        self._read_end = len(self.view)
        if missing > RECEIVE_ROOM_BYTES_MIN:
            self._read_end = min(self.end + missing, self._read_end)
        return self._read_end > self.end

    def _clear(self) -> None:
        self.view = _NO_BUFFER
        self.start = self.end = 0

    def _missing_bytes(self) -> int:
        """Return how many bytes of the next frame are missing; 0 if its size is unknown."""
        size = self.next_size()
        return 0 if size is None else max(0, self.start + _SIZE_BYTES + size - self.end)

    def _move_to_front(self, missing: int, *, is_blocked: bool) -> None:
        """Move the unread bytes to the front, into a buffer of up to twice the size if the next frame does not fit."""
        unread = self.end - self.start
        wanted = unread + max(RECEIVE_ROOM_BYTES_MIN, missing)
        if wanted > len(self.view) and not is_blocked:
            larger = self._buffers.find_larger(len(self.view))
            if larger is None:
                larger = memoryview(bytearray(min(wanted, 2 * len(self.view))))
            larger[:unread] = self.view[self.start : self.end]
            if len(self.view) == RECEIVE_BUFFER_BYTES:
                # A buffer between the usual size and that of the frame would be too small for the next frame too.
                self._buffers.release(self.view)
            self.view = larger
        elif self.start > 0:
            self.view[:unread] = self.view[self.start : self.end]
        self.start, self.end = 0, unread
