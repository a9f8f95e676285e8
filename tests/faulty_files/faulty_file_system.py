"""A file system on another one that does wrong what its rules say, and knows what a crash would leave of it.

Every change and every sync is an operation with a number. What a crash leaves is made as files in memory, so that a log
can be loaded from it while this one stays as it is.
"""

from __future__ import annotations

import errno
from random import Random

from fauxka.faults.files.operation_kind import OperationKind, os_error
from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem

from .crash_model import Directory
from .faulty_file import FaultyFile
from .file_fault_rules import LoseSync, Tear
from .file_operations import FileOperations

__all__ = ["FaultyFile", "FaultyFileSystem"]


class FaultyFileSystem:
    """Files that are kept by another file system, which nobody else changes, until a rule of `plan` says otherwise.

    plan: what goes wrong; rules may be added and lifted at any time.
    operations: counts them, and does what goes wrong.
    The crash model reads files that are deleted but not yet safely so: the other file system must keep them readable
    for whoever has them open, as files in memory are.
    """

    def __init__(self, inner: FileSystem, *, is_persistent: bool = True) -> None:
        """Start with what inner holds, all of which counts as safe, and without rules.

        is_persistent: see FileSystem; what is crashed and loaded again must be.
        """
        self._is_persistent = is_persistent
        self.operations = FileOperations()
        self.plan = self.operations.plan
        self._inner = inner
        # A sync of the top folder makes both safe: the names of its files and those of its folders.
        self._top_files: Directory[FaultyFile] = Directory()
        self._folders: Directory[Directory[FaultyFile]] = Directory()
        self._add_files(self._top_files, "")
        for folder in inner.folders():
            self._folders.entries[folder] = Directory()
            self._add_files(self._folders.entries[folder], folder)
        self._folders.make_safe()

    def _add_files(self, directory: Directory[FaultyFile], folder: str) -> None:
        for name in self._inner.names_in(folder):
            path = f"{folder}/{name}" if folder else name
            directory.entries[name] = FaultyFile(self.operations, path, self._inner.open(path))
        directory.make_safe()

    @property
    def is_persistent(self) -> bool:
        """See FileSystem."""
        return self._is_persistent

    def open(self, path: str) -> FaultyFile:
        """See FileSystem."""
        self.operations.check_running()
        found = self._find(path)
        if found is not None:
            return found
        effect = self.operations.begin(OperationKind.CREATE, path)
        file = FaultyFile(self.operations, path, self._inner.open(path))
        folder, _, name = path.rpartition("/")
        self._made_directory(folder).change({name: file})
        self.operations.end(effect, path)
        return file

    def exists(self, path: str) -> bool:
        """See FileSystem."""
        self.operations.check_running()
        return self._inner.exists(path)

    def names_in(self, folder: str) -> list[str]:
        """See FileSystem."""
        self.operations.check_running()
        return self._inner.names_in(folder)

    def folders(self) -> list[str]:
        """See FileSystem."""
        self.operations.check_running()
        return self._inner.folders()

    def rename(self, path: str, new_path: str) -> None:
        """See FileSystem; a rename from one folder to another is refused, as one from one disk to another is."""
        effect = self.operations.begin(OperationKind.RENAME, path)
        folder, _, name = path.rpartition("/")
        new_folder, _, new_name = new_path.rpartition("/")
        if folder != new_folder:
            raise os_error(errno.EXDEV, new_path)
        self._inner.rename(path, new_path)
        file = self._file(path)
        file.path = new_path
        self._directory(folder).change({name: None, new_name: file})
        self.operations.end(effect, path)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """See FileSystem."""
        effect = self.operations.begin(OperationKind.RENAME_FOLDER, folder)
        self._inner.rename_folder(folder, new_folder)
        directory = self._directory(folder)
        for name, file in directory.entries.items():
            file.path = f"{new_folder}/{name}"
        self._folders.change({folder: None, new_folder: directory})
        self.operations.end(effect, folder)

    def delete(self, path: str) -> None:
        """See FileSystem."""
        effect = self.operations.begin(OperationKind.DELETE, path)
        folder, _, name = path.rpartition("/")
        if self._find(path) is not None:
            self._inner.delete(path)
            self._directory(folder).change({name: None})
        self.operations.end(effect, path)

    def delete_folder(self, folder: str) -> None:
        """See FileSystem."""
        effect = self.operations.begin(OperationKind.DELETE_FOLDER, folder)
        self._inner.delete_folder(folder)
        if folder in self._folders.entries:
            self._folders.change({folder: None})
        self.operations.end(effect, folder)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """See FileSystem; torn, the first bytes are in the temporary file, and what was there before stays."""
        effect = self.operations.begin(OperationKind.REPLACE, path)
        folder, _, name = path.rpartition("/")
        directory = self._made_directory(folder)
        if isinstance(effect, Tear):
            temporary = self._new_file(f"{path}.tmp", content[: min(effect.size, len(content) - 1)])
            directory.change({f"{name}.tmp": temporary})
        else:
            file = self._new_file(path, content)
            if is_synced:
                file.safety.make_safe(file.safety.mark())
            directory.change({f"{name}.tmp": None, name: file})
            if is_synced:
                self._make_names_safe(folder)
        self.operations.end(effect, path)

    def _new_file(self, path: str, content: bytes) -> FaultyFile:
        """Return a file that holds nothing but content, in the place of any that was there; its name is not noted."""
        self._inner.replace(path, content)
        file = FaultyFile(self.operations, path, self._inner.open(path))
        file.safety.grow(0, len(content))
        return file

    def modified_ms(self, path: str) -> int:
        """See FileSystem."""
        self.operations.check_running()
        return self._inner.modified_ms(path)

    def sync_folder(self, folder: str) -> None:
        """See FileSystem."""
        effect = self.operations.begin(OperationKind.SYNC_FOLDER, f"{folder}/")
        if not isinstance(effect, LoseSync):
            self._inner.sync_folder(folder)
            self._make_names_safe(folder)
        self.operations.end(effect, folder)

    def _made_directory(self, folder: str) -> Directory[FaultyFile]:
        """Return a folder, made if it is not there."""
        if folder and folder not in self._folders.entries:
            self._folders.change({folder: Directory()})
        return self._directory(folder)

    def _directory(self, folder: str) -> Directory[FaultyFile]:
        found = self._folders.entries.get(folder) if folder else self._top_files
        if found is None:
            raise os_error(errno.ENOENT, folder)
        return found

    def _make_names_safe(self, folder: str) -> None:
        self._directory(folder).make_safe()
        if not folder:
            self._folders.make_safe()

    def _find(self, path: str) -> FaultyFile | None:
        folder, _, name = path.rpartition("/")
        directory = self._folders.entries.get(folder) if folder else self._top_files
        return directory.entries.get(name) if directory is not None else None

    def _file(self, path: str) -> FaultyFile:
        file = self._find(path)
        if file is None:
            raise os_error(errno.ENOENT, path)
        return file

    # Crashes.

    @property
    def has_failed_syncs(self) -> bool:
        """Whether a sync failed to make something safe that was not written again: only the power would show it."""
        directories = (self._top_files, *self._folders.entries.values())
        return any(file.safety.has_failed for directory in directories for file in directory.entries.values())

    def after_kill(self) -> FaultyFileSystem:
        """Stop, and return the files as the next process finds them: all that was written is there.

        What was not safe still is not. Nothing goes wrong any more, and this one must not be used again.
        """
        self.operations.is_stopped = True
        found = FaultyFileSystem(self._inner, is_persistent=self.is_persistent)
        files: dict[FaultyFile, FaultyFile] = {}
        directories: dict[int, Directory[FaultyFile]] = {}

        def file_of(file: FaultyFile) -> FaultyFile:
            if file not in files:
                files[file] = file.after_kill(found.operations)
            return files[file]

        def directory_of(directory: Directory[FaultyFile]) -> Directory[FaultyFile]:
            # By identity: directories are not hashable.
            if id(directory) not in directories:
                directories[id(directory)] = directory.mapped(file_of)
            return directories[id(directory)]

        found._top_files = self._top_files.mapped(file_of)
        found._folders = self._folders.mapped(directory_of)
        return found

    def after_power_loss(self, random: Random) -> MemoryFileSystem:
        """Stop, and return the files as the power may leave them: what was synced is there, and some of the rest.

        random: what decides; the same one gives the same files.
        """
        self.operations.is_stopped = True
        left = MemoryFileSystem()
        _put(left, "", _contents_after_power_loss(self._top_files, random))
        for folder, directory in self._folders.after_power_loss(random).items():
            _put(left, folder, _contents_after_power_loss(directory, random))
        return left


def _contents_after_power_loss(directory: Directory[FaultyFile], random: Random) -> dict[str, bytes]:
    return {
        name: file.safety.after_power_loss(bytes(file.inner.read(0, file.inner.size)), random)
        for name, file in directory.after_power_loss(random).items()
    }


def _put(file_system: MemoryFileSystem, folder: str, contents: dict[str, bytes]) -> None:
    """Make a folder with these files, or an empty one."""
    prefix = f"{folder}/" if folder else ""
    file_system.open(f"{prefix}empty")
    file_system.delete(f"{prefix}empty")
    for name, content in contents.items():
        file_system.open(f"{prefix}{name}").append(content, b"")
