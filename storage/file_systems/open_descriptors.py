"""The files of the operating system that are open: as many as are allowed, those used last.

A broker with 10,000 partitions has ten times as many files as a process may have open, and uses a few at a time.
"""

from __future__ import annotations

import os
import resource
from errno import EMFILE, ENFILE

# A third of what the process may have open: as much again for a second folder of logs, and for the connections.
_SHARE_OF_PROCESS = 3

# More than any test writes to at a time; a descriptor that is open costs the kernel about a kilobyte.
_OPEN_MAX = 1000

# Fewer would only open and close; a process that is allowed less than this altogether fails with a clear error.
_OPEN_MIN = 8

# Sorting by age is worth it for this part of them.
_CLOSED_AT_ONCE = 4

# What the umask leaves of it, as for any program.
_MODE = 0o666


class Descriptor:
    """One open file, closed when nobody holds it any more.

    So neither a read nor a sync in another thread can meet a number that was closed, or given to another file, when
    its file falls out of the cache.
    """

    __slots__ = ("is_writable", "last_use", "number")

    def __init__(self, path: str, flags: int) -> None:
        """Open the file at path; raises OSError."""
        # The error of an open that fails must not be followed by one of __del__.
        self.number = -1
        self.number = os.open(path, flags, _MODE)
        self.is_writable = bool(flags & os.O_RDWR)
        self.last_use = 0

    def __del__(self) -> None:
        """Close it."""
        if self.number >= 0:
            os.close(self.number)


class OpenDescriptors:
    """The descriptors of many owners, of which those unused for longest go when there are too many.

    Threads may race here: at worst a file is opened twice, or one more is closed.
    """

    def __init__(self, open_max: int | None = None) -> None:
        """Start with none.

        open_max: how many are kept; by default a share of what the process may have open.
        """
        self._open_max = _allowed_descriptors() if open_max is None else open_max
        self._open: dict[object, Descriptor] = {}
        self._uses = 0

    def __len__(self) -> int:
        """Return how many are kept open."""
        return len(self._open)

    def find(self, owner: object) -> Descriptor | None:
        """Return the descriptor of owner, if it is open; it stays open as long as the caller holds it."""
        descriptor = self._open.get(owner)
        if descriptor is not None:
            self._uses += 1
            descriptor.last_use = self._uses
        return descriptor

    def open(self, owner: object, path: str, flags: int) -> Descriptor:
        """Open the file at path for owner, in place of what owner had open; raises OSError."""
        try:
            descriptor = Descriptor(path, flags)
        except OSError as error:
            if error.errno not in (EMFILE, ENFILE) or not self._open:
                raise
            # Connections have taken more than was left for them; files can be opened again.
            self._open.clear()
            descriptor = Descriptor(path, flags)
        self._uses += 1
        descriptor.last_use = self._uses
        if len(self._open) >= self._open_max and owner not in self._open:
            self._close_oldest()
        self._open[owner] = descriptor
        return descriptor

    def _close_oldest(self) -> None:
        by_age = sorted(self._open.items(), key=lambda item: item[1].last_use)
        for owner, _ in by_age[: max(1, len(by_age) // _CLOSED_AT_ONCE)]:
            self._open.pop(owner, None)

    def close(self, owner: object) -> None:
        """Close what owner has open, if anything."""
        self._open.pop(owner, None)


def _allowed_descriptors() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _OPEN_MAX
    return max(_OPEN_MIN, min(_OPEN_MAX, soft // _SHARE_OF_PROCESS))
