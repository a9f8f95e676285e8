"""Imports the partition folders of another broker, such as a real Kafka: read in place, or copied into a data folder.

Nothing is written to the folder. A shared lock keeps brokers from using it until `close`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

from ...protocol.kafka_uuid import new_uuid
from ...storage.checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LOCK,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    decode_offsets,
    encode_offsets,
)
from ...storage.corrupt_file import CorruptFileError
from ...storage.file_systems.file_system import FileSystem
from ...storage.file_systems.os_file_system import OsFileSystem
from ...storage.file_systems.own_folder import copy_file
from ...storage.file_systems.path_problems import find_file_in_the_way
from ...storage.log_files import PartitionName, is_log_file, partition_folder
from ...storage.log_manager import LogManager, StoredPartition
from ..metadata.cluster_metadata import ClusterMetadata, TopicMetadata, encode_metadata
from ..metadata.metadata_fields import METADATA_FILE
from .data_directory import DataDirectory, DataDirectoryError
from .folder_lock import lock
from .metadata_files import read_bounded
from .stored_topics import topics_in_folders

logger = logging.getLogger(__name__)

# The name of a folder that is being copied: a number and this suffix.
UNFINISHED_SUFFIX = ".importing"
# Enough for 500,000 partitions with long names.
CHECKPOINT_BYTES_MAX = 128 * 1024 * 1024

# The checkpoints whose entries are copied with a partition.
_CHECKPOINTS = (RECOVERY_POINT_CHECKPOINT, LOG_START_OFFSET_CHECKPOINT, CLEANER_OFFSET_CHECKPOINT)


class ImportedLogs:
    """A folder of another broker, with a shared lock until `close`."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Lock the folder. Raises DataDirectoryError if it does not exist or a broker uses it."""
        self.folder = os.path.abspath(folder)
        if not os.path.isdir(self.folder):
            problem = find_file_in_the_way(self.folder) or f"there is no folder {self.folder}"
            raise DataDirectoryError(f"--import-logs: {problem}")
        self.file_system = OsFileSystem(self.folder)
        self._lock = lock_shared(self.folder)

    def close(self) -> None:
        """Unlock the folder."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def copy_into(self, directory: DataDirectory, metadata: ClusterMetadata) -> list[TopicMetadata]:
        """Copy all topics into a data folder and return them. The caller adds them to the metadata.

        Raises DataDirectoryError, before anything is copied, if a topic exists already; OSError.
        """
        stored = self.find_partitions()
        topics = topics_in_folders(stored, compacted_topics(self.file_system))
        check_new(topics, metadata, directory.folder)
        if directory.metadata is None or directory.is_metadata_from_copy:
            # With a metadata file, a crash during the copy leaves no topic that is derived from incomplete folders.
            directory.file_system.replace(METADATA_FILE, encode_metadata(metadata), is_synced=True)
        self.copy_partitions(directory, stored)
        return topics

    def find_partitions(self) -> list[StoredPartition]:
        """Return the partitions in the folder."""
        return LogManager(self.file_system).partitions_on_disk()

    def copy_partitions(self, directory: DataDirectory, stored: Iterable[StoredPartition]) -> None:
        """Copy and sync the folders of these partitions, and their checkpoint entries. Raises OSError.

        An interrupted copy leaves folders that delete_unfinished_imports deletes. If it ends after the first of them is
        renamed, it leaves folders of no topic.
        """
        wanted = [PartitionName(each.topic_name, each.partition) for each in stored]
        _rename_to_strays(directory, wanted)
        unfinished: list[str] = []
        for number, name in enumerate(wanted):
            unfinished.append(f"{number}{UNFINISHED_SUFFIX}")
            source = f"{self.folder}/{partition_folder(*name)}"
            _copy_folder(source, f"{directory.folder}/{unfinished[-1]}")
            directory.file_system.sync_folder(unfinished[-1])
        for checkpoint in _CHECKPOINTS:
            theirs = _offsets(self.file_system, checkpoint)
            ours = _offsets(directory.file_system, checkpoint)
            moved = {name: theirs[name] for name in wanted if name in theirs}
            if moved:
                directory.file_system.replace(checkpoint, encode_offsets({**ours, **moved}), is_synced=True)
        if not self.file_system.exists(CLEAN_SHUTDOWN):
            # The imported logs need recovery.
            directory.file_system.delete(CLEAN_SHUTDOWN)
        for name, folder in zip(wanted, unfinished, strict=True):
            directory.file_system.rename_folder(folder, partition_folder(*name))
        directory.file_system.sync_folder("")


def check_new(topics: Iterable[TopicMetadata], metadata: ClusterMetadata, folder: str) -> None:
    """Raise DataDirectoryError if one of the imported topics exists. folder: the data folder."""
    existing = {topic.name for topic in metadata.topics}
    for topic in topics:
        if topic.name in existing:
            raise DataDirectoryError(f"--import-logs: {folder} has a topic {topic.name} already")


def _rename_to_strays(directory: DataDirectory, wanted: Iterable[PartitionName]) -> None:
    """Rename folders of no topic that have the names of imported partitions. An interrupted import leaves such."""
    logs, folders = LogManager(directory.file_system), set(directory.file_system.folders())
    for name in wanted:
        if partition_folder(*name) in folders:
            stray = logs.rename_to_stray(*name, new_uuid())
            logger.warning("%s belongs to no topic, and is renamed to %s", partition_folder(*name), stray)


def delete_unfinished_imports(file_system: FileSystem) -> None:
    """Delete the folders of an interrupted import. Raises OSError."""
    for folder in file_system.folders():
        if folder.endswith(UNFINISHED_SUFFIX) and folder.removesuffix(UNFINISHED_SUFFIX).isdecimal():
            LogManager(file_system).delete_folder(folder)


def compacted_topics(file_system: FileSystem) -> set[str]:
    """Return the names of the topics that the log cleaner has cleaned."""
    return {name.topic_name for name in _offsets(file_system, CLEANER_OFFSET_CHECKPOINT)}


def _offsets(file_system: FileSystem, checkpoint: str) -> dict[PartitionName, int]:
    """Return the entries of a checkpoint; none if it is missing or damaged, as in Kafka."""
    try:
        return decode_offsets(read_bounded(file_system, checkpoint, CHECKPOINT_BYTES_MAX) or b"")
    except CorruptFileError:
        return {}


def lock_shared(folder: str) -> int:
    """Return a file descriptor with a shared lock of the folder, or -1 if it has no lock file.

    Raises DataDirectoryError if a broker uses the folder, and OSError.
    """
    try:
        descriptor = os.open(f"{folder}/{LOCK}", os.O_RDONLY)
    except FileNotFoundError:
        return -1
    try:
        lock(descriptor, is_shared=True)
    except (BlockingIOError, PermissionError) as error:
        os.close(descriptor)
        raise DataDirectoryError(f"a broker is using {folder}; stop it, or take a copy") from error
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _copy_folder(source: str, target: str) -> None:
    """Copy the files of a log to a new folder."""
    os.mkdir(target)
    with os.scandir(source) as entries:
        names = [entry.name for entry in entries if entry.is_file() and is_log_file(entry.name)]
    for name in names:
        copy_file(f"{source}/{name}", f"{target}/{name}", is_synced=True)
