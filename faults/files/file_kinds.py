"""Which kind of file a path is of, by its name, as rules call the kinds.

A file that is on its way in or out (.cleaned, .swap, .deleted) is of the kind that it was or will be.
"""

from __future__ import annotations

from ...storage.checkpoints.checkpoint_files import META_PROPERTIES, PARTITION_METADATA
from ...storage.log_files import INDEX_SUFFIX, LOG_SUFFIX, SNAPSHOT_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX

_KINDS_BY_SUFFIX = {
    suffix: suffix.removeprefix(".")
    for suffix in (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX, SNAPSHOT_SUFFIX)
}
CHECKPOINT = "checkpoint"
METADATA = "metadata"
# What is known of the cluster, the node and a partition's topic; the first is the broker's own.
METADATA_FILES = frozenset({"cluster-metadata.json", META_PROPERTIES, PARTITION_METADATA})

_OFFSET_DIGITS = 20


def folder_of(path: str) -> str:
    """Return the folder of a file, "" for the top one."""
    return path.rpartition("/")[0]


def file_kind_of(path: str) -> str | None:
    """Return the kind of the file at path; None for every other file, and for a folder."""
    name = path.rpartition("/")[2]
    if name[:_OFFSET_DIGITS].isdecimal():
        return _KINDS_BY_SUFFIX.get(f".{name[_OFFSET_DIGITS:].split('.')[1]}") if "." in name else None
    if name.endswith("-checkpoint"):
        return CHECKPOINT
    return METADATA if name in METADATA_FILES else None
