"""The metadata file of a data folder and its copy: which of them counts.

1. Every change is in the file before its response. The copy gets the same content a moment later (metadata_store).
2. An undamaged file counts. The copy is then only compared, and written again if it differs.
3. If the file is damaged or missing, the copy counts. It may lack the changes of the last moment, so the loader
   completes it from the partition folders (`stored_topics.complete_topics`).
4. If both are damaged, start-up ends with an error and writes nothing.
5. A damaged file without a copy is renamed, and the topics come from the folders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...storage.corrupt_file import CorruptFileError
from ...storage.file_systems.file_system import FileSystem
from ..metadata.cluster_metadata import (
    INT64_MAX,
    METADATA_BYTES_MAX,
    ClusterMetadata,
    NewerMetadataError,
    decode_metadata,
)
from ..metadata.metadata_fields import METADATA_FILE

METADATA_COPY = METADATA_FILE + ".copy"
# A damaged metadata file is renamed to this before a new one is written.
BROKEN_METADATA_FILE = METADATA_FILE + ".broken"
# They have the passwords of dynamic configs, SCRAM credentials and delegation tokens.
PRIVATE_FILES = (METADATA_FILE, METADATA_COPY, BROKEN_METADATA_FILE)
# Added to the next producer id and the metadata offset after a start from the copy of the metadata, which may lack the
# last changes. More than a broker uses until the copy is written: both must never decrease.
NUMBERS_SKIPPED = 1_000_000


@dataclass(frozen=True, slots=True)
class StoredMetadata:
    """The content of both files.

    metadata: None if there is neither a readable file nor a copy.
    file_fault, copy_fault: why a file cannot be used; None if it can, or if it does not exist.
    is_from_copy: whether metadata is that of the copy.
    is_copy_due: whether the copy differs from a readable file, or is missing.
    """

    metadata: ClusterMetadata | None
    file_fault: str | None = None
    copy_fault: str | None = None
    is_from_copy: bool = False
    is_copy_due: bool = False


@dataclass(frozen=True, slots=True)
class _StoredFile:
    """A file as it was read. Both are None if it does not exist."""

    metadata: ClusterMetadata | None
    fault: str | None


def read_metadata_files(file_system: FileSystem) -> StoredMetadata:
    """Read both files, and write nothing. Raises NewerMetadataError, CorruptFileError if both are damaged, OSError."""
    file, copy = _read(file_system, METADATA_FILE), _read(file_system, METADATA_COPY)
    if file.metadata is not None:
        is_copy_due = copy.metadata != file.metadata
        return StoredMetadata(file.metadata, copy_fault=copy.fault, is_copy_due=is_copy_due)
    if copy.metadata is not None:
        fault = file.fault or f"{METADATA_FILE} is missing"
        return StoredMetadata(copy.metadata, file_fault=fault, is_from_copy=True)
    if copy.fault is not None:
        fault = file.fault or f"{METADATA_FILE} is missing"
        raise CorruptFileError(
            f"{fault}, and {copy.fault}; nothing was changed. Restore one of both files, or delete both: "
            "the topics are then taken from their folders, and their configs are lost"
        )
    return StoredMetadata(None, file_fault=file.fault)


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


def _read(file_system: FileSystem, name: str) -> _StoredFile:
    try:
        content = read_bounded(file_system, name, METADATA_BYTES_MAX)
        return _StoredFile(None if content is None else decode_metadata(content), None)
    except NewerMetadataError:
        raise
    except CorruptFileError as error:
        text = str(error)
        # The messages of decode_metadata begin with the name of the file.
        return _StoredFile(None, text if text.startswith(name) else text.replace(METADATA_FILE, name, 1))


def skipped_ahead(copied: ClusterMetadata) -> ClusterMetadata:
    """Return the metadata of a copy with numbers that no change since has used."""
    return replace(
        copied,
        next_producer_id=min(copied.next_producer_id + NUMBERS_SKIPPED, INT64_MAX),
        metadata_offset=min(copied.metadata_offset + NUMBERS_SKIPPED, INT64_MAX),
    )
