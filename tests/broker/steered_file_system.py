"""Files whose syncs a test holds up, counts and fails, and that a test can make full or unreadable."""

import errno
import os
import threading
from collections.abc import Callable

from fauxka.storage.file_systems.file_system import File, FileSystem

# Longer than any test holds a sync up; a test that is broken does not hang for ever.
HELD_SECONDS_MAX = 20.0


def os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class SteeredFile:
    """A file of a SteeredFileSystem."""

    def __init__(self, steered: "SteeredFileSystem", path: str, inner: File) -> None:
        self._steered = steered
        self._path = path
        self._inner = inner

    @property
    def size(self) -> int:
        return self._inner.size

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        self._steered.check_writable(self._path)
        return self._inner.append(head, body)

    def append_shared(self, source: File, size: int) -> bool:
        return False

    def read(self, position: int, size: int) -> memoryview:
        self._steered.check_readable()
        return self._inner.read(position, size)

    def views(self, position: int, size: int) -> list[memoryview]:
        self._steered.check_readable()
        return self._inner.views(position, size)

    def preallocate(self, size: int) -> None:
        self._inner.preallocate(size)

    def truncate(self, size: int) -> None:
        self._inner.truncate(size)

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        step = self._inner.begin_sync(is_written_again=is_written_again)

        def steered_step() -> None:
            self._steered.sync(self._path)
            step()

        return steered_step

    def close(self) -> None:
        self._inner.close()


class SteeredFileSystem:
    """The files of another file system, as long as the test lets them be."""

    def __init__(self, inner: FileSystem) -> None:
        self._inner = inner
        self._may_sync = threading.Event()
        self._may_sync.set()
        self.sync_began = threading.Event()
        self.syncs = 0
        self.is_full = False
        self.full_path = ""
        self.is_unreadable = False
        self.sync_error: OSError | None = None

    def hold_syncs(self) -> None:
        """Have syncs wait from now on."""
        self.sync_began.clear()
        self._may_sync.clear()

    def release_syncs(self) -> None:
        self._may_sync.set()

    def sync(self, path: str) -> None:
        """What happens in a sync, in whatever thread it runs; those of logs are counted."""
        self.syncs += path.endswith(".log")
        self.sync_began.set()
        assert self._may_sync.wait(HELD_SECONDS_MAX), "held up for longer than any test does"
        if self.sync_error is not None:
            raise self.sync_error

    def check_writable(self, path: str) -> None:
        if self.is_full or (self.full_path and path.startswith(self.full_path)):
            raise os_error(errno.ENOSPC)

    def check_readable(self) -> None:
        if self.is_unreadable:
            raise os_error(errno.EIO)

    @property
    def is_persistent(self) -> bool:
        return True

    def open(self, path: str) -> SteeredFile:
        return SteeredFile(self, path, self._inner.open(path))

    def exists(self, path: str) -> bool:
        return self._inner.exists(path)

    def names_in(self, folder: str) -> list[str]:
        return self._inner.names_in(folder)

    def folders(self) -> list[str]:
        return self._inner.folders()

    def rename(self, path: str, new_path: str) -> None:
        self._inner.rename(path, new_path)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        self._inner.rename_folder(folder, new_folder)

    def delete(self, path: str) -> None:
        self._inner.delete(path)

    def delete_folder(self, folder: str) -> None:
        self._inner.delete_folder(folder)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        self.check_writable(path)
        self._inner.replace(path, content, is_synced=is_synced)

    def modified_ms(self, path: str) -> int:
        return self._inner.modified_ms(path)

    def sync_folder(self, folder: str) -> None:
        self._inner.sync_folder(folder)
