"""A data folder: its lock, its owner and its metadata file.

The folder has an empty `.lock`, which is locked while a process uses the folder, and `meta.properties` with the node id
and the cluster id. Both files are compatible with Kafka, so that Kafka and fauxka never use a folder together.
A folder with other content and without these files is refused before anything is written, because its folders would
become topics.
Source: LogManager.lockLogDirs and MetaPropertiesEnsemble.verify, Kafka 4.3.0.
"""

from __future__ import annotations

import fcntl
import logging
import os
from dataclasses import dataclass

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
from ..metadata.cluster_metadata import (
    METADATA_BYTES_MAX,
    METADATA_FILE,
    ClusterMetadata,
    NewerMetadataError,
    decode_metadata,
)

logger = logging.getLogger(__name__)

# An unreadable metadata file is renamed to this before a new one is written.
BROKEN_METADATA_FILE = METADATA_FILE + ".broken"
# What a folder has that fauxka or Kafka has begun to use.
_MARKS_OF_DATA = {META_PROPERTIES, METADATA_FILE, BROKEN_METADATA_FILE}
# What an otherwise empty folder may have: the traces of a first start that was killed, and what mkfs makes.
_NAMES_IN_EMPTY = {LOCK, META_PROPERTIES + TEMPORARY_SUFFIX, "lost+found"}
# meta.properties has five short lines.
META_PROPERTIES_BYTES_MAX = 64 * 1024


class DataDirectoryError(Exception):
    """The folder cannot be used. The message is one line for the user."""


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """The node that opens a folder. cluster_id: None accepts that of the folder, or creates one."""

    node_id: int
    cluster_id: str | None = None


class DataDirectory:
    """A data folder that this process has locked until `close`.

    metadata: the content of the metadata file; None if there is none or it is unreadable.
    """

    def __init__(self, folder: str | os.PathLike[str], owner: NodeIdentity) -> None:
        """Create the folder if necessary, and lock it. Raises DataDirectoryError."""
        self.folder = os.path.abspath(folder)
        self._files = OsFileSystem(self.folder)
        self.file_system: FileSystem = self._files
        try:
            os.makedirs(self.folder, exist_ok=True)
            _check_content(self.folder)
            self._lock = _lock_exclusive(f"{self.folder}/{LOCK}", self.folder)
        except OSError as error:
            raise DataDirectoryError(f"cannot use {self.folder}: {error.strerror}") from error
        try:
            self.cluster_id = self._claim(owner)
            self.metadata = self._read_metadata()
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
        self.metadata = self._read_metadata()

    def close(self) -> None:
        """Unlock the folder for other processes."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _claim(self, owner: NodeIdentity) -> str:
        """Check meta.properties against the owner, or create it. Return the cluster id."""
        path = f"{self.folder}/{META_PROPERTIES}"
        try:
            content = read_bounded(self.file_system, META_PROPERTIES, META_PROPERTIES_BYTES_MAX)
            properties = None if content is None else decode_meta_properties(content)
        except CorruptFileError as error:
            raise DataDirectoryError(f"cannot read {path}: {error}") from error
        if properties is None:
            properties = MetaProperties(owner.cluster_id or self._id_of_metadata(), owner.node_id, None)
        _check_owner(properties, owner, path)
        if properties.directory_id is None:
            properties = MetaProperties(properties.cluster_id, properties.node_id, new_uuid())
            self.file_system.replace(META_PROPERTIES, encode_meta_properties(properties), is_synced=True)
        return properties.cluster_id

    def _id_of_metadata(self) -> str:
        """Return the cluster id of the metadata file, or a new one, for a folder without meta.properties."""
        metadata = self._read_metadata()
        return uuid_text(new_uuid()) if metadata is None else metadata.cluster_id

    def _read_metadata(self) -> ClusterMetadata | None:
        """Return the content of the metadata file. Rename an unreadable file and log a warning."""
        try:
            content = read_bounded(self.file_system, METADATA_FILE, METADATA_BYTES_MAX)
            return None if content is None else decode_metadata(content)
        except NewerMetadataError as error:
            raise DataDirectoryError(f"{self.folder}: {error}") from error
        except CorruptFileError as error:
            logger.warning(
                "%s in %s; it is kept as %s, and the topics are taken from their folders",
                *(error, self.folder, BROKEN_METADATA_FILE),
            )
            self.file_system.rename(METADATA_FILE, BROKEN_METADATA_FILE)
            return None


def read_bounded(file_system: FileSystem, path: str, bytes_max: int) -> bytes | None:
    """Return the content of a small file, or None. Raises CorruptFileError if it is too large, and OSError."""
    if not file_system.exists(path):
        return None
    file = file_system.open(path)
    try:
        if file.size > bytes_max:
            raise CorruptFileError(f"{path} has {file.size} bytes, more than {bytes_max}")
        return bytes(file.read(0, file.size))
    finally:
        file.close()


def _check_content(folder: str) -> None:
    """Raise DataDirectoryError for a folder that is neither empty nor of fauxka or Kafka."""
    names = set(os.listdir(folder))
    others = sorted(names - _NAMES_IN_EMPTY)
    if others and not names & _MARKS_OF_DATA:
        raise DataDirectoryError(
            f"{folder} is no data folder: it has {others[0]!r} and no {META_PROPERTIES}; "
            "--data-dir takes an empty or new folder, or one that fauxka has written"
        )


def _lock_exclusive(path: str, folder: str) -> int:
    """Return a file descriptor with the lock, which is released with it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        # flock also excludes other threads of this process; lockf is the kind of lock that Java uses.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
