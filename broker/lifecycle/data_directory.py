"""A data folder: its lock, its owner and its metadata.

The folder has an empty `.lock`, which is locked while a process uses the folder, and `meta.properties` with the node id
and the cluster id. Both files are compatible with Kafka, so that Kafka and fauxka never use a folder together.
A folder with other content and without these files is refused before anything is written, because its folders would
become topics. The files are read and checked before the first write to the folder.
Source: LogManager.lockLogDirs and MetaPropertiesEnsemble.verify, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

from ... import FauxkaError
from ...protocol.kafka_uuid import new_uuid, uuid_text
from ...storage.checkpoints.checkpoint_files import (
    LOCK,
    META_PROPERTIES,
    MetaProperties,
    decode_meta_properties,
    encode_meta_properties,
)
from ...storage.corrupt_file import CorruptFileError
from ...storage.file_systems.file_system import TEMPORARY_SUFFIX, FileSystem
from ...storage.file_systems.os_file_system import OsFileSystem
from ...storage.file_systems.path_problems import find_path_problem
from ..metadata.cluster_metadata import ClusterMetadata
from ..metadata.metadata_fields import METADATA_FILE
from .folder_lock import lock
from .metadata_files import (
    BROKEN_METADATA_FILE,
    METADATA_COPY,
    PRIVATE_FILES,
    StoredMetadata,
    read_bounded,
    read_metadata_files,
)
from .storage_options import EXPORTS_FOLDER

logger = logging.getLogger(__name__)

# What a folder has that fauxka or Kafka has begun to use.
_MARKS_OF_DATA = {META_PROPERTIES, METADATA_FILE, METADATA_COPY, BROKEN_METADATA_FILE}
# What an otherwise empty folder may have: the traces of a first start that was killed, what mkfs makes, and the exports
# of a broker that ran there without a data folder.
_NAMES_IN_EMPTY = {LOCK, META_PROPERTIES + TEMPORARY_SUFFIX, "lost+found", EXPORTS_FOLDER}
# meta.properties has five short lines.
META_PROPERTIES_BYTES_MAX = 64 * 1024


class DataDirectoryError(FauxkaError):
    """The folder cannot be used. The message is one line for the user."""


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """The node that opens a folder. cluster_id: None accepts that of the folder, or creates one."""

    node_id: int
    cluster_id: str | None = None


class DataDirectory:
    """A data folder that this process has locked until `close`.

    cluster_id, directory_id (16 bytes): those of meta.properties.
    metadata: the stored metadata; None if there is none.
    is_metadata_from_copy: whether the file is damaged. The caller completes the metadata and writes both files.
    is_metadata_copy_due: whether the copy must be written.
    """

    def __init__(self, folder: str | os.PathLike[str], owner: NodeIdentity) -> None:
        """Create the folder if necessary, and lock it. Raises DataDirectoryError."""
        self.folder = os.path.abspath(folder)
        self._files = OsFileSystem(self.folder, private_files=PRIVATE_FILES)
        self.file_system: FileSystem = self._files
        try:
            os.makedirs(self.folder, exist_ok=True)
            check_content(self.folder)
            self._lock = lock_exclusive(f"{self.folder}/{LOCK}", self.folder)
            self._files.protect_private_files()
        except OSError as error:
            problem = find_path_problem(self.folder, error)
            raise DataDirectoryError(problem or f"cannot use {self.folder}: {error.strerror}") from error
        try:
            stored = self._read_metadata()
            self.cluster_id, self.directory_id = self._claim(owner, stored.metadata)
            self._use(stored)
        except OSError as error:
            self.close()
            raise DataDirectoryError(f"cannot use {self.folder}: {error.strerror}") from error
        except DataDirectoryError:
            self.close()
            raise

    def reload(self) -> None:
        """Read the files again, as a new process would. Raises OSError and DataDirectoryError.

        Files that were opened before must not be used any more.
        """
        self._files.discard_open_files()
        self._use(self._read_metadata())

    def close(self) -> None:
        """Unlock the folder for other processes."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _claim(self, owner: NodeIdentity, metadata: ClusterMetadata | None) -> tuple[str, bytes]:
        """Check meta.properties against the owner and the metadata, or create it.

        Return the cluster id and the directory id.
        """
        path = f"{self.folder}/{META_PROPERTIES}"
        try:
            content = read_bounded(self.file_system, META_PROPERTIES, META_PROPERTIES_BYTES_MAX)
            properties = None if content is None else decode_meta_properties(content)
        except CorruptFileError as error:
            raise DataDirectoryError(f"cannot read {path}: {error}") from error
        if properties is None:
            stored_id = uuid_text(new_uuid()) if metadata is None else metadata.cluster_id
            properties = MetaProperties(owner.cluster_id or stored_id, owner.node_id, None)
        elif metadata is not None and properties.cluster_id != metadata.cluster_id:
            raise DataDirectoryError(
                f"Invalid cluster.id in: {path}. Expected {metadata.cluster_id}, as in {METADATA_FILE}, "
                f"but read {properties.cluster_id}"
            )
        _check_owner(properties, owner, path)
        directory_id = properties.directory_id
        if directory_id is None:
            directory_id = new_uuid()
            properties = MetaProperties(properties.cluster_id, properties.node_id, directory_id)
            self.file_system.replace(META_PROPERTIES, encode_meta_properties(properties), is_synced=True)
        return properties.cluster_id, directory_id

    def _read_metadata(self) -> StoredMetadata:
        """Read the metadata file and its copy. Raises DataDirectoryError: both damaged, or of a later version."""
        try:
            return read_metadata_files(self.file_system)
        except CorruptFileError as error:
            raise DataDirectoryError(f"{self.folder}: {error}") from error

    def _use(self, stored: StoredMetadata) -> None:
        """Log what is damaged, and keep a damaged metadata file under another name."""
        self.metadata = stored.metadata
        self.is_metadata_from_copy = stored.is_from_copy
        self.is_metadata_copy_due = stored.is_copy_due
        if stored.copy_fault is not None:
            logger.warning("%s in %s; the copy is written again", stored.copy_fault, self.folder)
        if stored.file_fault is None:
            return
        source = (
            f"its copy {METADATA_COPY} is used" if stored.is_from_copy else "the topics are taken from their folders"
        )
        if self.file_system.exists(METADATA_FILE):
            self.file_system.rename(METADATA_FILE, BROKEN_METADATA_FILE)
            source = f"it is kept as {BROKEN_METADATA_FILE}, and {source}"
        logger.warning("%s in %s; %s", stored.file_fault, self.folder, source)


def check_content(folder: str) -> None:
    """Raise DataDirectoryError for a folder that is neither empty nor of fauxka or Kafka."""
    names = set(os.listdir(folder))
    others = sorted(names - _NAMES_IN_EMPTY)
    if others and not names & _MARKS_OF_DATA:
        raise DataDirectoryError(
            f"{folder} is no data folder: it has {others[0]!r} and no {META_PROPERTIES}; "
            "--data-dir takes an empty or new folder, or one that fauxka has written"
        )


def lock_exclusive(path: str, folder: str) -> int:
    """Return a file descriptor with the lock, which is released with it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        lock(descriptor, is_shared=False)
    except (BlockingIOError, PermissionError) as error:
        os.close(descriptor)
        raise DataDirectoryError(
            f"Failed to acquire lock on file {LOCK} in {folder}. "
            "A Kafka instance in another process or thread is using this directory."
        ) from error
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_owner(properties: MetaProperties, owner: NodeIdentity, path: str) -> None:
    if owner.cluster_id is not None and properties.cluster_id != owner.cluster_id:
        raise DataDirectoryError(
            f"Invalid cluster.id in: {path}. Expected {owner.cluster_id}, but read {properties.cluster_id}"
        )
    if properties.node_id != owner.node_id:
        raise DataDirectoryError(
            f"Stored node id {properties.node_id} doesn't match previous node id {owner.node_id} in {path}. "
            "If you moved your data, make sure your configured node id matches. "
            "If you intend to create a new node, you should remove all data in your data directories."
        )
