"""File and folder names of partitions.

A file name is a base offset of 20 digits and a suffix for the kind. A second suffix marks files that wait for deletion
(.deleted) or are not in use yet (.cleaned, .swap). A folder is `topic-partition`; a deleted or unknown one is renamed
to `topic-partition.<32 hexadecimal digits>-delete` or `-stray`. Topic names may contain dots and dashes.
Source: LogFileUtils and LocalLog, Kafka 4.3.0. Kafka stops at a folder whose name it cannot parse; fauxka ignores such
a folder, and one with a number that Kafka does not write ("t-00", "t-+1").
"""

from __future__ import annotations

import re
from typing import NamedTuple

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TRANSACTION_INDEX_SUFFIX = ".txnindex"
SNAPSHOT_SUFFIX = ".snapshot"
# Of the files of a segment. A cleaned segment is renamed in this order.
SEGMENT_SUFFIXES = (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX)

DELETED_SUFFIX = ".deleted"
CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"

DELETED_FOLDER_SUFFIX = "-delete"
STRAY_FOLDER_SUFFIX = "-stray"

# The limit of file systems (Kafka: LocalLog.logDirNameWithSuffixCap); a topic name may have 249 characters.
FOLDER_NAME_MAX = 255

# The greatest offset relative to the base offset of a segment; the indexes store it as Java's int.
RELATIVE_OFFSET_MAX = 2**31 - 1

# KRaft's metadata log; its folder name looks like a partition's.
CLUSTER_METADATA_TOPIC = "__cluster_metadata"

_OFFSET_DIGITS = 20
_OFFSET_MAX = 2**63 - 1
_PARTITION_MAX = 2**31 - 1
_OFFSET = re.compile(r"[0-9]{20}")
# What fauxka and Kafka write to the folder of a partition, with the temporary names of replaced files.
_LOG_FILE = re.compile(
    r"[0-9]{20}\.(?:log|index|timeindex|txnindex|snapshot)(?:\.deleted|\.cleaned|\.swap)?(?:\.tmp)*"
    r"|(?:leader-epoch-checkpoint|partition\.metadata)(?:\.tmp)*"
)
_PARTITION_FOLDER = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})")


class PartitionName(NamedTuple):
    """A topic name and a partition index."""

    topic_name: str
    partition: int


def partition_folder(topic_name: str, partition: int) -> str:
    """Return the folder name of a partition."""
    return f"{topic_name}-{partition}"


def partition_of(folder: str) -> PartitionName | None:
    """Return the partition of a folder name; None for every other folder, also for -delete and -stray ones."""
    match = _PARTITION_FOLDER.fullmatch(folder)
    if match is None or match[1] in (".", "..") or int(match[2]) > _PARTITION_MAX:
        return None
    return PartitionName(match[1], int(match[2]))


def deleted_folder(topic_name: str, partition: int, unique_id: bytes) -> str:
    """Return the -delete folder name of a partition; unique_id: 16 bytes, different for each renamed folder."""
    return _renamed_folder(topic_name, partition, unique_id, DELETED_FOLDER_SUFFIX)


def stray_folder(topic_name: str, partition: int, unique_id: bytes) -> str:
    """Return the -stray folder name of a partition; unique_id: 16 bytes, different for each renamed folder."""
    return _renamed_folder(topic_name, partition, unique_id, STRAY_FOLDER_SUFFIX)


def _renamed_folder(topic_name: str, partition: int, unique_id: bytes, suffix: str) -> str:
    assert len(unique_id) == 16, f"unique_id has {len(unique_id)} bytes, not 16"
    ending = f"-{partition}.{unique_id.hex()}{suffix}"
    return topic_name[: FOLDER_NAME_MAX - len(ending)] + ending


def is_log_file(name: str) -> bool:
    """Return whether a file with that name in the folder of a partition is of its log. Every other file is foreign."""
    return _LOG_FILE.fullmatch(name) is not None


def segment_path(folder: str, base_offset: int, suffix: str) -> str:
    """Return the path of one file of the segment at base_offset."""
    return f"{folder}/{file_name(base_offset, suffix)}"


def file_name(base_offset: int, suffix: str) -> str:
    """Return the file name of an offset and a suffix."""
    return f"{base_offset:020d}{suffix}"


def base_offset_of(file_name: str, suffix: str) -> int | None:
    """Return the offset in a file name, or None if the part after the digits is not exactly suffix."""
    digits = file_name[:_OFFSET_DIGITS]
    if file_name[_OFFSET_DIGITS:] != suffix or _OFFSET.fullmatch(digits) is None or int(digits) > _OFFSET_MAX:
        return None
    return int(digits)
