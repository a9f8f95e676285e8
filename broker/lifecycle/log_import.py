"""The partition folders of another broker, such as a real Kafka's: read where they are, or copied into a data folder.

Nothing is written to the folder. As long as it is read it is locked as a reader, so that no broker works in it.
"""

from __future__ import annotations

import fcntl
import os
import shutil

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
from ...storage.log_files import PartitionName, partition_folder
from ...storage.log_manager import LogManager
from ..metadata.cluster_metadata import METADATA_FILE, ClusterMetadata, TopicMetadata, encode_metadata
from .data_directory import DataDirectory, DataDirectoryError, read_bounded
from .stored_topics import topics_in_folders

# A folder that is being copied has this name, and a number before it, until it is whole.
UNFINISHED_SUFFIX = ".importing"
# 500,000 partitions with long names.
CHECKPOINT_BYTES_MAX = 128 * 1024 * 1024

# What the checkpoints say of a partition goes where the partition goes.
_CHECKPOINTS = (RECOVERY_POINT_CHECKPOINT, LOG_START_OFFSET_CHECKPOINT, CLEANER_OFFSET_CHECKPOINT)


class ImportedLogs:
    """A folder of partition folders that belongs to somebody else; `close` lets go of it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Take the folder. Raises DataDirectoryError where there is none, or a broker works in it."""
        self.folder = os.path.abspath(folder)
        if not os.path.isdir(self.folder):
            raise DataDirectoryError(f"--import-logs: {self.folder} is not a folder")
        self.file_system = OsFileSystem(self.folder)
        self._lock = lock_shared(self.folder)

    def close(self) -> None:
        """Let go of the folder."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def copy_into(self, directory: DataDirectory, metadata: ClusterMetadata) -> list[TopicMetadata]:
        """Copy every topic into a data folder, whose metadata file does not yet have them, and return them.

        Raises DataDirectoryError, before anything is copied, where a topic is there already; OSError.
        """
        stored = LogManager(self.file_system).partitions_on_disk()
        topics = topics_in_folders(stored, compacted_topics(self.file_system))
        there = {topic.name for topic in metadata.topics}
        for topic in topics:
            if topic.name in there:
                raise DataDirectoryError(f"--import-logs: {directory.folder} has a topic {topic.name} already")
        if directory.metadata is None:
            # A crash on the way must not leave some of the folders in a place where folders are all that tells topics.
            directory.file_system.replace(METADATA_FILE, encode_metadata(metadata), is_synced=True)
        self._copy_into(directory, [PartitionName(each.topic_name, each.partition) for each in stored])
        return topics

    def _copy_into(self, directory: DataDirectory, wanted: list[PartitionName]) -> None:
        """Copy the folders of these partitions, synced, with what the checkpoints say of them.

        A copy that is cut short leaves nothing but what delete_unfinished_imports deletes. Raises OSError.
        """
        unfinished: list[str] = []
        for number, name in enumerate(wanted):
            unfinished.append(f"{number}{UNFINISHED_SUFFIX}")
            source = f"{self.folder}/{partition_folder(*name)}"
            _copy_folder(source, f"{directory.folder}/{unfinished[-1]}")
        for checkpoint in _CHECKPOINTS:
            theirs = _offsets(self.file_system, checkpoint)
            ours = _offsets(directory.file_system, checkpoint)
            moved = {name: theirs[name] for name in wanted if name in theirs}
            if moved:
                directory.file_system.replace(checkpoint, encode_offsets({**ours, **moved}), is_synced=True)
        if not self.file_system.exists(CLEAN_SHUTDOWN):
            # What is to be recovered there is to be recovered here.
            directory.file_system.delete(CLEAN_SHUTDOWN)
        for name, folder in zip(wanted, unfinished, strict=True):
            directory.file_system.rename_folder(folder, partition_folder(*name))
        directory.file_system.sync_folder("")


def delete_unfinished_imports(file_system: FileSystem) -> None:
    """Delete what is left of an import that was cut short. Raises OSError."""
    for folder in file_system.folders():
        if folder.endswith(UNFINISHED_SUFFIX) and folder.removesuffix(UNFINISHED_SUFFIX).isdecimal():
            file_system.delete_folder(folder)


def compacted_topics(file_system: FileSystem) -> set[str]:
    """Return the topics that were compacted, as far as the cleaner had come to them."""
    return {name.topic_name for name in _offsets(file_system, CLEANER_OFFSET_CHECKPOINT)}


def _offsets(file_system: FileSystem, checkpoint: str) -> dict[PartitionName, int]:
    """Return what a checkpoint says; nothing where it is missing or damaged, as Kafka does."""
    try:
        return decode_offsets(read_bounded(file_system, checkpoint, CHECKPOINT_BYTES_MAX) or b"")
    except CorruptFileError:
        return {}


def lock_shared(folder: str) -> int:
    """Return a descriptor that keeps brokers from working in the folder until it is closed, -1 in one without a lock.

    Raises DataDirectoryError where a broker works in it, and OSError.
    """
    try:
        descriptor = os.open(f"{folder}/{LOCK}", os.O_RDONLY)
    except FileNotFoundError:
        return -1
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        os.close(descriptor)
        raise DataDirectoryError(f"a broker is using {folder}; stop it, or take a copy") from error
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _copy_folder(source: str, target: str) -> None:
    os.mkdir(target)
    with os.scandir(source) as entries:
        names = [entry.name for entry in entries if entry.is_file()]
    for name in names:
        shutil.copyfile(f"{source}/{name}", f"{target}/{name}")
        _sync(f"{target}/{name}")
    _sync(target)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
