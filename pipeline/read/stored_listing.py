"""The files of a log as one listing found them, in a file that replaces every later listing of the same job.

- All passes over the log read the same files up to the same sizes, although files are added and grow.
- A file that is deleted meanwhile is missing for every later pass, and find_deleted reports it.
- The option `listing` names the file. It belongs to the job, which deletes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from .options import LISTING, LogOptions, parse_options
from .segment_files import PartitionSegments, Segment, find_segments
from .stores import store_of


def with_listing(options: Mapping[str, str], file: Path) -> dict[str, str]:
    """List the files of a log into a file, and return options of the data source that read them from it.

    Returns the options unchanged for a broker. Raises BadOption.
    """
    parsed = parse_options(options)
    if parsed.path is None:
        return dict(options)
    segments = [segment for segments in present_segments(parsed).values() for segment in segments]
    content = {
        "segments": [[*_name(one), one.base_offset, one.path, one.size, one.modified_ms] for one in segments],
        "neighbours": {
            one.folder: None if one.neighbours is None else sorted(one.neighbours) for one in segments
        },
    }
    file.write_text(json.dumps(content))
    return {**options, LISTING: str(file)}


def present_segments(options: LogOptions) -> PartitionSegments:
    """Return the present segments of the wanted topics. Raises BadOption."""
    assert options.path is not None, "the options are those of files"
    return find_segments(options.path, options.is_wanted, options.storage_attempts, tier=options.tier)


def segments_of(options: LogOptions) -> PartitionSegments:
    """Return the segments of the wanted topics: those of the listing, or the present ones. Raises BadOption."""
    if options.listing is None:
        return present_segments(options)
    assert options.path is not None, "the options are those of files"
    store, _ = store_of("path", options.path, options.storage_attempts)
    tier = store if options.tier is None else store_of("tier", options.tier, options.storage_attempts)[0]
    content = json.loads(Path(options.listing).read_text())
    neighbours = {
        folder: None if names is None else frozenset(names) for folder, names in content["neighbours"].items()
    }
    found: PartitionSegments = {}
    for topic, partition, base_offset, path, size, modified_ms in content["segments"]:
        if options.is_wanted(topic):
            around = neighbours[os.path.dirname(path)]
            segment = Segment(topic, partition, base_offset, path, size, modified_ms, store, around)
            segment = replace(segment, store=tier) if segment.is_tiered else segment
            found.setdefault(PartitionName(topic, partition), []).append(segment)
    return found


@dataclass(frozen=True, slots=True)
class DeletedFiles:
    """The deleted files of a partition: their number, and the range of their offsets.

    end_offset: not included; None if the last file was deleted, whose end is unknown.
    """

    topic: str
    partition: int
    files: int
    start_offset: int
    end_offset: int | None

    def __str__(self) -> str:
        """Return the files in words."""
        files = "1 file" if self.files == 1 else f"{self.files:,} files"
        end = "on" if self.end_offset is None else f"to {self.end_offset - 1}"
        return f"{files} of {self.topic}-{self.partition}, from offset {self.start_offset} {end}"


def find_deleted(options: LogOptions) -> list[DeletedFiles]:
    """Return the listed files that are not there any more, or were replaced by shorter ones. Raises BadOption."""
    try:
        present = present_segments(options)
    except BadOption:
        if _is_there(options):
            raise
        present = {}
    sizes = {segment.path: segment.size for segments in present.values() for segment in segments}
    found: list[DeletedFiles] = []
    for name, segments in segments_of(options).items():
        bases = [one.base_offset for one in segments if sizes.get(one.path, -1) < one.size]
        if bases:
            after = (one.base_offset for one in segments if one.base_offset > bases[-1])
            found.append(DeletedFiles(*name, len(bases), bases[0], min(after, default=None)))
    return found


def _is_there(options: LogOptions) -> bool:
    """Whether the path of a log still has a file or a folder, or the store cannot say so."""
    assert options.path is not None, "the options are those of files"
    store, place = store_of("path", options.path, options.storage_attempts)
    try:
        return bool(store.list_files(place).roots())
    except OSError:
        return True


def _name(segment: Segment) -> tuple[str, int]:
    return segment.topic, segment.partition
