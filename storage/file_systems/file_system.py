"""The file system interface of storage.

* Append takes two parts, the rewritten start of a batch and the rest as received, so that they are never joined.
* Methods are for the owner's thread unless they say "any thread". Another thread may read bytes that were already in a
  file, as long as the file is not truncated or deleted.
* Every method may raise OSError.
* After a file is replaced, renamed over or deleted, a File of it must not be used. Steps of begin_sync and views that
  were read stay valid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

# The suffix of the file that replace writes before it renames it.
TEMPORARY_SUFFIX = ".tmp"


class File(Protocol):
    """One file; positions and sizes are bytes."""

    @property
    def size(self) -> int:
        """The bytes in the file, without preallocated space."""
        ...

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """Write head and body to the end, and return the position of head; after OSError the file is unchanged."""
        ...

    def append_shared(self, source: File, size: int) -> bool:
        """Append the bytes of source from the end of this file up to size without a copy, if that is possible.

        Both files must have the same bytes so far. Returns whether they were appended; most files cannot.
        """
        ...

    def read(self, position: int, size: int) -> memoryview:
        """Return size bytes from position as one view; they must be in the file."""
        ...

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position, which must be in the file, as views that avoid a copy.

        The views keep their content when the file grows, is truncated or is deleted.
        """
        ...

    def preallocate(self, size: int) -> None:
        """Extend the file on disk to at least size bytes with a hole; its content and size stay the same.

        Opened after a crash, the file has the hole as zero bytes, until it is truncated.
        """
        ...

    def truncate(self, size: int) -> None:
        """Truncate the file to size bytes, and remove preallocated space."""
        ...

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """Return a step that syncs everything written so far to disk.

        is_written_again: whether the step writes all of it again first. After a failed sync, the system may have marked
        lost pages as clean. The file must not be truncated before the step has run.
        The step runs once, on any thread, may block for long, works after a deletion of the file, and raises OSError.
        """
        ...

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        ...


class FileSystem(Protocol):
    """Files in folders; a path is "folder/name", or "name" for a file in the top folder, which is ""."""

    @property
    def is_persistent(self) -> bool:
        """Whether the files outlive the process."""
        ...

    def open(self, path: str) -> File:
        """Return the file at path; creates it and its folder if necessary.

        All callers get the same File while one of them holds it. The first write opens an existing file for writing.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether a file exists at path."""
        ...

    def names_in(self, folder: str) -> list[str]:
        """Return the sorted names of the files in folder; an empty list if the folder does not exist."""
        ...

    def folders(self) -> list[str]:
        """Return the sorted names of the folders, without the top folder."""
        ...

    def rename(self, path: str, new_path: str) -> None:
        """Rename a file, replacing a file at new_path; its File stays usable.

        Raises FileNotFoundError if the file or the new folder does not exist.
        """
        ...

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """Rename a folder; the Files in it stay usable.

        Raises FileNotFoundError if the folder does not exist, another OSError if the new one has files.
        """
        ...

    def delete(self, path: str) -> None:
        """Delete the file at path, if it exists. Any thread, if no other thread uses the path."""
        ...

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with its log, if it exists. Any thread, if no other thread uses the folder.

        On disk, what is not of a log (log_files.is_log_file) stays with the folder. OSError has ENOTEMPTY then.
        """
        ...

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """Replace the content of the file at path atomically; creates the file and its folder. Any thread.

        is_synced: whether to sync the file and its folder before returning.
        A crash may leave path + TEMPORARY_SUFFIX behind. After OSError the file has the old or the new content.
        """
        ...

    def modified_ms(self, path: str) -> int:
        """Return the time of the last write, in milliseconds since the epoch; 0 in memory."""
        ...

    def sync_folder(self, folder: str) -> None:
        """Sync the file names of the folder to disk. Any thread."""
        ...


def read_whole(file_system: FileSystem, path: str) -> memoryview:
    """Return the content of a small file and close it. Raises OSError."""
    file = file_system.open(path)
    try:
        return file.read(0, file.size)
    finally:
        file.close()
