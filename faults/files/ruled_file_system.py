"""The files of a broker that serves: another file system's, which go wrong as soon as there are rules that say so.

There is no model of what a loss of power would leave; see FaultyFileSystem for that. Here the machine stops as a killed
process does: what was written is there, but for what the rules had torn or lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .operation_kind import OperationKind
from .ruled_file import RuledFile, corrupted

if TYPE_CHECKING:
    from ...storage.file_systems.file_system import FileSystem
    from .file_fault import FileFault
    from .file_faults import FileFaults


class RuledFileSystem:
    """Files that are kept by another file system, until a rule says otherwise; see FileFaults.wrap."""

    def __init__(self, inner: FileSystem, faults: FileFaults) -> None:
        """Take the files of inner, of which nothing has gone wrong."""
        self.inner = inner
        self._faults = faults

    @property
    def is_persistent(self) -> bool:
        """See FileSystem."""
        return self.inner.is_persistent

    def open(self, path: str) -> RuledFile:
        """See FileSystem."""
        if self._faults.is_armed:
            self._faults.check_running(path)
            if not self.inner.exists(path):
                self._faults.check(OperationKind.CREATE, path)
        return RuledFile(self._faults, path, self.inner.open(path))

    def exists(self, path: str) -> bool:
        """See FileSystem."""
        return self.inner.exists(path)

    def names_in(self, folder: str) -> list[str]:
        """See FileSystem."""
        return self.inner.names_in(folder)

    def folders(self) -> list[str]:
        """See FileSystem."""
        return self.inner.folders()

    def rename(self, path: str, new_path: str) -> None:
        """See FileSystem; one that is lost is undone when the machine stops."""
        fault = self._faults.check(OperationKind.RENAME, path) if self._faults.is_armed else None
        self.inner.rename(path, new_path)
        if _is_lost(fault):
            self._faults.undo_at_stop(lambda: self.inner.rename(new_path, path))

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """See FileSystem; see rename."""
        fault = self._faults.check(OperationKind.RENAME_FOLDER, folder) if self._faults.is_armed else None
        self.inner.rename_folder(folder, new_folder)
        if _is_lost(fault):
            self._faults.undo_at_stop(lambda: self.inner.rename_folder(new_folder, folder))

    def delete(self, path: str) -> None:
        """See FileSystem."""
        if self._faults.is_armed:
            self._faults.check(OperationKind.DELETE, path)
        self.inner.delete(path)

    def delete_folder(self, folder: str) -> None:
        """See FileSystem."""
        if self._faults.is_armed:
            self._faults.check(OperationKind.DELETE_FOLDER, folder)
        self.inner.delete_folder(folder)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """See FileSystem: a write, a sync where it is asked for, and a rename, each of which may go wrong.

        Lost, nothing of it is done. Torn, the first bytes are in the temporary file, and what was there before stays.
        """
        faults = self._faults
        if not faults.is_armed:
            self.inner.replace(path, content, is_synced=is_synced)
            return
        written = faults.check(OperationKind.REPLACE, path)
        if _is_lost(written):
            return
        if written is not None and written.action == "tear":
            # Loaded here: a start in memory has no use for the rest of it.
            from ...storage.file_systems.file_system import TEMPORARY_SUFFIX

            part = content[: max(0, min(written.byte_count, len(content) - 1))]
            self.inner.replace(path + TEMPORARY_SUFFIX, part)
            faults.tear(written, path)
        if written is not None and written.action == "corrupt":
            content = corrupted(content, written.byte_count)
        if is_synced and _is_lost(faults.check(OperationKind.SYNC, path)):
            is_synced = False
        if _is_lost(faults.check(OperationKind.RENAME, path)):
            return
        self.inner.replace(path, content, is_synced=is_synced)

    def modified_ms(self, path: str) -> int:
        """See FileSystem."""
        return self.inner.modified_ms(path)

    def sync_folder(self, folder: str) -> None:
        """See FileSystem."""
        if self._faults.is_armed and _is_lost(self._faults.check(OperationKind.SYNC_FOLDER, f"{folder}/")):
            return
        self.inner.sync_folder(folder)


def _is_lost(fault: FileFault | None) -> bool:
    return fault is not None and fault.action == "lose"
