"""Periodic work on the logs of a data folder: checkpoints, flushes by time, and deletion of renamed files.

The event loop collects the content of a checkpoint or the files to delete. A disk thread writes or deletes them.
Source: LogManager.startup and ReplicaManager.startHighWatermarkCheckPointThread, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...storage.checkpoints.checkpoint_files import (
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
)

if TYPE_CHECKING:
    from ..replica.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

# How often to check for files that were renamed file.delete.delay.ms ago. Kafka has a timer for each file.
DELETION_INTERVAL_MS = 1000


class LogScheduler:
    """The periodic work on the logs of a node."""

    def __init__(self, replicas: ReplicaManager) -> None:
        """replicas: the replica manager of the node."""
        self._replicas = replicas
        self._contents: dict[str, bytes] = {}
        self._in_flight: set[str] = set()
        self._failing: set[str] = set()

    def schedule(self) -> list[tuple[int, Callable[[], None]]]:
        """Return the periodic tasks, each with its interval in ms."""
        settings = self._replicas.config
        return [
            (settings.log_flush_offset_checkpoint_interval_ms, partial(self.checkpoint, RECOVERY_POINT_CHECKPOINT)),
            (
                settings.log_flush_start_offset_checkpoint_interval_ms,
                partial(self.checkpoint, LOG_START_OFFSET_CHECKPOINT),
            ),
            (
                settings.replica_high_watermark_checkpoint_interval_ms,
                partial(self.checkpoint, REPLICATION_OFFSET_CHECKPOINT),
            ),
            (settings.log_flush_scheduler_interval_ms, self.flush_by_time),
            (DELETION_INTERVAL_MS, self.delete_due_files),
        ]

    def checkpoint(self, name: str) -> None:
        """Write a checkpoint file if its content has changed and it is not being written."""
        if name in self._in_flight:
            return
        logs = self._replicas.logs
        content = logs.checkpoint(name)
        if content == self._contents.get(name):
            return
        self._in_flight.add(name)
        self._replicas.disk_executor.run(
            partial(logs.write_checkpoints, {name: content}), partial(self._checkpoint_written, name, content)
        )

    def _checkpoint_written(self, name: str, content: bytes, error: OSError | None) -> None:
        self._in_flight.remove(name)
        if error is None:
            self._contents[name] = content
            self._failing.discard(name)
        elif name not in self._failing:
            # Logged once per failure. The only effect is a longer recovery after a crash.
            self._failing.add(name)
            logger.warning("cannot write %s: %s", name, error)

    def flush_by_time(self) -> None:
        """Flush the logs whose flush.ms has passed."""
        now_ms = self._replicas.clock.steady_ms()
        for partition in self._replicas.partitions():
            if partition.flusher is not None:
                partition.flusher.flush_if_due(now_ms)

    def delete_due_files(self) -> None:
        """Delete the renamed files whose file.delete.delay.ms has passed, in a disk thread."""
        step = self._replicas.logs.begin_deletion(self._replicas.clock.now_ms())
        if step is not None:
            self._replicas.disk_executor.run(step, _deleted)


def _deleted(error: OSError | None) -> None:
    assert error is None, f"the deletion logs its errors and raises none: {error}"
