"""Files on disk, in one folder and its subfolders.

Nothing outside is written to by a link or a folder that comes between two operations:
1. A folder is what it was at its first use. With another one in its place, every operation that writes, renames or
   deletes raises OSError with ESTALE.
2. A file is what it was when it was opened first, in the same way.
3. A link to a file is followed if it was in the folder at the first use of the folder. Another one raises ELOOP.
4. A renamed or deleted name is that of the link; its target stays.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from errno import EISDIR, ELOOP
from stat import S_IMODE, S_ISLNK, S_ISREG
from weakref import ref

from ..log_files import is_log_file
from .file_system import TEMPORARY_SUFFIX
from .open_descriptors import OpenDescriptors
from .os_file import OsFile
from .own_folder import FILE_MODE, READ_FOLDER, check_identity, delete_own_folder, identity_of, replacing, write_whole

_NS_PER_MS = 1_000_000
# Permissions before the umask.
_PRIVATE = 0o600


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
        # Of the folders that were used, by name; and the links to files that they had then.
        self._identities: dict[str, int] = {}
        self._links: dict[str, frozenset[str]] = {}

    @property
    def is_persistent(self) -> bool:
        """Whether the files outlive the process."""
        return True

    def open(self, path: str) -> OsFile:
        """Return the file at path; creates it if necessary."""
        folder, name = _split(path)
        files = self._files.setdefault(folder, {})
        file = files[name]() if name in files else None
        if file is None:
            file = self._open_file(folder, name)
            files[name] = ref(file)
        return file

    def _open_file(self, folder: str, name: str) -> OsFile:
        full_path = f"{self._full_path(folder)}/{name}"
        with self._folder(folder, is_created=True) as descriptor:
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                return OsFile.create(full_path, self._descriptors)
            if S_ISLNK(status.st_mode):
                if name not in self._links.get(folder, ()):
                    raise OSError(ELOOP, "a link that was not there before", full_path)
                status = os.stat(name, dir_fd=descriptor)
        if not S_ISREG(status.st_mode):
            raise IsADirectoryError(EISDIR, "not a regular file", full_path)
        return OsFile(full_path, status.st_size, self._descriptors, identity_of(status))

    def discard_open_files(self) -> None:
        """Drop all OsFiles and identities, so that each path is opened again; existing files must not be used."""
        self._files.clear()
        self._identities.clear()
        self._links.clear()

    def exists(self, path: str) -> bool:
        """Whether a file exists at path."""
        try:
            return S_ISREG(os.stat(self._full_path(path)).st_mode)
        except FileNotFoundError:
            return False

    def names_in(self, folder: str) -> list[str]:
        """Return the sorted names of the files, and links to files, in folder."""
        try:
            with self._folder(folder) as descriptor, os.scandir(descriptor) as entries:
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
        (folder, name), (new_folder, new_name) = _split(path), _split(new_path)
        new_full_path = self._full_path(new_path)
        with self._folder(folder) as source, self._folder(new_folder) as target:
            os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
        if path == new_path:
            return
        self._detach(new_path)
        file = self._pop_file(path)
        if file is not None:
            file.set_path(new_full_path)
            self._files.setdefault(new_folder, {})[new_name] = ref(file)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """Rename a folder."""
        assert folder and new_folder, "the top folder cannot be renamed"
        new_full_path = self._full_path(new_folder)
        with self._folder(folder), self._folder("") as top:
            os.rename(folder, new_folder, src_dir_fd=top, dst_dir_fd=top)
        self._identities[new_folder] = self._identities.pop(folder)
        if folder in self._links:
            self._links[new_folder] = self._links.pop(folder)
        files = self._files.pop(folder, {})
        self._files[new_folder] = files
        for name, reference in files.items():
            file = reference()
            if file is not None:
                file.set_path(f"{new_full_path}/{name}")

    def delete(self, path: str) -> None:
        """Delete the file at path, if it exists."""
        folder, name = _split(path)
        with suppress(FileNotFoundError), self._folder(folder) as descriptor:
            os.unlink(name, dir_fd=descriptor)
        self._detach(path)

    def delete_folder(self, folder: str) -> None:
        """Delete the files of a log in a folder, and the folder, if it exists; see delete_own_folder."""
        assert folder, "the top folder cannot be deleted"
        try:
            delete_own_folder(self._full_path(folder), is_log_file, self._identities.get(folder))
        finally:
            for name in list(self._files.get(folder, {})):
                self._detach(f"{folder}/{name}")
            self._files.pop(folder, None)
        self._forget(folder)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """Replace the content of the file at path atomically."""
        folder, name = _split(path)
        mode = _PRIVATE if path in self._private_files else FILE_MODE
        with (
            self._folder(folder, is_created=True) as descriptor,
            replacing(descriptor, name, name + TEMPORARY_SUFFIX, mode=mode) as file,
        ):
            write_whole(file, content, is_synced=is_synced)
        self._detach(path)
        if is_synced:
            self.sync_folder(folder)

    def protect_private_files(self) -> None:
        """Take the permissions of other users from the private files that exist. Raises OSError."""
        for path in self._private_files:
            full_path = self._full_path(path)
            with suppress(FileNotFoundError):
                status = os.lstat(full_path)
                if S_ISREG(status.st_mode) and S_IMODE(status.st_mode) != _PRIVATE:
                    os.chmod(full_path, _PRIVATE)

    def modified_ms(self, path: str) -> int:
        """Return the time of the last write, in milliseconds since the epoch."""
        return os.stat(self._full_path(path)).st_mtime_ns // _NS_PER_MS

    def sync_folder(self, folder: str) -> None:
        """Sync the file names of the folder to disk."""
        with self._folder(folder) as descriptor:
            os.fsync(descriptor)

    @contextmanager
    def _folder(self, folder: str, *, is_created: bool = False) -> Generator[int, None, None]:
        """Yield a descriptor of a folder. Raises OSError: ESTALE if it is another one than at its first use.

        is_created: whether a missing folder is created.
        """
        full_path = self._full_path(folder)
        if is_created and not os.path.isdir(full_path):
            os.makedirs(full_path, exist_ok=True)
            self._forget(folder)
        descriptor = self._descriptors.open_uncached(full_path, READ_FOLDER)
        identity = self._identities.get(folder)
        if identity is not None:
            check_identity(full_path, descriptor.number, identity)
        else:
            self._identities[folder] = identity_of(os.fstat(descriptor.number))
            with os.scandir(descriptor.number) as entries:
                links = frozenset(entry.name for entry in entries if entry.is_symlink())
            if links:
                self._links[folder] = links
        yield descriptor.number

    def _forget(self, folder: str) -> None:
        self._identities.pop(folder, None)
        self._links.pop(folder, None)

    def _full_path(self, path: str) -> str:
        """Return the absolute path; path must stay inside the root."""
        if not path:
            return self._root
        _split(path)
        return f"{self._root}/{path}"

    def _pop_file(self, path: str) -> OsFile | None:
        """Remove the path from the open files, and return its file, if it is held."""
        folder, name = _split(path)
        reference = self._files.get(folder, {}).pop(name, None)
        return None if reference is None else reference()

    def _detach(self, path: str) -> None:
        file = self._pop_file(path)
        if file is not None:
            file.detach()


def _split(path: str) -> tuple[str, str]:
    """Return the folder and the name of a path, which must stay inside the root."""
    names = path.split("/")
    assert len(names) <= 2 and not {"", ".", ".."}.intersection(names), f"{path!r} is not folder/name or name"
    folder, _, name = path.rpartition("/")
    return folder, name
