"""A read-only lower file system with a writable upper one on top.

Lower files are visible until they are deleted, replaced or renamed here. These changes are kept in memory only, so the
upper file system cannot be used without this object.
"""

from __future__ import annotations

from contextlib import suppress
from errno import ENOENT, ENOTEMPTY

from .file_system import File, FileSystem
from .overlay_file import OverlayFile


class OverlayFileSystem:
    """The files of two file systems; only the upper one is written to.

    An upper file hides the lower file of the same path, unless it contains the bytes appended to it.
    """

    def __init__(self, lower: FileSystem, upper: FileSystem) -> None:
        """lower: must not be changed while this object is used."""
        self._lower = lower
        self._upper = upper
        # The paths of the visible lower files, by current folder and current name.
        self._lower_paths = {folder: self._list_lower_paths(folder) for folder in ["", *lower.folders()]}
        # By lower path.
        self._opened: dict[str, OverlayFile] = {}

    def _list_lower_paths(self, folder: str) -> dict[str, str]:
        hidden = set(self._upper.names_in(folder))
        return {name: _join(folder, name) for name in self._lower.names_in(folder) if name not in hidden}

    @property
    def is_persistent(self) -> bool:
        """Whether the files outlive the process."""
        return self._upper.is_persistent

    def open(self, path: str) -> File:
        """Return the file at path; creates it if necessary."""
        lower_path = self._find_lower(path)
        if lower_path is None:
            return self._upper.open(path)
        file = self._opened.get(lower_path)
        if file is None:
            # Opening a missing file would create it in the lower file system.
            if not self._lower.exists(lower_path):
                raise FileNotFoundError(ENOENT, "the lower file was deleted", lower_path)
            file = self._opened[lower_path] = OverlayFile(self._lower.open(lower_path), self._upper, path)
        return file

    def exists(self, path: str) -> bool:
        """Whether a file exists at path."""
        return self._find_lower(path) is not None or self._upper.exists(path)

    def names_in(self, folder: str) -> list[str]:
        """Return the sorted names of the files in folder."""
        return sorted({*self._lower_paths.get(folder, ()), *self._upper.names_in(folder)})

    def folders(self) -> list[str]:
        """Return the sorted names of the folders."""
        return sorted({*filter(None, self._lower_paths), *self._upper.folders()})

    def rename(self, path: str, new_path: str) -> None:
        """Rename a file, replacing a file at new_path."""
        new_folder = new_path.rpartition("/")[0]
        if not self.exists(path):
            raise FileNotFoundError(ENOENT, "no such file", path)
        if new_folder and new_folder not in self.folders():
            raise FileNotFoundError(ENOENT, "no such folder", new_folder)
        if path == new_path:
            return
        if self._upper.exists(path):
            # The new folder may exist only below. Opening the target file creates the folder in the upper file system.
            self._upper.open(new_path).close()
            self._upper.rename(path, new_path)
        else:
            self._upper.delete(new_path)
        self._hide_lower(new_path)
        self._move_lower(path, new_path)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """Rename a folder."""
        if folder not in self.folders():
            raise FileNotFoundError(ENOENT, "no such folder", folder)
        if self.names_in(new_folder):
            raise OSError(ENOTEMPTY, "folder is not empty", new_folder)
        if folder in self._upper.folders():
            self._upper.rename_folder(folder, new_folder)
        names = self._lower_paths.pop(folder, None)
        if names is not None:
            self._lower_paths[new_folder] = names
            for name, lower_path in names.items():
                if lower_path in self._opened:
                    self._opened[lower_path].set_path(_join(new_folder, name))

    def delete(self, path: str) -> None:
        """Delete the file at path, if it exists."""
        self._upper.delete(path)
        self._hide_lower(path)

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with its files, if it exists."""
        self._upper.delete_folder(folder)
        for lower_path in self._lower_paths.pop(folder, {}).values():
            self._opened.pop(lower_path, None)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """Replace the content of the file at path atomically."""
        self._upper.replace(path, content, is_synced=is_synced)
        self._hide_lower(path)

    def modified_ms(self, path: str) -> int:
        """Return the time of the last write, in milliseconds since the epoch."""
        lower_path = self._find_lower(path)
        if lower_path is None or self._upper.exists(path):
            return self._upper.modified_ms(path)
        return self._lower.modified_ms(lower_path)

    def sync_folder(self, folder: str) -> None:
        """Sync the upper folder, if it exists."""
        with suppress(FileNotFoundError):
            self._upper.sync_folder(folder)

    def _find_lower(self, path: str) -> str | None:
        folder, _, name = path.rpartition("/")
        return self._lower_paths.get(folder, {}).get(name)

    def _hide_lower(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        lower_path = self._lower_paths.get(folder, {}).pop(name, None)
        if lower_path is not None:
            self._opened.pop(lower_path, None)

    def _move_lower(self, path: str, new_path: str) -> None:
        folder, _, name = path.rpartition("/")
        new_folder, _, new_name = new_path.rpartition("/")
        lower_path = self._lower_paths.get(folder, {}).pop(name, None)
        if lower_path is not None:
            self._lower_paths.setdefault(new_folder, {})[new_name] = lower_path
            if lower_path in self._opened:
                self._opened[lower_path].set_path(new_path)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
