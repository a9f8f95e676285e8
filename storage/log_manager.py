"""All logs on a file system: create, load, find, delete, checkpoint, close, and the passes over all of them.

What is not about a single log stands in the top folder: the checkpoints, and the mark that says that all logs were
closed. That mark is taken away before any log is loaded, and comes back last of all.
Source: LogManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from .checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    LOG_START_OFFSET_CHECKPOINT,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    decode_partition_metadata,
    encode_clean_shutdown,
    encode_offsets,
    encode_partition_metadata,
)
from .checkpoints.offset_checkpoint import read_offsets
from .corrupt_file import CorruptFileError
from .file_systems.file_system import FileSystem, read_whole
from .log_config import LogConfig
from .log_files import (
    CLUSTER_METADATA_TOPIC,
    DELETED_FOLDER_SUFFIX,
    PartitionName,
    deleted_folder,
    partition_folder,
    partition_of,
    stray_folder,
)
from .log_loader import LoadState, LogPlace
from .partition_log import PartitionLog
from .producers.emulated_version import EmulatedVersion

logger = logging.getLogger(__name__)

# The files of the top folder that have an offset of each log.
OFFSET_CHECKPOINTS = (RECOVERY_POINT_CHECKPOINT, LOG_START_OFFSET_CHECKPOINT, REPLICATION_OFFSET_CHECKPOINT)

# The epoch of the only broker there is; nothing reads it from the mark.
BROKER_EPOCH = 0


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """A partition that has a folder; topic_id is None where its partition.metadata is missing or cannot be read."""

    topic_name: str
    partition: int
    topic_id: bytes | None


def _run_in_turn(steps: Iterable[Callable[[], None]]) -> None:
    for step in steps:
        step()


class LogManager:
    """The logs of one broker."""

    def __init__(self, file_system: FileSystem, emulated_version: EmulatedVersion | None = None) -> None:
        """Start without logs.

        emulated_version: whose producer rules the logs follow; those of Kafka 4.3 by default.
        """
        self._file_system = file_system
        self._emulated_version = emulated_version or EmulatedVersion.latest()
        self._logs: dict[PartitionName, PartitionLog] = {}
        self._was_clean = False
        self._recovery_points: dict[PartitionName, int] = {}
        self._log_start_offsets: dict[PartitionName, int] = {}
        self._deleted_folders: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[PartitionLog]:
        """Yield every log."""
        return iter(list(self._logs.values()))

    # -- before the first log

    def begin(self) -> bool:
        """Read the checkpoints, take the clean-shutdown mark away, and return whether it was there.

        Once, before any log is loaded. Folders of deleted partitions go, as their delay was another process's.
        A checkpoint that cannot be read counts as empty: more is recovered then. Raises OSError.
        """
        self._recovery_points = read_offsets(self._file_system, RECOVERY_POINT_CHECKPOINT)
        self._log_start_offsets = read_offsets(self._file_system, LOG_START_OFFSET_CHECKPOINT)
        self._was_clean = self._file_system.exists(CLEAN_SHUTDOWN)
        self._file_system.delete(CLEAN_SHUTDOWN)
        # A mark that came back after a power loss would say of the next logs that they were closed. Even where it is
        # gone already: who took it away may have been killed here.
        self._file_system.sync_folder("")
        for folder in self._file_system.folders():
            if folder.endswith(DELETED_FOLDER_SUFFIX):
                self._file_system.delete_folder(folder)
        return self._was_clean

    def partitions_on_disk(self) -> list[StoredPartition]:
        """Return the partitions that have a folder, without KRaft's own."""
        names = [name for folder in self._file_system.folders() if (name := partition_of(folder)) is not None]
        return [
            StoredPartition(name.topic_name, name.partition, self._topic_id_in(partition_folder(*name)))
            for name in names
            if name.topic_name != CLUSTER_METADATA_TOPIC
        ]

    def _topic_id_in(self, folder: str) -> bytes | None:
        path = f"{folder}/{PARTITION_METADATA}"
        if not self._file_system.exists(path):
            return None
        try:
            return decode_partition_metadata(read_whole(self._file_system, path))
        except CorruptFileError as error:
            logger.warning("%s: %s", path, error)
            return None

    def set_aside(self, topic_name: str, partition: int, unique_id: bytes) -> str:
        """Rename the folder of a partition that the cluster does not know, as Kafka does, and return its new name.

        unique_id: 16 bytes that no other folder was renamed with.
        """
        folder = stray_folder(topic_name, partition, unique_id)
        self._file_system.rename_folder(partition_folder(topic_name, partition), folder)
        return folder

    # -- logs

    def create(
        self,
        topic_name: str,
        partition: int,
        config: LogConfig,
        *,
        now_ms: int,
        leader_epoch: int = 0,
        topic_id: bytes | None = None,
    ) -> PartitionLog:
        """Create the empty log of a partition, led from the beginning in leader_epoch; there must be none yet.

        topic_id: 16 bytes for its partition.metadata, which is left out without. Raises OSError.
        """
        name = PartitionName(topic_name, partition)
        assert name not in self._logs, f"there is a log for {name}"
        if topic_id is not None:
            path = f"{partition_folder(topic_name, partition)}/{PARTITION_METADATA}"
            self._file_system.replace(path, encode_partition_metadata(topic_id))
        log = PartitionLog(self._place(name), config, now_ms=now_ms)
        log.assign_leader_epoch(leader_epoch)
        self._logs[name] = log
        return log

    def load(self, topic_name: str, partition: int, config: LogConfig, *, now_ms: int) -> PartitionLog:
        """Load the log of a partition from its folder, recovered where that is needed. Raises OSError."""
        name = PartitionName(topic_name, partition)
        assert name not in self._logs, f"there is a log for {name}"
        state = LoadState(
            is_clean=self._was_clean,
            recovery_point=self._recovery_points.get(name, 0),
            log_start_offset=self._log_start_offsets.get(name, 0),
            is_recovery_point_known=name in self._recovery_points,
        )
        log = PartitionLog(self._place(name), config, now_ms=now_ms, state=state)
        if log.cut_bytes:
            logger.warning("%s: %d damaged bytes were cut off", log.topic_partition, log.cut_bytes)
        self._logs[name] = log
        return log

    def _place(self, name: PartitionName) -> LogPlace:
        return LogPlace(self._file_system, name.topic_name, name.partition, self._emulated_version)

    def find(self, topic_name: str, partition: int) -> PartitionLog | None:
        """Return the log of a partition, or None."""
        return self._logs.get(PartitionName(topic_name, partition))

    def delete(self, topic_name: str, partition: int, *, now_ms: int = 0, unique_id: bytes = bytes(16)) -> None:
        """Delete the log of a partition with its files, if there is one; what was read from it stays readable.

        A folder on disk is renamed first and deleted by delete_due_files, file.delete.delay.ms after now_ms.
        unique_id: 16 bytes that no other folder was renamed with. Raises OSError.
        """
        log = self._logs.pop(PartitionName(topic_name, partition), None)
        if log is None:
            return
        log.abandon()
        folder = partition_folder(topic_name, partition)
        if not self._file_system.is_persistent:
            self._file_system.delete_folder(folder)
            return
        renamed = deleted_folder(topic_name, partition, unique_id)
        self._file_system.rename_folder(folder, renamed)
        self._deleted_folders.append((now_ms + log.config.file_delete_delay_ms, renamed))

    # -- passes over all logs

    def enforce_retention(self, now_ms: int) -> int:
        """Delete what is past its time in every log, and return how many segments that were."""
        return sum(self._each(lambda log: log.enforce_retention(now_ms)))

    def delete_due_files(self, now_ms: int) -> None:
        """Delete the files and folders whose time has come since they were renamed."""
        step = self.begin_deletion(now_ms)
        if step is not None:
            step()

    def begin_deletion(self, now_ms: int) -> Callable[[], None] | None:
        """Return what deletes the files and folders that are due, to be called once, in any thread; None without any.

        Nobody knows their names any more. What cannot be deleted is logged, and deleted by the next start.
        """
        files = [path for log in self for path in log.deleted_files.take_due(now_ms)]
        folders = [folder for due_ms, folder in self._deleted_folders if due_ms <= now_ms]
        if not files and not folders:
            return None
        self._deleted_folders = [entry for entry in self._deleted_folders if entry[0] > now_ms]
        return partial(self._delete_all, files, folders)

    def _delete_all(self, files: list[str], folders: list[str]) -> None:
        for delete, paths in ((self._file_system.delete, files), (self._file_system.delete_folder, folders)):
            for path in paths:
                try:
                    delete(path)
                except OSError as error:
                    logger.warning("%s: %s", path, error)

    def _each(self, work: Callable[[PartitionLog], int]) -> list[int]:
        """Do the work on every log; a file that refuses is no reason to leave out the other logs."""
        results: list[int] = []
        for log in self:
            try:
                results.append(work(log))
            except OSError as error:
                logger.warning("%s: %s", log.topic_partition, error)
        return results

    def remove_expired_producers(self, now_ms: int) -> int:
        """Forget the idle producers of every log, and return how many they were."""
        return sum(log.producers.remove_expired(now_ms) for log in self)

    def highest_producer_id(self) -> int:
        """Return the greatest producer id that any log knows as a producer; -1 if there is none."""
        return max((log.producers.highest_producer_id for log in self), default=-1)

    def checkpoint(self, name: str) -> bytes:
        """Return what one of OFFSET_CHECKPOINTS has to hold now."""
        logs = self._logs
        match name:
            case _ if name == RECOVERY_POINT_CHECKPOINT:
                return encode_offsets({name: log.recovery_point for name, log in logs.items()})
            case _ if name == LOG_START_OFFSET_CHECKPOINT:
                # Where a log begins with its first segment, the files tell it.
                inside = [name for name, log in logs.items() if log.log_start_offset > log.segments.first_base_offset]
                return encode_offsets({name: logs[name].log_start_offset for name in inside})
            case _:
                assert name == REPLICATION_OFFSET_CHECKPOINT, f"{name} is none of ours"
                return encode_offsets({name: log.high_watermark for name, log in logs.items()})

    def checkpoints(self) -> dict[str, bytes]:
        """Return what the checkpoint files of the top folder have to hold now, by their names."""
        return {name: self.checkpoint(name) for name in OFFSET_CHECKPOINTS}

    def write_checkpoints(self, checkpoints: Mapping[str, bytes] | None = None, *, is_synced: bool = True) -> None:
        """Write the checkpoint files, as they have to be now or as checkpoints() said. Any thread; raises OSError."""
        for name, content in (self.checkpoints() if checkpoints is None else checkpoints).items():
            self._file_system.replace(name, content, is_synced=is_synced)

    def close(self, run_all: Callable[[Iterable[Callable[[], None]]], None] = _run_in_turn) -> None:
        """Leave everything as a clean stop does. Raises OSError; the clean-shutdown mark is not written then.

        Nothing is appended or read any more.
        run_all: runs a step for each log, in several threads where the file system bears it; raises what one failed by.
        """
        run_all([log.close for log in self])
        self.write_checkpoints()
        self._file_system.replace(CLEAN_SHUTDOWN, encode_clean_shutdown(BROKER_EPOCH), is_synced=True)
