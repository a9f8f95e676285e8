"""All logs on a file system: create, find, delete, and the passes over all of them.

Source: LogManager, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from .emulated_version import EmulatedVersion
from .file_system import FileSystem
from .log_config import LogConfig
from .log_files import partition_folder
from .partition_log import LogPlace, PartitionLog


class LogManager:
    """The logs of one broker."""

    def __init__(self, file_system: FileSystem, emulated_version: EmulatedVersion | None = None) -> None:
        """Start without logs.

        emulated_version: whose producer rules the logs follow; those of Kafka 4.3 by default.
        """
        self._file_system = file_system
        self._emulated_version = emulated_version or EmulatedVersion.latest()
        self._logs: dict[str, PartitionLog] = {}

    def __iter__(self) -> Iterator[PartitionLog]:
        """Yield every log."""
        return iter(list(self._logs.values()))

    def create(
        self, topic_name: str, partition: int, config: LogConfig, *, now_ms: int, leader_epoch: int = 0
    ) -> PartitionLog:
        """Create the empty log of a partition, led from the beginning in leader_epoch; there must be none yet."""
        folder = partition_folder(topic_name, partition)
        assert folder not in self._logs, f"there is a log for {folder}"
        place = LogPlace(self._file_system, topic_name, partition, self._emulated_version)
        log = PartitionLog(place, config, now_ms=now_ms)
        log.assign_leader_epoch(leader_epoch)
        self._logs[folder] = log
        return log

    def find(self, topic_name: str, partition: int) -> PartitionLog | None:
        """Return the log of a partition, or None."""
        return self._logs.get(partition_folder(topic_name, partition))

    def delete(self, topic_name: str, partition: int) -> None:
        """Delete the log of a partition with its files, if there is one."""
        log = self._logs.pop(partition_folder(topic_name, partition), None)
        if log is not None:
            log.delete()

    def enforce_retention(self, now_ms: int) -> int:
        """Delete what is past its time in every log, and return how many segments that were."""
        return sum(log.enforce_retention(now_ms) for log in self)

    def remove_expired_producers(self, now_ms: int) -> int:
        """Forget the idle producers of every log, and return how many they were."""
        return sum(log.producers.remove_expired(now_ms) for log in self)
