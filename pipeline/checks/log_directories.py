"""The files beside the segments of a partition: checkpoints of its log directory, and the names in its folder.

A checkpoint that is missing or damaged counts as empty, as at the start of Kafka. A partition is left out if its
segments are of several folders, or only some of a folder: its files then say nothing about the chosen segments.
Source: LogManager.loadLogs and CheckpointFile, Kafka 4.3.0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...storage.checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    decode_leader_epochs,
    decode_offsets,
)
from ...storage.corrupt_file import CorruptFileError
from ...storage.log_files import LOG_SUFFIX, PartitionName, base_offset_of, partition_of
from ..read.file_store import LocalFiles
from ..read.options import LogOptions
from ..read.segment_files import PartitionSegments, Segment
from ..read.stored_listing import log_directories_of
from ..read.stores import Store, store_of

_ABSENT = (FileNotFoundError, PermissionError, CorruptFileError)

# A broker with partitions of this topic moves segments to a tier of remote storage.
_REMOTE_LOG_METADATA = "__remote_log_metadata"

LeaderEpochs = list[tuple[int, int]]
_Offsets = dict[PartitionName, int]


@dataclass(frozen=True, slots=True)
class LogDirectory:
    """The checkpoints of a log directory. is_clean: it has the marker of a clean shutdown.

    has_remote_storage: segments that are not there can be in remote storage.
    """

    high_watermarks: _Offsets = field(default_factory=dict[PartitionName, int])
    recovery_points: _Offsets = field(default_factory=dict[PartitionName, int])
    log_starts: _Offsets = field(default_factory=dict[PartitionName, int])
    is_clean: bool = False
    has_remote_storage: bool = False


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """All segments of a partition's folder. names: of all its files. leader_epochs: epochs with their start offsets."""

    name: PartitionName
    segments: list[Segment]
    names: frozenset[str]
    directory: LogDirectory
    leader_epochs: LeaderEpochs

    @property
    def log_start(self) -> int:
        """The log start offset."""
        return max(self.segments[0].base_offset, self.directory.log_starts.get(self.name, 0))


def partition_files(found: PartitionSegments, options: LogOptions) -> Iterator[PartitionFiles]:
    """Yield the files of the partitions that have all segments of one folder. Raises OSError and BadOption.

    options: with which the segments were found.
    """
    directories: dict[str, LogDirectory] = {}
    for name, segments in found.items():
        folders = {segment.folder for segment in segments}
        if len(folders) > 1:
            continue
        first, folder = segments[0], segments[0].folder
        names = first.neighbours
        if names is None:
            names = frozenset(first.store.list_files(folder).names(folder))
        bases = {base for entry in names if (base := base_offset_of(entry, LOG_SUFFIX)) is not None}
        if bases - {segment.base_offset for segment in segments}:
            continue
        place = os.path.dirname(folder)
        if place not in directories:
            directories[place] = _read_directory(first.store, place, options)
        epochs = _read_leader_epochs(first.store, folder) if LEADER_EPOCH_CHECKPOINT in names else []
        yield PartitionFiles(name, segments, names, directories[place], epochs)


def _read_directory(store: Store, place: str, options: LogOptions) -> LogDirectory:
    return LogDirectory(
        _read_offsets(store, place, REPLICATION_OFFSET_CHECKPOINT),
        _read_offsets(store, place, RECOVERY_POINT_CHECKPOINT),
        _read_offsets(store, place, LOG_START_OFFSET_CHECKPOINT),
        is_clean=_exists(store, f"{place}/{CLEAN_SHUTDOWN}"),
        has_remote_storage=_has_remote_storage(store, place, options),
    )


def _has_remote_storage(store: Store, place: str, options: LogOptions) -> bool:
    if isinstance(store, LocalFiles):
        names = map(partition_of, store.list_files(place).names(place))
        return any(name is not None and name.topic_name == _REMOTE_LOG_METADATA for name in names)
    assert options.path is not None, "the options are those of files"
    _, path = store_of("path", options.path)
    # The other partitions of a log directory are not listed if the path is below it.
    return path.count("/") > place.count("/") or place in log_directories_of(options, _REMOTE_LOG_METADATA)


def _exists(store: Store, path: str) -> bool:
    try:
        store.read(path)
    except _ABSENT:
        return False
    return True


def _read_offsets(store: Store, place: str, file_name: str) -> _Offsets:
    try:
        return decode_offsets(store.read(f"{place}/{file_name}"))
    except _ABSENT:
        return {}


def _read_leader_epochs(store: Store, folder: str) -> LeaderEpochs:
    try:
        return decode_leader_epochs(store.read(f"{folder}/{LEADER_EPOCH_CHECKPOINT}"))
    except _ABSENT:
        return []
