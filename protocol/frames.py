"""How a stream is cut into frames, and its one declared error: what came is not what Kafka's protocol allows there."""

# The size in front of every request and response: a signed 32-bit integer that does not count itself.
FRAME_SIZE_BYTES = 4


class FrameError(Exception):
    """The bytes do not decode; the connection they came by is closed, and no other."""
