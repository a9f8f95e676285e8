"""A cache of open file descriptors that closes the least recently used ones.

A broker with 10,000 partitions has ten times as many files as a process may open, and uses few at a time.
"""

from __future__ import annotations

import os
from errno import EMFILE, ENFILE

from .descriptor_limit import find_descriptor_limit
from .own_folder import FILE_MODE

# The cache uses a third of the process limit. The rest is for a second data folder and for connections.
_SHARE_OF_PROCESS = 3

# More files than any test writes at a time; an open descriptor costs the kernel about a kilobyte.
_OPEN_MAX = 1000

# Descriptors that the cache leaves to files that are opened for a moment only, such as checkpoints and the modules that
# the first request of an API imports.
_LEFT_BY_CACHE = 8

# Descriptors that connections leave to all files, and at most this share of the process limit.
_LEFT_BY_CONNECTIONS = 32
_SHARE_LEFT_BY_CONNECTIONS = 4

# With fewer descriptors every access would reopen a file.
_OPEN_MIN = 8

# A full cache closes a quarter of its descriptors, to sort by age less often.
_CLOSED_AT_ONCE = 4


class Descriptor:
    """An open file descriptor, closed with its last reference.

    A read or sync on another thread holds a reference, so eviction from the cache cannot close its descriptor.
    """

    __slots__ = ("is_writable", "last_use", "number")

    def __init__(self, path: str, flags: int) -> None:
        """Open the file at path; raises OSError."""
        # __del__ also runs after a failed open.
        self.number = -1
        self.number = os.open(path, flags, FILE_MODE)
        self.is_writable = bool(flags & os.O_RDWR)
        self.last_use = 0

    def __del__(self) -> None:
        """Close the descriptor."""
        if self.number >= 0:
            os.close(self.number)


class OpenDescriptors:
    """The cached descriptors, one per owner. Races between threads at worst open a file twice or close one more."""

    def __init__(self, open_max: int | None = None) -> None:
        """open_max: the size of the cache; by default a third of the process limit."""
        self._open_max = _allowed_descriptors() if open_max is None else open_max
        self._open: dict[object, Descriptor] = {}
        self._uses = 0

    def __len__(self) -> int:
        """Return the number of cached descriptors."""
        return len(self._open)

    def find(self, owner: object) -> Descriptor | None:
        """Return the descriptor of owner, if it is cached; it stays open while the caller holds it."""
        descriptor = self._open.get(owner)
        if descriptor is not None:
            self._uses += 1
            descriptor.last_use = self._uses
        return descriptor

    def open(self, owner: object, path: str, flags: int) -> Descriptor:
        """Open the file at path for owner, replacing its cached descriptor; raises OSError."""
        descriptor = self.open_uncached(path, flags)
        if not can_open(_LEFT_BY_CACHE, descriptor.number):
            self._open.clear()
        self._uses += 1
        descriptor.last_use = self._uses
        if len(self._open) >= self._open_max and owner not in self._open:
            self._close_oldest()
        self._open[owner] = descriptor
        return descriptor

    def open_uncached(self, path: str, flags: int) -> Descriptor:
        """Open the file or folder at path for a moment; raises OSError."""
        try:
            return Descriptor(path, flags)
        except OSError as error:
            if error.errno not in (EMFILE, ENFILE) or not self._open:
                raise
            # Connections use more descriptors than planned. The cached files can be opened again.
            self._open.clear()
            return Descriptor(path, flags)

    def _close_oldest(self) -> None:
        by_age = sorted(self._open.items(), key=lambda item: item[1].last_use)
        for owner, _ in by_age[: max(1, len(by_age) // _CLOSED_AT_ONCE)]:
            self._open.pop(owner, None)

    def close(self, owner: object) -> None:
        """Drop the descriptor of owner."""
        self._open.pop(owner, None)


def can_open(count: int, descriptor: int) -> bool:
    """Return whether this process may open that many more descriptors now. descriptor: any open one."""
    opened: list[int] = []
    try:
        for _ in range(count):
            opened.append(os.dup(descriptor))
    except OSError as error:
        if error.errno not in (EMFILE, ENFILE):
            raise
        return False
    finally:
        for duplicate in opened:
            os.close(duplicate)
    return True


def left_by_connections() -> int:
    """Return how many more descriptors the process must be able to open after it has accepted a connection."""
    limit = find_descriptor_limit()
    return _LEFT_BY_CONNECTIONS if limit is None else min(_LEFT_BY_CONNECTIONS, limit // _SHARE_LEFT_BY_CONNECTIONS)


def _allowed_descriptors() -> int:
    limit = find_descriptor_limit()
    return _OPEN_MAX if limit is None else max(_OPEN_MIN, min(_OPEN_MAX, limit // _SHARE_OF_PROCESS))
