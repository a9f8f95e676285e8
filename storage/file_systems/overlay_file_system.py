"""A folder of files that is never written to, and over it another file system that takes what is written.

Files of the lower system are found as long as nobody deletes, replaces or renames them here: all of that is
remembered in memory only, so what is in the upper system means nothing without this object.
"""

from __future__ import annotations

from contextlib import suppress
from errno import ENOENT, ENOTEMPTY

from .file_system import File, FileSystem
from .overlay_file import OverlayFile


class OverlayFileSystem:
    """What is in either of two file systems, whose upper one alone is written to.

    An upper file hides the lower one of its path, unless it is what was appended to that.
    """

    def __init__(self, lower: FileSystem, upper: FileSystem) -> None:
        """Show all of lower, and what is in upper over it.

        lower: not written to by anybody while this is used.
        """
        self._lower = lower
        self._upper = upper
        # By folder and name as they are here: where the lower file is. What was deleted is not in it any more.
        self._lower_paths = {folder: self._listed(folder) for folder in ["", *lower.folders()]}
        # By where the lower file is.
        self._opened: dict[str, OverlayFile] = {}

    def _listed(self, folder: str) -> dict[str, str]:
        hidden = set(self._upper.names_in(folder))
        return {name: _joined(folder, name) for name in self._lower.names_in(folder) if name not in hidden}

    @property
    def is_persistent(self) -> bool:
        """See FileSystem."""
        return self._upper.is_persistent

    def open(self, path: str) -> File:
        """See FileSystem."""
        lower_path = self._find_lower(path)
        if lower_path is None:
            return self._upper.open(path)
        file = self._opened.get(lower_path)
        if file is None:
            # Opening a file that somebody took away would make a new one there.
            if not self._lower.exists(lower_path):
                raise FileNotFoundError(ENOENT, "the file below was taken away", lower_path)
            file = self._opened[lower_path] = OverlayFile(self._lower.open(lower_path), self._upper, path)
        return file

    def exists(self, path: str) -> bool:
        """See FileSystem."""
        return self._find_lower(path) is not None or self._upper.exists(path)

    def names_in(self, folder: str) -> list[str]:
        """See FileSystem."""
        return sorted({*self._lower_paths.get(folder, ()), *self._upper.names_in(folder)})

    def folders(self) -> list[str]:
        """See FileSystem."""
        return sorted({*filter(None, self._lower_paths), *self._upper.folders()})

    def rename(self, path: str, new_path: str) -> None:
        """See FileSystem."""
        new_folder = new_path.rpartition("/")[0]
        if not self.exists(path):
            raise FileNotFoundError(ENOENT, "no such file", path)
        if new_folder and new_folder not in self.folders():
            raise FileNotFoundError(ENOENT, "no such folder", new_folder)
        if path == new_path:
            return
        if self._upper.exists(path):
            # The new folder may be a lower one only; opening the file that is replaced makes it above too.
            self._upper.open(new_path).close()
            self._upper.rename(path, new_path)
        else:
            self._upper.delete(new_path)
        self._hide_lower(new_path)
        self._move_lower(path, new_path)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """See FileSystem."""
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
                    self._opened[lower_path].moved(_joined(new_folder, name))

    def delete(self, path: str) -> None:
        """See FileSystem."""
        self._upper.delete(path)
        self._hide_lower(path)

    def delete_folder(self, folder: str) -> None:
        """See FileSystem."""
        self._upper.delete_folder(folder)
        for lower_path in self._lower_paths.pop(folder, {}).values():
            self._opened.pop(lower_path, None)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """See FileSystem."""
        self._upper.replace(path, content, is_synced=is_synced)
        self._hide_lower(path)

    def modified_ms(self, path: str) -> int:
        """See FileSystem."""
        lower_path = self._find_lower(path)
        if lower_path is None or self._upper.exists(path):
            return self._upper.modified_ms(path)
        return self._lower.modified_ms(lower_path)

    def sync_folder(self, folder: str) -> None:
        """See FileSystem; the lower folder is not ours to sync."""
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
                self._opened[lower_path].moved(new_path)


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
