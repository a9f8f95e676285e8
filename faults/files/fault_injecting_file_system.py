"""The files of a node, with its fault rules applied. Without a rule every call goes straight to the wrapped files.

A stop of the node is that of a killed process: what was written stays, except for what rules tore or lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ...storage.file_systems.file_system import TEMPORARY_SUFFIX
from .fault_injecting_file import FaultInjectingFile
from .file_actions import ContentChange, Lose, Tear
from .operation_kind import OperationKind

if TYPE_CHECKING:
    from ...storage.file_systems.file_system import FileSystem
    from .simulated_disk import SimulatedDisk


class FaultInjectingFileSystem:
    """A FileSystem that applies the rules of a disk to another one. inner: the wrapped file system."""

    def __init__(self, inner: FileSystem, disk: SimulatedDisk) -> None:
        """Wrap inner."""
        self.inner = inner
        self._disk = disk

    @property
    def is_persistent(self) -> bool:
        """Whether the files outlive the process."""
        return self.inner.is_persistent

    def open(self, path: str) -> FaultInjectingFile:
        """Return the file at path; creating it is a write."""
        if self._disk.is_armed:
            self._disk.check_running(path)
            if not self.inner.exists(path):
                self._disk.check(OperationKind.CREATE, path)
        return FaultInjectingFile(self._disk, path, self.inner.open(path))

    def exists(self, path: str) -> bool:
        """Return whether there is a file at path."""
        return self.inner.exists(path)

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in folder."""
        return self.inner.names_in(folder)

    def folders(self) -> list[str]:
        """Return the names of the folders."""
        return self.inner.folders()

    def rename(self, path: str, new_path: str) -> None:
        """Rename a file. A lost rename is undone when the node stops."""
        is_lost = self._disk.is_armed and self._is_lost(OperationKind.RENAME, path)
        self.inner.rename(path, new_path)
        if is_lost:
            self._disk.undo_at_stop(lambda: self.inner.rename(new_path, path))

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """Rename a folder. A lost rename is undone when the node stops."""
        is_lost = self._disk.is_armed and self._is_lost(OperationKind.RENAME_FOLDER, folder)
        self.inner.rename_folder(folder, new_folder)
        if is_lost:
            self._disk.undo_at_stop(lambda: self.inner.rename_folder(new_folder, folder))

    def delete(self, path: str) -> None:
        """Delete a file."""
        if self._disk.is_armed:
            self._disk.check(OperationKind.DELETE, path)
        self.inner.delete(path)

    def delete_folder(self, folder: str) -> None:
        """Delete a folder."""
        if self._disk.is_armed:
            self._disk.check(OperationKind.DELETE_FOLDER, folder)
        self.inner.delete_folder(folder)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """Replace a file: a write, a sync if is_synced, and a rename, each with its own rule.

        If the write or the rename is lost, nothing is done. A torn write leaves its bytes in the temporary file.
        """
        disk = self._disk
        if not disk.is_armed:
            self.inner.replace(path, content, is_synced=is_synced)
            return
        action = disk.check(OperationKind.REPLACE, path)
        match action:
            case None:
                pass
            case Lose():
                return
            case Tear(byte_count) as tear:
                part = content[: max(0, min(byte_count, len(content) - 1))]
                self.inner.replace(path + TEMPORARY_SUFFIX, part)
                disk.fail_torn_write(tear, path)
            case ContentChange():
                content = action.changed(content)
            case _:
                assert_never(action)
        if is_synced and self._is_lost(OperationKind.SYNC, path):
            is_synced = False
        if not self._is_lost(OperationKind.RENAME, path):
            self.inner.replace(path, content, is_synced=is_synced)

    def modified_ms(self, path: str) -> int:
        """Return when the file was last written to."""
        return self.inner.modified_ms(path)

    def sync_folder(self, folder: str) -> None:
        """Sync the names in a folder."""
        if not (self._disk.is_armed and self._is_lost(OperationKind.SYNC_FOLDER, f"{folder}/")):
            self.inner.sync_folder(folder)

    def _is_lost(self, kind: OperationKind, path: str) -> bool:
        """Apply the rule for an operation, and return whether its effect is lost. Raises OSError."""
        return isinstance(self._disk.check(kind, path), Lose)
