"""What of the files is safe, and what may be left of them when the machine stops.

Two things become safe apart from one another: the bytes of a file, by a sync of the file, and the names in a folder, by
a sync of the folder. Until then a power loss may take them back to any moment since the last sync. Stricter than most
file systems, and what POSIX promises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Generic, TypeVar

# Disks write whole sectors; one may be missing although later ones are there.
_SECTOR_BYTES = 512

N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A file grew from one size to another, or was cut, by these bytes."""

    from_size: int
    to_size: int
    cut: bytes = b""


class FileSafety:
    """The changes of one file that are not yet safe; what it held before can be worked out from what it holds now."""

    __slots__ = (
        "_changes",
        "_done_count",
        "_failed_from",
        "_failed_to",
        "_is_sealed",
        "_is_size_safe",
        "physical_size",
    )

    def __init__(self) -> None:
        """Start with a file of which all is safe."""
        self._changes: list[SizeChange] = []
        # How many changes were made safe and forgotten: with it, a mark is a number that never changes its meaning.
        self._done_count = 0
        self._is_sealed = False
        # What was unsafe when a sync failed: the system takes it for written, so no later sync makes it safe.
        self._failed_from = self._failed_to = 0
        self._is_size_safe = True
        self.physical_size = 0

    def grow(self, from_size: int, to_size: int) -> None:
        """Note bytes that were appended."""
        last = self._changes[-1] if self._changes and not self._is_sealed else None
        if last is not None and not last.cut and last.to_size == from_size:
            self._changes[-1] = SizeChange(last.from_size, to_size)
        else:
            self._changes.append(SizeChange(from_size, to_size))
        self._is_sealed = False

    def cut(self, from_size: int, to_size: int, cut: bytes) -> None:
        """Note that the file was truncated, and what it lost."""
        if to_size < from_size:
            self._changes.append(SizeChange(from_size, to_size, cut))
        if self.physical_size > to_size:
            self._is_size_safe = False
        self.physical_size = to_size
        self._failed_from, self._failed_to = min(self._failed_from, to_size), min(self._failed_to, to_size)

    def preallocate(self, size: int) -> None:
        """Note that the file takes up size bytes, of which the last hold nothing."""
        if size > self.physical_size:
            self.physical_size = size
            self._is_size_safe = False

    def mark(self) -> int:
        """Return what names the state as it is now; a sync that begins now makes this safe."""
        self._is_sealed = True
        return self._done_count + len(self._changes)

    def make_safe(self, mark: int, *, is_written_again: bool = False) -> None:
        """Note that a sync that began at mark is done.

        is_written_again: it wrote everything once more, what failed before included.
        """
        if is_written_again:
            self._failed_from = self._failed_to = 0
        count = max(0, mark - self._done_count)
        del self._changes[:count]
        self._done_count += count
        self._is_size_safe = True

    def fail_sync(self, mark: int) -> None:
        """Note that a sync that began at mark failed: what it should have made safe is so only when written anew."""
        for change in self._changes[: max(0, mark - self._done_count)]:
            if not change.cut:
                start, end = self._failed_from, self._failed_to
                self._failed_from = min(start, change.from_size) if end > start else change.from_size
                self._failed_to = max(end, change.to_size)

    @property
    def has_failed(self) -> bool:
        """Whether a sync failed to make something safe that was not written again."""
        return self._failed_to > self._failed_from

    def after_power_loss(self, content: bytes, random: Random) -> bytes:
        """Return what may be left of a file that holds content."""
        changes = self._changes
        kept_count = random.choice((0, len(changes), random.randint(0, len(changes))))
        left = content
        for change in reversed(changes[kept_count:]):
            left = left + change.cut if change.cut else left[: change.from_size]
        safe_size = min((min(change.from_size, change.to_size) for change in changes), default=len(content))
        if kept_count < len(changes) and not changes[kept_count].cut:
            left = _torn(left, content, changes, kept_count, random)
        left = _with_missing_sector(left, min(safe_size, len(left)), random)
        if self.has_failed and random.random() < 0.5:
            end = min(self._failed_to, len(left))
            left = left[: self._failed_from] + bytes(max(0, end - self._failed_from)) + left[end:]
        if self._is_size_safe or random.random() < 0.5:
            left += bytes(max(0, self.physical_size - len(left)))
        return left


def _torn(left: bytes, content: bytes, changes: list[SizeChange], index: int, random: Random) -> bytes:
    """Return left with the first bytes of the change at index, which made the file grow, perhaps with zeros behind."""
    for change in reversed(changes[index + 1 :]):
        content = content + change.cut if change.cut else content[: change.from_size]
    grown = content[len(left) :]
    size = random.randint(0, len(grown))
    zeros = bytes(len(grown) - size) if random.random() < 0.25 else b""
    return left + grown[:size] + zeros


def _with_missing_sector(left: bytes, safe_size: int, random: Random) -> bytes:
    """Return left, perhaps with zeros in one sector of what was not safe."""
    if len(left) == safe_size or random.random() >= 0.25:
        return left
    start = random.randrange(safe_size, len(left)) // _SECTOR_BYTES * _SECTOR_BYTES
    end = min(start + _SECTOR_BYTES, len(left))
    start = max(start, safe_size)
    return left[:start] + bytes(end - start) + left[end:]


@dataclass(slots=True)
class Directory(Generic[N]):
    """The names in a folder: as they are, as they were when it was synced, and the changes since, in their order.

    A change sets names, or takes them away (None), all at once.
    """

    entries: dict[str, N] = field(default_factory=dict[str, N])
    safe: dict[str, N] = field(default_factory=dict[str, N])
    changes: list[dict[str, N | None]] = field(default_factory=list[dict[str, N | None]])

    def change(self, change: dict[str, N | None]) -> None:
        """Add and remove directory entries, which are not durable yet."""
        self.changes.append(change)
        _apply(self.entries, change)

    def make_safe(self) -> None:
        """Note that the folder was synced."""
        self.safe = dict(self.entries)
        self.changes.clear()

    def mapped(self, node_of: Callable[[N], N]) -> Directory[N]:
        """Return the same with other nodes."""
        return Directory(
            {name: node_of(node) for name, node in self.entries.items()},
            {name: node_of(node) for name, node in self.safe.items()},
            [{name: node and node_of(node) for name, node in change.items()} for change in self.changes],
        )

    def after_power_loss(self, random: Random) -> dict[str, N]:
        """Return the names that may be left: those of some moment since the last sync."""
        count = len(self.changes)
        left = dict(self.safe)
        for change in self.changes[: random.choice((0, count, random.randint(0, count)))]:
            _apply(left, change)
        return left


def _apply(entries: dict[str, N], change: dict[str, N | None]) -> None:
    for name, node in change.items():
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node
