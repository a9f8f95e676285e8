"""Making a log safe from a crash of the machine: what has to be synced, as a step that another thread can take.

Source: UnifiedLog.flush and LocalLog.flush, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .producer_state_entry import ProducerStateEntry


@dataclass(frozen=True, slots=True)
class PendingSnapshot:
    """The producers as they were at an offset, which have not been written yet."""

    offset: int
    entries: list[ProducerStateEntry]


@dataclass(frozen=True, slots=True)
class Flush:
    """One flush of a log, begun and finished on the log's own thread.

    end_offset: everything before it is safe once run has returned.
    folder_changes: how many names in the folder had changed when it began.
    snapshot: what it writes besides.
    """

    end_offset: int
    folder_changes: int
    snapshot: PendingSnapshot | None
    steps: list[Callable[[], None]]

    def run(self) -> None:
        """Sync; may take long, and may run in any thread, once. Raises OSError."""
        for step in self.steps:
            step()
