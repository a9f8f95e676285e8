"""The size of a frame, and the error for bytes that are not a valid frame."""

# The size before every request and response: a signed 32-bit integer, its own bytes not included.
FRAME_SIZE_BYTES = 4


class FrameError(Exception):
    """The bytes do not decode. The broker closes the connection that they were received on."""
