"""Reads the batches of a replica from its files, also while its node is down or its log is about to be truncated."""

from __future__ import annotations

from collections.abc import Iterator

from ..protocol.batches.record_batch import HEADER_SIZE, is_whole, parse_header
from .file_systems.file_system import FileSystem
from .log_files import LOG_SUFFIX, base_offset_of, partition_folder


def batches_in_files(file_system: FileSystem, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
    """Yield each complete batch from from_offset on, up to a damaged one in each segment. Raises OSError."""
    folder = partition_folder(topic, partition)
    names = {name: base_offset_of(name, LOG_SUFFIX) for name in file_system.names_in(folder)}
    segments = [(name, offset) for name, offset in names.items() if offset is not None]
    ends = [offset for _, offset in segments[1:]]
    for index, (name, _) in enumerate(segments):
        if index == len(ends) or ends[index] > from_offset:
            yield from _batches_in(file_system, f"{folder}/{name}", from_offset)


def _batches_in(file_system: FileSystem, path: str, from_offset: int) -> Iterator[memoryview]:
    file = file_system.open(path)
    try:
        position = 0
        while position + HEADER_SIZE <= file.size:
            header = parse_header(file.read(position, HEADER_SIZE))
            if not is_whole(header, file.size - position):
                return
            if header.last_offset >= from_offset:
                yield file.read(position, header.size)
            position += header.size
    finally:
        file.close()
