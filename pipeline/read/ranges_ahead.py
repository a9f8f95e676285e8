"""The bytes of a file as ranges, one behind another; threads fetch the next ranges while one is decoded.

- At most `ahead` ranges are in memory or requested beside the one that the caller has.
- The first range is short, because nothing is decoded before it has arrived.
- With no range ahead the caller reads by itself, as for a file of this machine, which the system reads ahead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from .file_store import OpenFile

# With three of these ahead, a worker has less in memory than with one piece of a file of this machine.
RANGE_BYTES = 4 * 1024 * 1024
FIRST_RANGE_BYTES = 1024 * 1024


def read_ranges(file: OpenFile, start: int, end: int, range_bytes: int, ahead: int) -> Generator[bytes, None, None]:
    """Yield the bytes of a file from start to end in ranges of at most range_bytes. Raises OSError."""
    if not ahead:
        yield from (file.read_at(first, last - first) for first, last in _ranges(start, end, range_bytes, range_bytes))
        return
    ranges = deque(_ranges(start, end, min(FIRST_RANGE_BYTES, range_bytes), min(RANGE_BYTES, range_bytes)))
    if len(ranges) <= 1:
        yield from (file.read_at(first, last - first) for first, last in ranges)
        return
    pool = ThreadPoolExecutor(ahead)
    try:
        fetched: deque[Future[bytes]] = deque()
        while ranges or fetched:
            while ranges and len(fetched) < ahead:
                first, last = ranges.popleft()
                fetched.append(pool.submit(file.read_at, first, last - first))
            yield fetched.popleft().result()
    finally:
        # The caller closes the file.
        pool.shutdown(cancel_futures=True)


def _ranges(start: int, end: int, first_bytes: int, range_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges from start to end. At most range_bytes are one range."""
    size = first_bytes if end - start > range_bytes else range_bytes
    while start < end:
        yield start, min(start + size, end)
        start, size = start + size, range_bytes
