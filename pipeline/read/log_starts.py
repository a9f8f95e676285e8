"""Log start offsets and other offsets of partitions, from the checkpoints of their log directories."""

from __future__ import annotations

import os

from ...storage.checkpoints.checkpoint_files import LOG_START_OFFSET_CHECKPOINT, decode_offsets
from ...storage.corrupt_file import CorruptFileError
from ...storage.log_files import PartitionName
from .segment_files import PartitionSegments


def log_starts_of_files(segments: PartitionSegments) -> dict[PartitionName, int]:
    """Return the log start offset of each partition, at least the base offset of its first segment. Raises OSError."""
    starts = checkpointed_offsets(segments, LOG_START_OFFSET_CHECKPOINT)
    return {name: max(found[0].base_offset, starts.get(name, 0)) for name, found in segments.items()}


def checkpointed_offsets(segments: PartitionSegments, file_name: str) -> dict[PartitionName, int]:
    """Return the offsets of a checkpoint of all log directories, without missing and damaged ones. Raises OSError."""
    folders = {os.path.dirname(segment.folder): segment.store for found in segments.values() for segment in found}
    offsets: dict[PartitionName, int] = {}
    for folder, store in folders.items():
        try:
            offsets |= decode_offsets(store.read(f"{folder}/{file_name}"))
        except (FileNotFoundError, PermissionError, CorruptFileError):
            continue
    return offsets
