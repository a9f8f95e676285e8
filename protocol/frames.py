"""The limits of a frame, and the error for bytes that are not a valid frame."""

# The size before every request and response: a signed 32-bit integer, its own bytes not included.
FRAME_SIZE_BYTES = 4
# Elements of all arrays of one request, and its tagged fields. An element takes more time and memory than its bytes:
# about a microsecond to decode and up to 20 to handle. Kafka has no such limit.
REQUEST_ELEMENTS_MAX = 100_000


class FrameError(Exception):
    """The bytes do not decode. The broker closes the connection that they were received on."""


class TooManyElements(FrameError):
    """A request has more elements than its reader may read."""

    def __init__(self, elements_max: int) -> None:
        """elements_max: the limit."""
        super().__init__(f"a request with more than {elements_max} array elements and tagged fields")


def wrong_size(size: int, bytes_max: int) -> FrameError:
    """Return the error of a frame whose size is negative or above bytes_max."""
    return FrameError(f"a frame of {size} bytes; {bytes_max} are allowed")


def take_elements(left: int, count: int, elements_max: int) -> int:
    """Return how many elements may still be read after count more. Raises TooManyElements."""
    if count > left:
        raise TooManyElements(elements_max)
    return left - count
