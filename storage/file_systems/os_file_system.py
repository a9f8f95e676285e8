"""Files on disk, in one folder and its subfolders."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from errno import EISDIR
from stat import S_IFMT, S_ISREG
from weakref import ref

from .file_system import TEMPORARY_SUFFIX
from .open_descriptors import OpenDescriptors
from .os_file import OsFile

_NS_PER_MS = 1_000_000
# Permissions before the umask.
_PRIVATE, _SHARED = 0o600, 0o666


class OsFileSystem:
    """The files of one folder and its subfolders, which are created with the first file.

    A path has one OsFile while a reference to it exists, so that all holders see the same size. Several threads may
    work at the same time in different subfolders.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        descriptors: OpenDescriptors | None = None,
        *,
        private_files: Collection[str] = (),
    ) -> None:
        """root: need not exist. descriptors: a shared cache; by default a new one.

        private_files: paths that `replace` creates for this user alone.
        """
        self._private_files = frozenset(private_files)
        self._root = os.path.abspath(root)
        self._descriptors = OpenDescriptors() if descriptors is None else descriptors
        self._files: dict[str, dict[str, ref[OsFile]]] = {}

    @property
    def is_persistent(self) -> bool:
        """Whether the files outlive the process."""
        return True

    def open(self, path: str) -> OsFile:
        """Return the file at path; creates it if necessary."""
        folder, _, name = path.rpartition("/")
        files = self._files.setdefault(folder, {})
        file = files[name]() if name in files else None
        if file is None:
            file = self._open_file(self._full_path(path))
            files[name] = ref(file)
        return file

    def _open_file(self, full_path: str) -> OsFile:
        try:
            status = os.stat(full_path)
        except FileNotFoundError:
            return self._create_file(full_path)
        if not S_ISREG(status.st_mode):
            raise IsADirectoryError(EISDIR, "not a regular file", full_path)
        return OsFile(full_path, status.st_size, self._descriptors)

    def _create_file(self, full_path: str) -> OsFile:
        try:
            return OsFile.create(full_path, self._descriptors)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(full_path), exist_ok=True)
            return OsFile.create(full_path, self._descriptors)

    def discard_open_files(self) -> None:
        """Drop all OsFiles, so that each path is opened again; existing ones must not be used."""
        self._files.clear()

    def exists(self, path: str) -> bool:
        """Whether a file exists at path."""
        try:
            return S_ISREG(os.stat(self._full_path(path)).st_mode)
        except FileNotFoundError:
            return False

    def names_in(self, folder: str) -> list[str]:
        """Return the sorted names of the files, and links to files, in folder."""
        try:
            with os.scandir(self._full_path(folder)) as entries:
                return sorted(entry.name for entry in entries if entry.is_file())
        except FileNotFoundError:
            return []

    def folders(self) -> list[str]:
        """Return the sorted names of the folders."""
        try:
            with os.scandir(self._root) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        except FileNotFoundError:
            return []

    def rename(self, path: str, new_path: str) -> None:
        """Rename a file, replacing a file at new_path."""
        new_full_path = self._full_path(new_path)
        os.rename(self._full_path(path), new_full_path)
        if path == new_path:
            return
        self._detach(new_path)
        file = self._pop_file(path)
        if file is not None:
            file.set_path(new_full_path)
            new_folder, _, new_name = new_path.rpartition("/")
            self._files.setdefault(new_folder, {})[new_name] = ref(file)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """Rename a folder."""
        assert folder and new_folder, "the top folder cannot be renamed"
        new_full_path = self._full_path(new_folder)
        os.rename(self._full_path(folder), new_full_path)
        files = self._files.pop(folder, {})
        self._files[new_folder] = files
        for name, reference in files.items():
            file = reference()
            if file is not None:
                file.set_path(f"{new_full_path}/{name}")

    def delete(self, path: str) -> None:
        """Delete the file at path, if it exists."""
        with suppress(FileNotFoundError):
            os.unlink(self._full_path(path))
        self._detach(path)

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with its files, if it exists; raises OSError if it has subfolders."""
        assert folder, "the top folder cannot be deleted"
        full_path = self._full_path(folder)
        try:
            with os.scandir(full_path) as entries:
                names = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            names = []
        for name in names:
            self.delete(f"{folder}/{name}")
        with suppress(FileNotFoundError):
            os.rmdir(full_path)
        self._files.pop(folder, None)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """Replace the content of the file at path atomically."""
        full_path = self._full_path(path)
        temporary_path = full_path + TEMPORARY_SUFFIX
        mode = _PRIVATE if path in self._private_files else _SHARED
        os.makedirs(os.path.dirname(full_path), exist_ok=True)
        try:
            # What a crash left has the permissions that it was created with.
            with suppress(FileNotFoundError):
                os.unlink(temporary_path)
            with open(os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(content)
                file.flush()
                if is_synced:
                    os.fsync(file.fileno())
            os.replace(temporary_path, full_path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary_path)
            raise
        self._detach(path)
        if is_synced:
            self.sync_folder(path.rpartition("/")[0])

    def protect_private_files(self) -> None:
        """Take the permissions of other users from the private files that exist. Raises OSError."""
        for path in self._private_files:
            full_path = self._full_path(path)
            with suppress(FileNotFoundError):
                status = os.lstat(full_path)
                if S_ISREG(status.st_mode) and status.st_mode & ~S_IFMT(status.st_mode) != _PRIVATE:
                    os.chmod(full_path, _PRIVATE)

    def modified_ms(self, path: str) -> int:
        """Return the time of the last write, in milliseconds since the epoch."""
        return os.stat(self._full_path(path)).st_mtime_ns // _NS_PER_MS

    def sync_folder(self, folder: str) -> None:
        """Sync the file names of the folder to disk."""
        descriptor = os.open(self._full_path(folder), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _full_path(self, path: str) -> str:
        """Return the absolute path; path must stay inside the root."""
        if not path:
            return self._root
        names = path.split("/")
        assert len(names) <= 2 and not {"", ".", ".."}.intersection(names), f"{path!r} is not folder/name or name"
        return f"{self._root}/{path}"

    def _pop_file(self, path: str) -> OsFile | None:
        """Remove the path from the open files, and return its file, if it is held."""
        folder, _, name = path.rpartition("/")
        reference = self._files.get(folder, {}).pop(name, None)
        return None if reference is None else reference()

    def _detach(self, path: str) -> None:
        file = self._pop_file(path)
        if file is not None:
            file.detach()
