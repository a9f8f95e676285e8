"""A file whose writes and syncs fail by rule, and that tracks which bytes are durable."""

from __future__ import annotations

from collections.abc import Callable

from fauxka.faults.files.operation_kind import OperationKind, os_error
from fauxka.storage.file_systems.file_system import File

from .crash_model import FileSafety
from .file_fault_rules import Fail, LoseSync, Stop, Tear
from .file_operations import FileOperations


class FaultyFile:
    """A file of a FaultyFileSystem: what is written goes to another file, but for what goes wrong."""

    __slots__ = ("_operations", "_size", "inner", "path", "safety")

    def __init__(self, operations: FileOperations, path: str, inner: File) -> None:
        """Wrap a file, all of which is safe.

        path: where it is now; kept up by the file system.
        """
        self._operations = operations
        self._size = inner.size
        self.path = path
        self.inner = inner
        self.safety = FileSafety()

    @property
    def size(self) -> int:
        """See File; what a torn write left behind does not count."""
        return self._size

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """See File."""
        operations = self._operations
        effect = operations.begin(OperationKind.WRITE, self.path)
        self._cut_torn_tail()
        position = self._size
        if isinstance(effect, Tear):
            whole = head + bytes(body)
            self._grow(whole[: min(effect.size, len(whole) - 1)], b"")
        else:
            self._grow(head, body)
            self._size = self.inner.size
        operations.end(effect, self.path)
        return position

    def _grow(self, head: bytes, body: memoryview | bytes) -> None:
        before = self.inner.size
        self.inner.append(head, body)
        self.safety.grow(before, self.inner.size)

    def _cut_torn_tail(self) -> None:
        """Take away what a torn write left, so that the next one stands right behind what was written whole."""
        torn_size = self.inner.size - self._size
        if torn_size > 0:
            tail = bytes(self.inner.read(self._size, torn_size))
            self.inner.truncate(self._size)
            self.safety.cut(self._size + torn_size, self._size, tail)

    def append_shared(self, source: File, size: int) -> bool:
        """See File."""
        return False

    def read(self, position: int, size: int) -> memoryview:
        """See File."""
        self._operations.check_read(self.path)
        return self.inner.read(position, size)

    def views(self, position: int, size: int) -> list[memoryview]:
        """See File."""
        self._operations.check_read(self.path)
        return self.inner.views(position, size)

    def preallocate(self, size: int) -> None:
        """See File."""
        effect = self._operations.begin(OperationKind.PREALLOCATE, self.path)
        self.inner.preallocate(size)
        self.safety.preallocate(size)
        self._operations.end(effect, self.path)

    def truncate(self, size: int) -> None:
        """Cut the file; without effect, and not counted as an operation, if it is not longer."""
        before = self.inner.size
        if size == max(before, self.safety.physical_size):
            return
        effect = self._operations.begin(OperationKind.TRUNCATE, self.path)
        tail = bytes(self.inner.read(size, before - size))
        self.inner.truncate(size)
        self.safety.cut(before, size, tail)
        self._size = size
        self._operations.end(effect, self.path)

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """See File; what goes wrong is decided here, and happens in the step."""
        operations, path, safety = self._operations, self.path, self.safety
        effect = operations.decide(OperationKind.SYNC, path)
        inner_step = self.inner.begin_sync(is_written_again=is_written_again)
        mark = safety.mark()

        def step() -> None:
            operations.check_running()
            if isinstance(effect, Fail):
                safety.fail_sync(mark)
                raise os_error(effect.error_number, path)
            if effect == Stop(is_done=False):
                operations.stop()
            if not isinstance(effect, LoseSync):
                inner_step()
                safety.make_safe(mark, is_written_again=is_written_again)
            operations.end(effect, path)

        return step

    def after_kill(self, operations: FileOperations) -> FaultyFile:
        """Return the file as another process finds it: with what a torn write left, and preallocated room as zeros."""
        inner = self.inner
        size = inner.size
        if self.safety.physical_size > size:
            inner.append(bytes(self.safety.physical_size - size), b"")
            self.safety.grow(size, inner.size)
        found = FaultyFile(operations, self.path, inner)
        found.safety = self.safety
        return found

    def close(self) -> None:
        """See File."""
        self.inner.close()
