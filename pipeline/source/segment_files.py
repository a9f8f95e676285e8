"""The segment files of a folder: of a broker's log.dirs, of one partition, or one file.

What is no partition's folder is left alone (checkpoints, folders of deleted and stray partitions), and in a partition's
folder everything but its .log files (indexes, snapshots, .deleted, .cleaned, .swap).
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
    """A segment file, as large as it was when it was looked for."""

    topic: str
    partition: int
    base_offset: int
    path: str
    size: int


# Segments of each partition, in the order of their offsets.
PartitionSegments = dict[PartitionName, list[Segment]]


def find_segments(path: str, is_wanted: Callable[[str], bool]) -> PartitionSegments:
    """Return the segments of the topics that are wanted; path may be a pattern of the shell.

    A partition that was moved between folders is in both for a while: its segments are told once each, the larger file
    of two. Raises BadOption.
    """
    found: dict[PartitionName, dict[int, Segment]] = {}
    for folder_or_file in _matches(path):
        try:
            for segment in _segments_at(folder_or_file):
                name = PartitionName(segment.topic, segment.partition)
                if is_wanted(segment.topic):
                    segments = found.setdefault(name, {})
                    known = segments.get(segment.base_offset)
                    if known is None or known.size < segment.size:
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
    # A folder may be given as "." or by a link; its name is that of what it is.
    path = Path(os.path.abspath(path))
    if path.is_file():
        name = partition_of(path.parent.name)
        if name is None or base_offset_of(path.name, LOG_SUFFIX) is None:
            raise BadOption(f"path: {path} is no segment file (topic-partition/{'0' * 20}.log)")
        yield from _segment_of(name, path)
        return
    name = partition_of(path.name)
    if name is not None and any(base_offset_of(entry, LOG_SUFFIX) is not None for entry in os.listdir(path)):
        yield from _segments_in(name, path)
        return
    folders = [(name, path / entry) for entry in sorted(os.listdir(path)) if (name := partition_of(entry)) is not None]
    if not folders:
        raise BadOption(f"path: {path} holds no folder of a partition (topic-partition), and is none")
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
        # Retention has taken it since the folder was listed.
        return
    # Told here, in one line, and not by a task in the middle of the job.
    if not os.access(path, os.R_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), str(path))
    yield Segment(name.topic_name, name.partition, base_offset, str(path), size)
