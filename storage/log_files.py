"""How the files and folders of partitions are named.

A file is named by the offset it begins at, 20 digits, and a suffix for its kind; a second suffix says that it is on its
way out (.deleted) or in (.cleaned, .swap). A folder is `topic-partition`; one that is given up is renamed to
`topic-partition.<32 hexadecimal digits>-delete` or `-stray`. Topic names may hold dots and dashes themselves.
Source: LogFileUtils and LocalLog, Kafka 4.3.0. Kafka stops at a folder that it cannot read as a partition's; here such
a folder is no partition's, and neither is one with a number that Kafka does not write ("t-00", "t-+1").
"""

from __future__ import annotations

import re
from typing import NamedTuple

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TRANSACTION_INDEX_SUFFIX = ".txnindex"
SNAPSHOT_SUFFIX = ".snapshot"

DELETED_SUFFIX = ".deleted"
CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"

DELETED_FOLDER_SUFFIX = "-delete"
STRAY_FOLDER_SUFFIX = "-stray"

# What file systems take as one name (Kafka: LocalLog.logDirNameWithSuffixCap); a topic name alone may have 249.
FOLDER_NAME_MAX = 255

# How far an offset may lie behind the base of its segment: the indexes have it as Java's int.
RELATIVE_OFFSET_MAX = 2**31 - 1

# The log of KRaft's own records; its folder looks like a partition's.
CLUSTER_METADATA_TOPIC = "__cluster_metadata"

_OFFSET_DIGITS = 20
_OFFSET_MAX = 2**63 - 1
_PARTITION_MAX = 2**31 - 1
_OFFSET = re.compile(r"[0-9]{20}")
_PARTITION_FOLDER = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})")
_GIVEN_UP_FOLDER = re.compile(r".*-[0-9]+\.[0-9a-f]{32}(-delete|-stray)")


class PartitionName(NamedTuple):
    """A partition as its folder names it."""

    topic_name: str
    partition: int


def partition_folder(topic_name: str, partition: int) -> str:
    """Return the folder of a partition's files."""
    return f"{topic_name}-{partition}"


def partition_of(folder: str) -> PartitionName | None:
    """Return the partition whose files are in folder; None for every other folder, given-up ones among them."""
    match = _PARTITION_FOLDER.fullmatch(folder)
    if match is None or match[1] in (".", "..") or int(match[2]) > _PARTITION_MAX:
        return None
    return PartitionName(match[1], int(match[2]))


def deleted_folder(topic_name: str, partition: int, unique_id: bytes) -> str:
    """Return the name that the folder of a partition takes when the partition is deleted.

    unique_id: 16 bytes that no other folder was renamed with.
    """
    return _given_up_folder(topic_name, partition, unique_id, DELETED_FOLDER_SUFFIX)


def stray_folder(topic_name: str, partition: int, unique_id: bytes) -> str:
    """Return the name that the folder takes of a partition that the cluster does not know; see deleted_folder."""
    return _given_up_folder(topic_name, partition, unique_id, STRAY_FOLDER_SUFFIX)


def _given_up_folder(topic_name: str, partition: int, unique_id: bytes, suffix: str) -> str:
    assert len(unique_id) == 16, f"16 bytes make 32 digits, got {len(unique_id)}"
    ending = f"-{partition}.{unique_id.hex()}{suffix}"
    return topic_name[: FOLDER_NAME_MAX - len(ending)] + ending


def is_deleted_folder(folder: str) -> bool:
    """Whether folder is what is left of a deleted partition."""
    match = _GIVEN_UP_FOLDER.fullmatch(folder)
    return match is not None and match[1] == DELETED_FOLDER_SUFFIX


def is_stray_folder(folder: str) -> bool:
    """Whether folder was put aside because the cluster did not know its partition."""
    match = _GIVEN_UP_FOLDER.fullmatch(folder)
    return match is not None and match[1] == STRAY_FOLDER_SUFFIX


def segment_path(folder: str, base_offset: int, suffix: str) -> str:
    """Return the path of one file of the segment that begins at base_offset."""
    return f"{folder}/{file_name(base_offset, suffix)}"


def file_name(base_offset: int, suffix: str) -> str:
    """Return the name of a file that is named by an offset."""
    return f"{base_offset:020d}{suffix}"


def base_offset_of(file_name: str, suffix: str) -> int | None:
    """Return the offset that names the file, if it is a file of this kind.

    suffix: all that follows the digits: LOG_SUFFIX + SWAP_SUFFIX does not take a file of LOG_SUFFIX, nor the reverse.
    """
    digits = file_name[:_OFFSET_DIGITS]
    if file_name[_OFFSET_DIGITS:] != suffix or _OFFSET.fullmatch(digits) is None or int(digits) > _OFFSET_MAX:
        return None
    return int(digits)
