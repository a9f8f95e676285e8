"""Files in memory with fault rules, on one thread that can act as the event loop's or as another."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field

from fauxka.faults.files.armed_file_rule import ArmedFileRule
from fauxka.faults.files.file_fault_injector import FileFaultInjector
from fauxka.faults.files.file_rules import FileRule
from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem

LOG = "orders-0/00000000000000000000.log"
SNAPSHOT = "orders-0/00000000000000000007.snapshot"


@dataclass
class OneThread:
    """The event loop's thread, or another one, which blocks."""

    is_loop: bool = True
    waited_ms: list[int] = field(default_factory=list[int])
    wakes: int = 0
    lock: nullcontext[None] = field(default_factory=nullcontext)

    def run(self, callback: Callable[[], None]) -> None:
        callback()

    def pause(self, ms: int) -> bool:
        if not self.is_loop:
            self.waited_ms.append(ms)
        return not self.is_loop

    def wake(self) -> None:
        self.wakes += 1


class FaultInjectingFiles:
    """A file system with rules and a clock."""

    def __init__(self, inner: FileSystem | None = None) -> None:
        self.now_ms = 1000
        self.threads = OneThread()
        self.faults = FileFaultInjector(lambda: self.now_ms, self.threads)
        self.inner = inner or MemoryFileSystem()
        self.system = self.faults.wrap(self.inner)

    def add(self, rule: FileRule) -> ArmedFileRule:
        return self.faults.plan.add(rule)

    def append(self, content: bytes = b"abcdef", path: str = LOG) -> None:
        self.system.open(path).append(content, b"")

    def content(self, path: str = LOG) -> bytes:
        """Return the content of the wrapped file."""
        file = self.inner.open(path)
        return bytes(file.read(0, file.size))
