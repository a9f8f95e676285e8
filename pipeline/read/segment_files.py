"""The segment files of a path: a log directory of a broker, the folder of a partition, or one file.

Ignored: in a log directory everything but partition folders (checkpoints, folders of deleted and stray partitions); in
a partition folder everything but .log files (indexes, snapshots, .deleted, .cleaned, .swap).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from errno import EACCES
from pathlib import Path

from ...storage.log_files import LOG_SUFFIX, PartitionName, base_offset_of, partition_of
from ..bad_option import BadOption


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment file. size: in bytes, when the file was listed."""

    topic: str
    partition: int
    base_offset: int
    path: str
    size: int


# Segments of each partition, in the order of their offsets.
PartitionSegments = dict[PartitionName, list[Segment]]


def find_segments(path: str, is_wanted: Callable[[str], bool]) -> PartitionSegments:
    """Return the segments of the wanted topics. path: may be a shell pattern. Raises BadOption.

    During a move between log directories a partition is in both. The larger file of each segment is returned.
    """
    found: dict[PartitionName, dict[int, Segment]] = {}
    for folder_or_file in _matches(path):
        try:
            for segment in _segments_at(folder_or_file):
                name = PartitionName(segment.topic, segment.partition)
                if is_wanted(segment.topic):
                    segments = found.setdefault(name, {})
                    other = segments.get(segment.base_offset)
                    if other is None or other.size < segment.size:
                        segments[segment.base_offset] = segment
        except OSError as error:
            raise BadOption(f"path: {error.filename} cannot be read: {error.strerror}") from None
    return {name: [segments[base] for base in sorted(segments)] for name, segments in sorted(found.items())}


def _matches(path: str) -> list[Path]:
    if os.path.exists(path):
        return [Path(path)]
    matches = sorted(glob.glob(path))
    if not matches:
        raise BadOption(f"path: there is no {path}")
    return [Path(match) for match in matches]


def _segments_at(path: Path) -> Iterator[Segment]:
    # The name of the folder is needed even if it is given as ".".
    path = Path(os.path.abspath(path))
    if path.is_file():
        name = partition_of(path.parent.name)
        if name is None or base_offset_of(path.name, LOG_SUFFIX) is None:
            raise BadOption(f"path: {path} is not a segment file (topic-partition/{'0' * 20}.log)")
        yield from _segment_of(name, path)
        return
    name = partition_of(path.name)
    if name is not None and any(base_offset_of(entry, LOG_SUFFIX) is not None for entry in os.listdir(path)):
        yield from _segments_in(name, path)
        return
    folders = [(name, path / entry) for entry in sorted(os.listdir(path)) if (name := partition_of(entry)) is not None]
    if not folders:
        raise BadOption(f"path: {path} neither is nor contains the folder of a partition (topic-partition)")
    for name, folder in folders:
        if folder.is_dir():
            yield from _segments_in(name, folder)


def _segments_in(name: PartitionName, folder: Path) -> Iterator[Segment]:
    for entry in sorted(os.listdir(folder)):
        yield from _segment_of(name, folder / entry)


def _segment_of(name: PartitionName, path: Path) -> Iterator[Segment]:
    base_offset = base_offset_of(path.name, LOG_SUFFIX)
    if base_offset is None:
        return
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        # Retention has deleted the file since the folder was listed.
        return
    # Checked here, so that the error comes before the job starts and is one line.
    if not os.access(path, os.R_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), str(path))
    yield Segment(name.topic_name, name.partition, base_offset, str(path), size)
