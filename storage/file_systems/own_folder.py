"""Deletes files by their names in one folder: those that are the caller's own, and nothing else.

Every deletion of a folder that can have other content goes through delete_own_folder; docs/decisions/own-files.md
lists the places.

1. A name decides whether a file is the caller's. Everything else stays, and so does a folder that has it.
2. A link with an own name is unlinked; its target stays. A link in the place of the folder is unlinked when the own
   files behind it are deleted; the folder behind it stays.
3. Files are deleted relative to an open descriptor of their folder, so that a link that replaces the folder meanwhile
   is not followed. With the identity of the folder, another folder in its place is refused. Windows opens no folder:
   there files are deleted by their paths.

Kafka deletes everything in a folder that is no link, subfolders included (Utils.delete, Kafka 4.3.0).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from errno import ENOTEMPTY, ESTALE
from typing import BinaryIO, NamedTuple

# Above the 64 bits of an inode's number.
_DEVICE_SHIFT = 64
# File permissions before the umask.
FILE_MODE = 0o666
_COPIED_AT_ONCE = 1024 * 1024
# Names in an error message.
_NAMES_SHOWN = 3
# How a folder is opened. Windows has no such flag, and opens no folder.
READ_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class _Folder(NamedTuple):
    """A folder, which may be behind a link. descriptor: None on Windows; the names of its files are paths then."""

    path: str
    descriptor: int | None

    @property
    def opened(self) -> int | str:
        """The folder for calls that take a descriptor or a path."""
        return self.path if self.descriptor is None else self.descriptor

    def name_of(self, name: str) -> str:
        """Return the name of a file for calls with dir_fd=descriptor."""
        return os.path.join(self.path, name) if self.descriptor is None else name


def identity_of(status: os.stat_result) -> int:
    """Return a number that no other file or folder has while this one exists."""
    return status.st_dev << _DEVICE_SHIFT | status.st_ino


@contextmanager
def _open_folder(path: str | os.PathLike[str]) -> Generator[_Folder, None, None]:
    """Yield a folder. Raises OSError."""
    if sys.platform == "win32":
        yield _Folder(os.fspath(path), None)
        return
    descriptor = os.open(path, READ_FOLDER)
    try:
        yield _Folder(os.fspath(path), descriptor)
    finally:
        os.close(descriptor)


def check_identity(path: str | os.PathLike[str], opened: int | str, identity: int) -> None:
    """Raise OSError ESTALE if an open file or folder has another identity."""
    if identity_of(os.stat(opened)) != identity:
        raise OSError(ESTALE, "replaced by another file or folder since it was opened", os.fspath(path))


def delete_own_folder(path: str | os.PathLike[str], is_own: Callable[[str], bool], identity: int | None = None) -> None:
    """Delete the files with own names, and then the folder, if they exist.

    is_own: whether a file name is the caller's. identity: of the folder; None for any.
    Raises OSError: ENOTEMPTY if the folder has something else and stays, ESTALE for another identity.
    """
    others: list[str] = []
    with suppress(FileNotFoundError), _open_folder(path) as folder:
        if identity is not None:
            check_identity(path, folder.opened, identity)
        others = _delete_own_files(folder, is_own)
    if os.path.islink(path):
        os.unlink(path)
        return
    if others:
        shown = ", ".join(repr(name) for name in others[:_NAMES_SHOWN])
        more = f" and {len(others) - _NAMES_SHOWN} more" if len(others) > _NAMES_SHOWN else ""
        raise OSError(ENOTEMPTY, f"not empty: {shown}{more} stay", os.fspath(path))
    with suppress(FileNotFoundError):
        os.rmdir(path)


def replace_file(
    path: str | os.PathLike[str], content: bytes, *, mode: int = FILE_MODE, is_synced: bool = False
) -> int:
    """Replace a file atomically, or a link by a file, and return its identity. Raises OSError; it is unchanged then.

    mode: the permissions of the file, before the umask. is_synced: whether to sync the file before it gets its name.
    """
    parent, name = os.path.split(path)
    with _open_folder(parent or os.curdir) as folder:
        temporary_name = folder.name_of(f".{name}.{os.getpid()}")
        with replacing(folder.descriptor, folder.name_of(name), temporary_name, mode=mode) as file:
            write_whole(file, content, is_synced=is_synced)
            return identity_of(os.fstat(file.fileno()))


def copy_file(source: str | os.PathLike[str], target: str | os.PathLike[str], *, is_synced: bool = False) -> None:
    """Copy the content of a file to a new one. Raises OSError: FileExistsError if there is a file or link already."""
    with open(source, "rb") as read, open(target, "xb") as written:
        shutil.copyfileobj(read, written, _COPIED_AT_ONCE)
        written.flush()
        if is_synced:
            os.fsync(written.fileno())


@contextmanager
def replacing(
    folder: int | None, name: str, temporary_name: str, *, mode: int = FILE_MODE
) -> Generator[BinaryIO, None, None]:
    """Yield a new file in an open folder, which replaces the one of that name at the end of the block.

    folder: None if the names are paths. temporary_name: of the new file until then. A file or link of that name is
    deleted before. Raises OSError.
    """
    try:
        with suppress(FileNotFoundError):
            os.unlink(temporary_name, dir_fd=folder)
        descriptor = os.open(temporary_name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode, dir_fd=folder)
        with open(descriptor, "wb") as file:
            yield file
        os.replace(temporary_name, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary_name, dir_fd=folder)
        raise


def write_whole(file: BinaryIO, content: bytes, *, is_synced: bool) -> None:
    """Write content, and sync the file if is_synced. Raises OSError."""
    file.write(content)
    file.flush()
    if is_synced:
        os.fsync(file.fileno())


def _delete_own_files(folder: _Folder, is_own: Callable[[str], bool]) -> list[str]:
    """Delete the files and links with own names in an open folder, and return the sorted names of everything else."""
    others: list[str] = []
    with os.scandir(folder.opened) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if is_folder or not is_own(name):
            others.append(name)
        else:
            with suppress(FileNotFoundError):
                os.unlink(folder.name_of(name), dir_fd=folder.descriptor)
    return sorted(others)
