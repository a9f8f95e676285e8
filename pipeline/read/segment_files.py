"""The segment files of a path: a log directory of a broker, the folder of a partition, one file, or a remote tier.

Ignored: in a log directory everything but partition folders (checkpoints, folders of deleted and stray partitions); in
a partition folder everything but .log files (indexes, snapshots, .deleted, .cleaned, .swap). tier_layouts.py has the
names in a remote tier.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from ...storage.log_files import LOG_SUFFIX, PartitionName, base_offset_of, partition_of
from ..bad_option import BadOption
from .file_store import LOCAL_FILES, Listing
from .stores import Store, store_of
from .tier_layouts import (
    check_manifest,
    manifest_of,
    partition_number_of,
    tier_offset_of,
    tier_partition_of,
    tier_topic_of,
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment file. size: in bytes, when the file was listed. modified_ms: milliseconds since the epoch.

    neighbours: the names in its folder; None if they were not listed, and may exist or not. has_manifest: of Aiven's
    plug-in for tiered storage.
    """

    topic: str
    partition: int
    base_offset: int
    path: str
    size: int
    modified_ms: float = 0.0
    store: Store = LOCAL_FILES
    neighbours: frozenset[str] | None = None
    has_manifest: bool = False

    @property
    def folder(self) -> str:
        """The folder of the partition."""
        return os.path.dirname(self.path)

    @property
    def is_tiered(self) -> bool:
        """Whether the file is of the remote tier of a log."""
        return tier_offset_of(os.path.basename(self.path)) is not None

    def path_of(self, suffix: str) -> str:
        """Return the path of another file of the segment."""
        return self.path.removesuffix(LOG_SUFFIX) + suffix

    def may_have(self, suffix: str) -> bool:
        """Whether another file of the segment was listed, or may exist."""
        return self.neighbours is None or os.path.basename(self.path_of(suffix)) in self.neighbours


# Segments of each partition, in the order of their offsets.
PartitionSegments = dict[PartitionName, list[Segment]]


def find_segments(
    path: str, is_wanted: Callable[[str], bool], storage_attempts: int | None = None, *, tier: str | None = None
) -> PartitionSegments:
    """Return the segments of the wanted topics. path: may be a shell pattern or a URI. Raises BadOption.

    storage_attempts: of each request to an object store; default: of the environment. tier: the path of the remote tier
    of the same log. During a move between log directories a partition is in both, and a segment may be in the log
    directory and in the tier. The larger file of each segment is returned.
    """
    found: dict[PartitionName, dict[int, Segment]] = {}
    for name, place in (("path", path), ("tier", tier)):
        for segment in () if place is None else _segments_of(name, place, is_wanted, storage_attempts):
            segments = found.setdefault(PartitionName(segment.topic, segment.partition), {})
            other = segments.get(segment.base_offset)
            if other is None or other.size < segment.size:
                segments[segment.base_offset] = segment
    return {name: [segments[base] for base in sorted(segments)] for name, segments in sorted(found.items())}


def _segments_of(name: str, path: str, is_wanted: Callable[[str], bool], storage_attempts: int | None) -> list[Segment]:
    """Return the segments of the wanted topics at a path. name: of the option. Raises BadOption."""
    store, place = store_of(name, path, storage_attempts)
    try:
        listing = store.list_files(place)
        segments = [one for one in _FolderSearch(name, store, listing).segments(place) if is_wanted(one.topic)]
        _check_manifests(store, segments)
    except OSError as error:
        raise BadOption(f"{name}: {error.filename} cannot be read: {error.strerror}") from None
    return segments


def _check_manifests(store: Store, segments: list[Segment]) -> None:
    """Raise BadOption for a segment of a tier that is compressed or encrypted. Raises OSError."""
    manifests = [manifest_of(one.path) for one in segments if one.has_manifest]
    if manifests:
        with ThreadPoolExecutor(store.threads) as pool:
            list(pool.map(partial(check_manifest, store), manifests))


class _Found(NamedTuple):
    """A folder with segment files. names: in it. has_manifests: whether Aiven's plug-in wrote it."""

    partition: PartitionName
    path: str
    names: list[str]
    has_manifests: bool = False


@dataclass(frozen=True, slots=True)
class _FolderSearch:
    """Finds segment files in the listed files of a store. option: for the BadOption."""

    option: str
    store: Store
    listing: Listing

    def segments(self, place: str) -> Iterator[Segment]:
        """Yield the segments at all paths that place stands for."""
        roots = self.listing.roots()
        if not roots:
            raise BadOption(f"{self.option}: there is no {place}")
        for root in roots:
            yield from self._segments_at(root)

    def _segments_at(self, path: str) -> Iterator[Segment]:
        if self.listing.is_file(path):
            folder, file_name = os.path.split(path)
            found = self._find_partition(folder)
            if found is None or _offset_of(file_name) is None:
                raise BadOption(f"{self.option}: {path} is not a segment file (topic-partition/{'0' * 20}.log)")
            yield from self._segments_in(found, {file_name})
            return
        found = self._find_partition(path)
        if found is not None and any(_offset_of(name) is not None for name in found.names):
            yield from self._segments_in(found)
            return
        folders = [*self._partitions_in(path), *self._partitions_of_topic(path)]
        if not folders:
            raise BadOption(
                f"{self.option}: {path} neither is nor contains the folder of a partition (topic-partition)"
            )
        for one in folders:
            yield from self._segments_in(one)

    def _find_partition(self, path: str) -> _Found | None:
        """Return the folder at a path if its name is that of a partition, in a log directory or a tier."""
        above, name = os.path.split(path)
        number, topic = partition_number_of(name), tier_topic_of(os.path.basename(above))
        if number is not None and topic is not None:
            return _Found(PartitionName(topic, number), path, self.listing.names(path), has_manifests=True)
        of_log, of_tier = partition_of(name), tier_partition_of(name)
        if of_log is None and of_tier is None:
            return None
        names = self.listing.names(path)
        # A topic id can end like the name of a partition.
        is_tiered = any(tier_offset_of(one) is not None for one in names)
        partition = of_tier if is_tiered else of_log
        return None if partition is None else _Found(partition, path, names)

    def _partitions_in(self, path: str) -> Iterator[_Found]:
        """Yield the folders of partitions in a log directory or a tier."""
        for name in self.listing.names(path):
            folder = f"{path}/{name}"
            of_topic = list(self._partitions_of_topic(folder))
            found = None if of_topic else self._find_partition(folder)
            yield from of_topic if found is None else [found]

    def _partitions_of_topic(self, path: str) -> Iterator[_Found]:
        """Yield the folders of partitions in the folder of a topic, as Aiven's plug-in writes it."""
        if tier_topic_of(os.path.basename(path)) is None:
            return
        for name in self.listing.names(path):
            if partition_number_of(name) is not None:
                found = self._find_partition(f"{path}/{name}")
                assert found is not None, "the names of folder and topic are those of a partition"
                yield found

    def _segments_in(self, folder: _Found, only: set[str] | None = None) -> Iterator[Segment]:
        neighbours = frozenset(folder.names) if self.listing.is_complete else None
        names = frozenset(folder.names)
        for entry in folder.names if only is None else only:
            base_offset = _offset_of(entry)
            path = f"{folder.path}/{entry}"
            if base_offset is None or (folder.has_manifests and manifest_of(entry) not in names):
                continue
            # None: retention has deleted the file since the folder was listed.
            file = self.listing.find_file(path)
            if file is not None:
                segment = Segment(*folder.partition, base_offset, path, *file, self.store, neighbours)
                yield replace(segment, has_manifest=folder.has_manifests)


def _offset_of(file_name: str) -> int | None:
    """Return the base offset of a segment file, of a log directory or a tier."""
    offset = base_offset_of(file_name, LOG_SUFFIX)
    return tier_offset_of(file_name) if offset is None else offset
