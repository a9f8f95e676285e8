"""Files in memory, the default of a broker and of most tests."""

from __future__ import annotations

from errno import ENOENT, ENOTEMPTY

from .memory_file import MemoryFile


class MemoryFileSystem:
    """Files in memory; missing files and folders raise the same errors as on disk."""

    def __init__(self) -> None:
        """Start with an empty top folder."""
        self._folders: dict[str, dict[str, MemoryFile]] = {"": {}}

    @property
    def is_persistent(self) -> bool:
        """Whether the files outlive the process."""
        return False

    def open(self, path: str) -> MemoryFile:
        """Return the file at path; creates it if necessary."""
        folder, _, name = path.rpartition("/")
        files = self._folders.setdefault(folder, {})
        file = files.get(name)
        if file is None:
            file = files[name] = MemoryFile()
        return file

    def copy(self) -> MemoryFileSystem:
        """Return an independent copy of all files; full blocks are shared."""
        other = MemoryFileSystem()
        other._folders = {
            folder: {name: file.copy() for name, file in files.items()} for folder, files in self._folders.items()
        }
        return other

    def exists(self, path: str) -> bool:
        """Whether a file exists at path."""
        folder, _, name = path.rpartition("/")
        return name in self._folders.get(folder, {})

    def names_in(self, folder: str) -> list[str]:
        """Return the sorted names of the files in folder."""
        return sorted(self._folders.get(folder, {}))

    def folders(self) -> list[str]:
        """Return the sorted names of the folders."""
        return sorted(folder for folder in self._folders if folder)

    def rename(self, path: str, new_path: str) -> None:
        """Rename a file, replacing a file at new_path."""
        folder, _, name = path.rpartition("/")
        new_folder, _, new_name = new_path.rpartition("/")
        self._require_exists(path)
        if new_folder not in self._folders:
            raise FileNotFoundError(ENOENT, "no such folder", new_folder)
        self._folders[new_folder][new_name] = self._folders[folder].pop(name)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """Rename a folder."""
        if folder not in self._folders:
            raise FileNotFoundError(ENOENT, "no such folder", folder)
        if self._folders.get(new_folder):
            raise OSError(ENOTEMPTY, "folder is not empty", new_folder)
        self._folders[new_folder] = self._folders.pop(folder)

    def delete(self, path: str) -> None:
        """Delete the file at path, if it exists."""
        folder, _, name = path.rpartition("/")
        self._folders.get(folder, {}).pop(name, None)

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with its files, if it exists."""
        assert folder, "the top folder stays"
        self._folders.pop(folder, None)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """Replace the content of the file at path atomically."""
        folder, _, name = path.rpartition("/")
        file = MemoryFile()
        file.append(content, b"")
        self._folders.setdefault(folder, {})[name] = file

    def modified_ms(self, path: str) -> int:
        """Return 0: memory files have no modification time."""
        self._require_exists(path)
        return 0

    def sync_folder(self, folder: str) -> None:
        """Do nothing."""

    def _require_exists(self, path: str) -> None:
        if not self.exists(path):
            raise FileNotFoundError(ENOENT, "no such file", path)
