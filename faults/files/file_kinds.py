"""The kind of a file, derived from its name: the `file_kind` of file fault rules.

The suffixes .cleaned, .swap and .deleted do not change the kind.
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
# The others are of one partition.
TOP_FOLDER_KINDS = (CHECKPOINT, METADATA)
# Metadata of the cluster, the node and a partition's topic. The first file is not one of Kafka's.
METADATA_FILES = frozenset({"cluster-metadata.json", META_PROPERTIES, PARTITION_METADATA})

_OFFSET_DIGITS = 20


def folder_of(path: str) -> str:
    """Return the folder of a file, "" for the top folder."""
    return path.rpartition("/")[0]


def file_kind_of(path: str) -> str | None:
    """Return the kind of the file at path; None for any other file and for a folder."""
    name = path.rpartition("/")[2]
    if name[:_OFFSET_DIGITS].isdecimal():
        return _KINDS_BY_SUFFIX.get(f".{name[_OFFSET_DIGITS:].split('.')[1]}") if "." in name else None
    if name.endswith("-checkpoint"):
        return CHECKPOINT
    return METADATA if name in METADATA_FILES else None
