"""The receive buffers of all connections of a node.

Rules:
- A connection without unread bytes has no buffer. Its next read goes into `shared`, which all connections use: an event
  loop hands a read to its connection before it reads from the next socket.
- A connection with unread bytes (an incomplete frame, or requests that must wait) owns a buffer. It calls `claim` for
  the shared one, which replaces it for the others, so that the unread bytes are not copied.
- A buffer is released when its connection has no unread bytes. A few are kept for the next connection.
"""

from __future__ import annotations

from typing import Final

# Bytes read ahead: the usual five batches of 16 KiB in flight take one system call.
RECEIVE_BUFFER_BYTES: Final = 256 * 1024
# Released buffers that are kept: 4 MiB, for as many connections that send frames in pieces at the same time.
_KEPT_MAX: Final = 16
# A buffer that grew for a large frame is kept up to this size, so that the next large frame need not allocate one.
LARGE_BUFFER_BYTES_KEPT: Final = 4 * 1024 * 1024
# Bytes of such buffers that are kept; the oldest are freed first.
_LARGE_BYTES_KEPT_MAX: Final = 2 * LARGE_BUFFER_BYTES_KEPT


class ReceiveBuffers:
    """The shared buffer, and the released ones.

    shared: the buffer for the next read of any connection without unread bytes.
    """

    __slots__ = ("_kept", "_large", "_large_bytes", "shared")

    def __init__(self) -> None:
        """Allocate the shared buffer. Its pages take no memory before they are written."""
        self._kept: list[memoryview] = []
        self._large: list[memoryview] = []
        self._large_bytes = 0
        self.shared = memoryview(bytearray(RECEIVE_BUFFER_BYTES))

    @property
    def kept_bytes(self) -> int:
        """The bytes of the released buffers that are kept."""
        return len(self._kept) * RECEIVE_BUFFER_BYTES + self._large_bytes

    def claim(self) -> None:
        """Leave the shared buffer to the calling connection, and share another one from now on."""
        self.shared = self._kept.pop() if self._kept else memoryview(bytearray(RECEIVE_BUFFER_BYTES))

    def release(self, buffer: memoryview) -> None:
        """Take back the buffer of a connection. No effect on the empty buffer."""
        size = len(buffer)
        if size == RECEIVE_BUFFER_BYTES:
            if len(self._kept) < _KEPT_MAX:
                self._kept.append(buffer)
        elif 0 < size <= LARGE_BUFFER_BYTES_KEPT:
            self._large.append(buffer)
            self._large_bytes += size
            while self._large_bytes > _LARGE_BYTES_KEPT_MAX:
                self._large_bytes -= len(self._large.pop(0))

    def find_larger(self, size: int) -> memoryview | None:
        """Return a kept buffer of more than size bytes for the calling connection to own, or None."""
        for index in reversed(range(len(self._large))):
            if len(self._large[index]) > size:
                buffer = self._large.pop(index)
                self._large_bytes -= len(buffer)
                return buffer
        return None
