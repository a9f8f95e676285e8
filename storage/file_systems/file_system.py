"""The files that logs are made of: what storage needs of them, wherever they are kept.

A log appends, reads and cuts; it never asks what is behind. Received bytes are appended as two parts, a few bytes
stamped by the broker and the rest as it came, so that no kind of file needs a joined copy of them. All of it is for
one thread, the owner's, but for what says otherwise. Another thread may read what was in a file before, as long as the
file is not cut or deleted. What can fail raises OSError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

# What replace adds to a path until the content is whole.
TEMPORARY_SUFFIX = ".tmp"


class File(Protocol):
    """One file; positions and sizes are bytes."""

    @property
    def size(self) -> int:
        """The bytes in the file; room that was preallocated does not count."""
        ...

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """Write head and, right behind it, body to the end, and return the position of head.

        All or nothing: on OSError the file is as it was, and whoever tries again continues there.
        """
        ...

    def read(self, position: int, size: int) -> memoryview:
        """Return size bytes from position as one piece; they must be in the file."""
        ...

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position in as many pieces as saves copying them; they must be in the file.

        The pieces stay what they are while the file grows, is truncated or deleted.
        """
        ...

    def preallocate(self, size: int) -> None:
        """Make the file on disk at least size bytes large, by a hole; what it holds, and so its size here, stays.

        Who opens it after a crash finds the hole as zero bytes, until truncate has taken it away.
        """
        ...

    def truncate(self, size: int) -> None:
        """Cut the file to its first size bytes, and with it the room that was preallocated."""
        ...

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """Return a step that makes all that is written up to now safe from a crash of the machine.

        is_written_again: write it all once more first. A sync that failed may have left it in memory alone, and marked
        as if it were on disk. The file must not be cut until the step is done.
        The step may take long. It may run once, in any thread, whatever has become of the file; it raises OSError.
        """
        ...

    def close(self) -> None:
        """Give back what an open file costs; it is opened again by its next use."""
        ...


class FileSystem(Protocol):
    """Files in folders; a path is "folder/name", or "name" for a file in the top folder, which is "".

    Who replaces, renames over or deletes a file must not use a File of it any more; steps of begin_sync and pieces
    that were read stay good.
    """

    @property
    def is_persistent(self) -> bool:
        """Whether the files outlive the process."""
        ...

    def open(self, path: str) -> File:
        """Return the file at path, created empty, with its folder, if it is not there; the same one while it is used.

        A file that is there is opened for writing by its first write only.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether there is a file at path."""
        ...

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in folder, sorted; none if there is no such folder."""
        ...

    def folders(self) -> list[str]:
        """Return the names of the folders, sorted, without the top folder."""
        ...

    def rename(self, path: str, new_path: str) -> None:
        """Give the file at path another path, replacing what is there; its File stays usable.

        Raises FileNotFoundError where the file or the new folder is not there.
        """
        ...

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """Give a folder another name; the Files in it stay usable.

        Raises FileNotFoundError if there is no such folder, another OSError if the new one has files.
        """
        ...

    def delete(self, path: str) -> None:
        """Delete the file at path, if it is there. Any thread, where nobody else uses the path."""
        ...

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with all its files, if it is there. Any thread, where nobody else uses the folder."""
        ...

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """Make content all that the file at path holds, at once: after a crash it is there or what was before is.

        is_synced: return when it is safe from a crash of the machine, by syncing the file and its folder.
        It is written to path + TEMPORARY_SUFFIX, which a crash may leave behind. On OSError either content is there,
        whole. Any thread.
        """
        ...

    def modified_ms(self, path: str) -> int:
        """Return when the file was last written to, in milliseconds since the epoch; 0 in memory."""
        ...

    def sync_folder(self, folder: str) -> None:
        """Return when the names in the folder are safe from a crash of the machine. Any thread."""
        ...


def read_whole(file_system: FileSystem, path: str) -> memoryview:
    """Return all of a small file, and leave it closed. Raises OSError."""
    file = file_system.open(path)
    try:
        return file.read(0, file.size)
    finally:
        file.close()
