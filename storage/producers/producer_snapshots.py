"""The producer snapshot files of a partition.

* The snapshot at an offset has the producer state after all batches before that offset. Loading reads the newest
  snapshot and replays only the batches from its offset on.
* Snapshots are written when a segment is rolled, at its base offset, and at the log end when the log is closed or
  loaded.
* A snapshot is never overwritten, and none is written before an existing one.
* A damaged snapshot is deleted, and the one before it is used. One after the log end is deleted at loading.
* The snapshot at the base offset of a deleted segment is deleted with it.
Source: ProducerStateManager.takeSnapshot, loadFromSnapshot and removeStraySnapshots, Kafka 4.3.0.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from ..corrupt_file import CorruptFileError
from ..file_systems.file_system import FileSystem, read_whole
from ..log_files import DELETED_SUFFIX, SNAPSHOT_SUFFIX, base_offset_of, segment_path
from .producer_snapshot import decode_snapshot, encode_snapshot
from .producer_state_entry import ProducerStateEntry

NO_OFFSET = -1


@dataclass(frozen=True, slots=True)
class ProducerSnapshot:
    """The producer entries at an offset."""

    offset: int
    entries: list[ProducerStateEntry]


class ProducerSnapshots:
    """The snapshot files in one partition folder."""

    __slots__ = ("_file_system", "_folder", "_offsets")

    def __init__(self, file_system: FileSystem, folder: str) -> None:
        """List the snapshots in folder."""
        self._file_system = file_system
        self._folder = folder
        found = (base_offset_of(name, SNAPSHOT_SUFFIX) for name in file_system.names_in(folder))
        self._offsets = sorted(offset for offset in found if offset is not None)

    @property
    def latest_offset(self) -> int:
        """The offset of the newest snapshot; NO_OFFSET without one."""
        return self._offsets[-1] if self._offsets else NO_OFFSET

    def path(self, offset: int) -> str:
        """Return the path of the snapshot at offset."""
        return segment_path(self._folder, offset, SNAPSHOT_SUFFIX)

    def write(self, offset: int, entries: Iterable[ProducerStateEntry], *, log_start_offset: int = 0) -> None:
        """Write the snapshot at offset, unless one exists there or later.

        Without any snapshot, none is written at the log start: a log whose records are all deleted loses its producers
        when it is closed, as in Kafka.
        Source: ProducerStateManager.onLogStartOffsetIncremented and takeSnapshot, Kafka 4.3.0.
        """
        if offset > (self.latest_offset if self._offsets else log_start_offset):
            self.write_file(offset, entries)
            self.add(offset)

    def write_file(self, offset: int, entries: Iterable[ProducerStateEntry], *, is_synced: bool = False) -> None:
        """Write a snapshot file without adding it to the list. Any thread."""
        self._file_system.replace(self.path(offset), encode_snapshot(entries), is_synced=is_synced)

    def add(self, offset: int) -> None:
        """Add a written snapshot file to the list."""
        insort(self._offsets, offset)

    def load_newest(self, offset_max: int) -> ProducerSnapshot | None:
        """Return the newest undamaged snapshot up to offset_max; deletes the damaged ones it meets."""
        for offset in [offset for offset in reversed(self._offsets) if offset <= offset_max]:
            try:
                return ProducerSnapshot(offset, decode_snapshot(read_whole(self._file_system, self.path(offset))))
            except CorruptFileError:
                self.delete(offset)
        return None

    def remove(self, is_removed: Callable[[int], bool]) -> None:
        """Delete the snapshots whose offset satisfies is_removed."""
        for offset in [offset for offset in self._offsets if is_removed(offset)]:
            self.delete(offset)

    def delete(self, offset: int) -> None:
        """Delete the snapshot at offset, if it exists."""
        if offset in self._offsets:
            self._file_system.delete(self.path(offset))
            self._offsets.remove(offset)

    def remove_stray(self, base_offsets: Collection[int]) -> None:
        """Delete the snapshots at no segment's base offset, except the newest if it is after all segments."""
        newest_base = max(base_offsets, default=NO_OFFSET)
        latest = self.latest_offset
        self.remove(lambda offset: offset not in base_offsets and not (offset == latest and offset > newest_base))

    def rename_for_deletion(self, offset: int) -> list[str]:
        """Add .deleted to the name of the snapshot at offset, and return the new path, if it existed."""
        if offset not in self._offsets:
            return []
        path = self.path(offset)
        self._file_system.rename(path, path + DELETED_SUFFIX)
        self._offsets.remove(offset)
        return [path + DELETED_SUFFIX]

    def sync_steps(self) -> list[Callable[[], None]]:
        """Return the steps that sync the newest snapshot."""
        if not self._offsets:
            return []
        return [self._file_system.open(self.path(self.latest_offset)).begin_sync()]
