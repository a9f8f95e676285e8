"""The files of a log as one listing found them, in an option that replaces every later listing of the same job.

- All passes over the log read the same files up to the same sizes, although files are added and grow.
- A file that is deleted meanwhile is missing for every later pass, and find_deleted reports it.
- The option `listing` has the compressed files themselves, because the driver of a Connect server reads no file of this
  process.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from .options import INTERNAL_TOPICS, LISTING, LogOptions, parse_options
from .segment_files import PartitionSegments, Segment, find_segments
from .stores import store_of

# The characters of an invalid listing in its message.
_SHOWN_MAX = 40


def with_listing(options: Mapping[str, str]) -> dict[str, str]:
    """List the files of a log, and return options of the data source that read exactly them.

    The listing has the internal topics too, of which an audit reads the state of transactions. Returns the options
    unchanged for a broker. Raises BadOption.
    """
    parsed = parse_options(options)
    if parsed.path is None:
        return dict(options)
    found = _present(parsed, lambda topic: parsed.is_wanted(topic) or topic in INTERNAL_TOPICS)
    return _stored(options, found)


def options_of_partitions(options: Mapping[str, str]) -> dict[PartitionName, dict[str, str]]:
    """Return options that read only one partition, for each wanted one that has records. options: with a listing."""
    parsed = parse_options(options)
    listed = _listed(parsed)
    internal = {name: segments for name, segments in listed.items() if name.topic_name in INTERNAL_TOPICS}
    return {
        name: _stored({**options, "topics": name.topic_name}, {**internal, name: segments})
        for name, segments in listed.items()
        if parsed.is_wanted(name.topic_name) and any(one.size for one in segments)
    }


def segments_of(options: LogOptions) -> PartitionSegments:
    """Return the segments of the wanted topics: those of the listing, or the present ones. Raises BadOption."""
    if options.listing is None:
        return _present(options, options.is_wanted)
    return {name: segments for name, segments in _listed(options).items() if options.is_wanted(name.topic_name)}


def log_directories_of(options: LogOptions, topic: str) -> frozenset[str]:
    """Return the log directories with a partition of a topic: those of the listing, or the present ones."""
    found = _present(options, topic.__eq__) if options.listing is None else _listed(options)
    folders = (segments[0].folder for name, segments in found.items() if name.topic_name == topic)
    return frozenset(map(os.path.dirname, folders))


def _present(options: LogOptions, is_wanted: Callable[[str], bool]) -> PartitionSegments:
    assert options.path is not None, "the options are those of files"
    return find_segments(options.path, is_wanted, options.storage_attempts, tier=options.tier)


def _stored(options: Mapping[str, str], found: PartitionSegments) -> dict[str, str]:
    segments = [segment for segments in found.values() for segment in segments]
    content = {
        "segments": [
            [one.topic, one.partition, one.base_offset, one.path, one.size, one.modified_ms] for one in segments
        ],
        "neighbours": {one.folder: None if one.neighbours is None else sorted(one.neighbours) for one in segments},
    }
    return {**options, LISTING: base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()}


def _listed(options: LogOptions) -> PartitionSegments:
    """Return all segments of a listing."""
    assert options.path is not None, "the options are those of files"
    assert options.listing is not None, "the options have a listing"
    store, _ = store_of("path", options.path, options.storage_attempts)
    tier = store if options.tier is None else store_of("tier", options.tier, options.storage_attempts)[0]
    content = _content_of(options.listing)
    neighbours = {
        folder: None if names is None else frozenset(names) for folder, names in content["neighbours"].items()
    }
    found: PartitionSegments = {}
    for topic, partition, base_offset, path, size, modified_ms in content["segments"]:
        around = neighbours[os.path.dirname(path)]
        segment = Segment(topic, partition, base_offset, path, size, modified_ms, store, around)
        segment = replace(segment, store=tier) if segment.is_tiered else segment
        found.setdefault(PartitionName(topic, partition), []).append(segment)
    return found


def _content_of(listing: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(listing)))
    except (ValueError, zlib.error):
        raise BadOption(f"{LISTING}: must be the listing that an audit has made, not {listing[:_SHOWN_MAX]}") from None
    return content


@dataclass(frozen=True, slots=True)
class DeletedFiles:
    """The deleted files of a partition: their number, and the range of their offsets.

    end_offset: not included; None if the last file was deleted, whose end is unknown. replica: the place of the log
    whose files they are; None for the audited one.
    """

    topic: str
    partition: int
    files: int
    start_offset: int
    end_offset: int | None
    replica: str | None = None

    def __str__(self) -> str:
        """Return the files in words."""
        files = "1 file" if self.files == 1 else f"{self.files:,} files"
        end = "on" if self.end_offset is None else f"to {self.end_offset - 1}"
        log = "" if self.replica is None else f" in {self.replica}"
        return f"{files} of {self.topic}-{self.partition}{log}, from offset {self.start_offset} {end}"


def find_deleted(options: LogOptions) -> list[DeletedFiles]:
    """Return the listed files that are not there any more, or were replaced by shorter ones. Raises BadOption."""
    listed = segments_of(options)
    sizes = _sizes_in_folders(*listed.values()) if len(listed) == 1 else _present_sizes(options)
    found: list[DeletedFiles] = []
    for name, segments in listed.items():
        bases = [one.base_offset for one in segments if sizes.get(one.path, -1) < one.size]
        if bases:
            after = (one.base_offset for one in segments if one.base_offset > bases[-1])
            found.append(DeletedFiles(*name, len(bases), bases[0], min(after, default=None)))
    return found


def _present_sizes(options: LogOptions) -> dict[str, int]:
    """Return the sizes of the present files of a log. Raises BadOption."""
    try:
        present = _present(options, options.is_wanted)
    except BadOption:
        if _is_there(options):
            raise
        return {}
    return {segment.path: segment.size for segments in present.values() for segment in segments}


def _sizes_in_folders(segments: list[Segment]) -> dict[str, int]:
    """Return the sizes of the listed files of a partition that are still there. Raises BadOption.

    Only the folders of the partition are listed, because an audit by partition has many of a large log.
    """
    sizes: dict[str, int] = {}
    try:
        stores = {one.folder: one.store for one in segments}
        listings = {folder: store.list_files(folder) for folder, store in stores.items()}
        for one in segments:
            file = listings[one.folder].find_file(one.path)
            if file is not None:
                sizes[one.path] = file.size
    except OSError as error:
        raise BadOption(f"path: {error.filename} cannot be read: {error.strerror}") from error
    return sizes


def _is_there(options: LogOptions) -> bool:
    """Whether the path of a log still has a file or a folder, or the store cannot say so."""
    assert options.path is not None, "the options are those of files"
    store, place = store_of("path", options.path, options.storage_attempts)
    try:
        return bool(store.list_files(place).roots())
    except OSError:
        return True
