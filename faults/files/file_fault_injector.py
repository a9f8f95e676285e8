"""Entry point of file faults: a disk with fault rules, and the file system on it that a node uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fault_injecting_file_system import FaultInjectingFileSystem
from .simulated_disk import SimulatedDisk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...storage.file_systems.file_system import FileSystem
    from .file_rule_plan import Threads


class FileFaultInjector(SimulatedDisk):
    """File faults of one node, as broker.replica.disk_fault_injector requires them."""

    def of_another_node(self, now_ms: Callable[[], int], threads: Threads) -> FileFaultInjector:
        """Return the file faults of another node, with the same rules."""
        return FileFaultInjector(now_ms, threads, self.plan)

    def wrap(self, inner: FileSystem) -> FaultInjectingFileSystem:
        """Return inner with the rules applied. Forgets what was torn or lost in the files wrapped before."""
        self._forget_damage()
        return FaultInjectingFileSystem(inner.inner if isinstance(inner, FaultInjectingFileSystem) else inner, self)
