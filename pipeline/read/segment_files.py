"""The segment files of a path: a log directory of a broker, the folder of a partition, or one file.

Ignored: in a log directory everything but partition folders (checkpoints, folders of deleted and stray partitions); in
a partition folder everything but .log files (indexes, snapshots, .deleted, .cleaned, .swap).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...storage.log_files import LOG_SUFFIX, PartitionName, base_offset_of, partition_of
from ..bad_option import BadOption
from .file_store import LOCAL_FILES, Listing
from .stores import Store, store_of


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment file. size: in bytes, when the file was listed. modified_ms: milliseconds since the epoch.

    neighbours: the names in its folder; None if they were not listed, and may exist or not.
    """

    topic: str
    partition: int
    base_offset: int
    path: str
    size: int
    modified_ms: float = 0.0
    store: Store = LOCAL_FILES
    neighbours: frozenset[str] | None = None

    @property
    def folder(self) -> str:
        """The folder of the partition."""
        return os.path.dirname(self.path)

    def path_of(self, suffix: str) -> str:
        """Return the path of another file of the segment."""
        return self.path.removesuffix(LOG_SUFFIX) + suffix

    def may_have(self, suffix: str) -> bool:
        """Whether another file of the segment was listed, or may exist."""
        return self.neighbours is None or os.path.basename(self.path_of(suffix)) in self.neighbours


# Segments of each partition, in the order of their offsets.
PartitionSegments = dict[PartitionName, list[Segment]]


def find_segments(
    path: str, is_wanted: Callable[[str], bool], storage_attempts: int | None = None
) -> PartitionSegments:
    """Return the segments of the wanted topics. path: may be a shell pattern or a URI. Raises BadOption.

    storage_attempts: of each request to an object store; default: of the environment. During a move between log
    directories a partition is in both. The larger file of each segment is returned.
    """
    store, place = store_of("path", path, storage_attempts)
    found: dict[PartitionName, dict[int, Segment]] = {}
    try:
        for segment in _FolderSearch(store, store.list_files(place)).segments(place):
            if is_wanted(segment.topic):
                segments = found.setdefault(PartitionName(segment.topic, segment.partition), {})
                other = segments.get(segment.base_offset)
                if other is None or other.size < segment.size:
                    segments[segment.base_offset] = segment
    except OSError as error:
        raise BadOption(f"path: {error.filename} cannot be read: {error.strerror}") from None
    return {name: [segments[base] for base in sorted(segments)] for name, segments in sorted(found.items())}


@dataclass(frozen=True, slots=True)
class _FolderSearch:
    """Finds segment files in the listed files of a store."""

    store: Store
    listing: Listing

    def segments(self, place: str) -> Iterator[Segment]:
        """Yield the segments at all paths that place stands for."""
        roots = self.listing.roots()
        if not roots:
            raise BadOption(f"path: there is no {place}")
        for root in roots:
            yield from self._segments_at(root)

    def _segments_at(self, path: str) -> Iterator[Segment]:
        if self.listing.is_file(path):
            folder, file_name = os.path.split(path)
            name = partition_of(os.path.basename(folder))
            if name is None or base_offset_of(file_name, LOG_SUFFIX) is None:
                raise BadOption(f"path: {path} is not a segment file (topic-partition/{'0' * 20}.log)")
            yield from self._segments_in(name, folder, {file_name})
            return
        name = partition_of(os.path.basename(path))
        entries = self.listing.names(path)
        if name is not None and any(base_offset_of(entry, LOG_SUFFIX) is not None for entry in entries):
            yield from self._segments_in(name, path)
            return
        folders = [(name, f"{path}/{entry}") for entry in entries if (name := partition_of(entry)) is not None]
        if not folders:
            raise BadOption(f"path: {path} neither is nor contains the folder of a partition (topic-partition)")
        for name, folder in folders:
            yield from self._segments_in(name, folder)

    def _segments_in(self, name: PartitionName, folder: str, only: set[str] | None = None) -> Iterator[Segment]:
        entries = self.listing.names(folder)
        neighbours = frozenset(entries) if self.listing.is_complete else None
        for entry in entries if only is None else only:
            base_offset = base_offset_of(entry, LOG_SUFFIX)
            path = f"{folder}/{entry}"
            # None: retention has deleted the file since the folder was listed.
            file = None if base_offset is None else self.listing.find_file(path)
            if base_offset is not None and file is not None:
                yield Segment(*name, base_offset, path, *file, self.store, neighbours)
