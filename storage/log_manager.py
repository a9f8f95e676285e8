"""All logs of a file system: create, load, find, delete, checkpoint and close.

The top folder holds the offset checkpoints and the clean-shutdown mark, which means that every log was closed.
The mark is deleted before any log is loaded, and written last, after all logs and checkpoints are on disk.
Source: LogManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOTEMPTY
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
    read_offsets,
)
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
from .log_loader import LoadState, LogLocation
from .partition_log import PartitionLog
from .producers.emulated_version import EmulatedVersion

logger = logging.getLogger(__name__)

# The files of the top folder with one offset per log.
OFFSET_CHECKPOINTS = (RECOVERY_POINT_CHECKPOINT, LOG_START_OFFSET_CHECKPOINT, REPLICATION_OFFSET_CHECKPOINT)

# Written to the clean-shutdown mark; not read back.
BROKER_EPOCH = 0


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """A partition that has a folder; topic_id is None if its partition.metadata is missing or damaged."""

    topic_name: str
    partition: int
    topic_id: bytes | None


def _run_sequentially(steps: Iterable[Callable[[], None]]) -> None:
    for step in steps:
        step()


class LogManager:
    """The logs of one broker."""

    def __init__(self, file_system: FileSystem, emulated_version: EmulatedVersion | None = None) -> None:
        """emulated_version: the Kafka version whose producer rules the logs apply, 4.4 by default."""
        self._file_system = file_system
        self._emulated_version = emulated_version or EmulatedVersion.latest()
        self._logs: dict[PartitionName, PartitionLog] = {}
        self._was_clean = False
        self._recovery_points: dict[PartitionName, int] = {}
        self._log_start_offsets: dict[PartitionName, int] = {}
        self._high_watermarks: dict[PartitionName, int] = {}
        self._deleted_folders: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[PartitionLog]:
        """Yield every log."""
        return iter(list(self._logs.values()))

    # -- before the first log

    def prepare_loading(self) -> bool:
        """Read the checkpoints, delete the clean-shutdown mark, and return whether it existed.

        Must be called once, before any log is loaded. Also deletes the folders of deleted partitions.
        A damaged checkpoint counts as empty; more is recovered then. Raises OSError.
        """
        self._recovery_points = read_offsets(self._file_system, RECOVERY_POINT_CHECKPOINT)
        self._log_start_offsets = read_offsets(self._file_system, LOG_START_OFFSET_CHECKPOINT)
        self._high_watermarks = read_offsets(self._file_system, REPLICATION_OFFSET_CHECKPOINT)
        self._was_clean = self._file_system.exists(CLEAN_SHUTDOWN)
        self._file_system.delete(CLEAN_SHUTDOWN)
        # A mark that reappears after a power loss would mark the next logs as closed. Synced even without a mark: an
        # earlier process may have been killed between the deletion and the sync.
        self._file_system.sync_folder("")
        for folder in self._file_system.folders():
            if folder.endswith(DELETED_FOLDER_SUFFIX):
                self.delete_folder(folder)
        return self._was_clean

    def delete_folder(self, folder: str) -> None:
        """Delete the log in a folder. What is not of a log stays, with the folder, and is logged. Raises OSError."""
        try:
            self._file_system.delete_folder(folder)
        except OSError as error:
            if error.errno != ENOTEMPTY:
                raise
            logger.warning("%s: %s", folder, error.strerror)

    def checkpointed_high_watermark(self, topic_name: str, partition: int) -> int:
        """Return the high watermark of a log as prepare_loading found it; 0 if there is none."""
        return self._high_watermarks.get(PartitionName(topic_name, partition), 0)

    def partitions_on_disk(self) -> list[StoredPartition]:
        """Return the partitions that have a folder, without __cluster_metadata."""
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

    def rename_to_stray(self, topic_name: str, partition: int, unique_id: bytes) -> str:
        """Rename the folder of a partition that is not in the cluster metadata to Kafka's -stray name, and return it.

        unique_id: 16 bytes, different for each renamed folder.
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
        """Create the empty log of a partition, which must not have one, and start leader_epoch at offset 0.

        topic_id: 16 bytes for partition.metadata; None writes no such file.
        Raises OSError, also if the folder has files already; no file is created then.
        """
        name = PartitionName(topic_name, partition)
        assert name not in self._logs, f"{name} already has a log"
        folder = partition_folder(topic_name, partition)
        if self._file_system.names_in(folder):
            raise OSError(ENOTEMPTY, "the folder of a new partition has files", folder)
        try:
            if topic_id is not None:
                self._file_system.replace(f"{folder}/{PARTITION_METADATA}", encode_partition_metadata(topic_id))
            log = PartitionLog(self._location(name), config, now_ms=now_ms)
            log.assign_leader_epoch(leader_epoch)
        except OSError:
            with suppress(OSError):
                self._file_system.delete_folder(folder)
            raise
        self._logs[name] = log
        return log

    def load(
        self, topic_name: str, partition: int, config: LogConfig, *, now_ms: int, ahead_ms: int = 0
    ) -> PartitionLog:
        """Load the log of a partition from its folder, and recover it if necessary. Raises OSError.

        now_ms: as for PartitionLog. ahead_ms: as in LoadState.
        """
        name = PartitionName(topic_name, partition)
        assert name not in self._logs, f"{name} already has a log"
        state = LoadState(
            is_clean=self._was_clean,
            recovery_point=self._recovery_points.get(name, 0),
            log_start_offset=self._log_start_offsets.get(name, 0),
            is_recovery_point_known=name in self._recovery_points,
            ahead_ms=ahead_ms,
        )
        log = PartitionLog(self._location(name), config, now_ms=now_ms, state=state)
        if log.truncated_bytes:
            logger.warning(
                "%s: truncated %d damaged bytes; the log ends at offset %d",
                *(log.topic_partition, log.truncated_bytes, log.log_end_offset),
            )
        elif state.is_clean and log.log_end_offset < state.recovery_point:
            logger.warning(
                "%s: the log ends at offset %d, and records up to offset %d were on disk",
                *(log.topic_partition, log.log_end_offset, state.recovery_point),
            )
        self._logs[name] = log
        return log

    def truncate(
        self, topic_name: str, partition: int, end_offset: int, *, now_ms: int, ahead_ms: int = 0
    ) -> PartitionLog:
        """Remove the records from end_offset on, and return the log, which replaces the one so far. Raises OSError.

        An end_offset before the log start removes all records, and the log starts there again.
        now_ms: as for PartitionLog. ahead_ms: as in LoadState.
        Source: UnifiedLog.truncateTo and truncateFullyAndStartAt, Kafka 4.3.0.
        """
        name = PartitionName(topic_name, partition)
        log = self._logs[name]
        log.cut(end_offset)
        state = LoadState(
            recovery_point=min(log.recovery_point, end_offset),
            log_start_offset=min(log.log_start_offset, end_offset),
            ahead_ms=ahead_ms,
            is_truncated=True,
        )
        return self._reload(name, log.config, state, now_ms)

    def restart_at(self, topic_name: str, partition: int, offset: int, *, now_ms: int) -> PartitionLog:
        """Remove all records, and return the log that starts at offset, which replaces the one so far. Raises OSError.

        Source: UnifiedLog.truncateFullyAndStartAt, Kafka 4.3.0.
        """
        name = PartitionName(topic_name, partition)
        log = self._logs[name]
        log.cut(0)
        return self._reload(name, log.config, LoadState(log_start_offset=offset), now_ms)

    def _reload(self, name: PartitionName, config: LogConfig, state: LoadState, now_ms: int) -> PartitionLog:
        log = self._logs[name] = PartitionLog(self._location(name), config, now_ms=now_ms, state=state)
        return log

    def _location(self, name: PartitionName) -> LogLocation:
        return LogLocation(self._file_system, name.topic_name, name.partition, self._emulated_version)

    def find(self, topic_name: str, partition: int) -> PartitionLog | None:
        """Return the log of a partition, or None."""
        return self._logs.get(PartitionName(topic_name, partition))

    def delete(self, topic_name: str, partition: int, *, now_ms: int = 0, unique_id: bytes = bytes(16)) -> None:
        """Delete the log of a partition with its files, if it exists; views that were read from it stay valid.

        A folder on disk is renamed now and deleted by delete_due_files, file.delete.delay.ms after now_ms.
        unique_id: 16 bytes, different for each renamed folder. Raises OSError.
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

    def enforce_retention(self, now_ms: int) -> dict[str, int]:
        """Apply retention to every log; an OSError of one log is logged.

        Returns the number of deleted segments, by topic partition, where there are any.
        """
        deleted: dict[str, int] = {}
        for log in self:
            try:
                deleted[log.topic_partition] = log.enforce_retention(now_ms)
            except OSError as error:
                logger.warning("%s: %s", log.topic_partition, error)
        return {name: count for name, count in deleted.items() if count}

    def delete_due_files(self, now_ms: int) -> None:
        """Delete the renamed files and folders whose delay has ended at now_ms."""
        step = self.begin_deletion(now_ms)
        if step is not None:
            step()

    def begin_deletion(self, now_ms: int) -> Callable[[], None] | None:
        """Return a step that deletes the due files and folders, to run once in any thread; None if nothing is due.

        A file that cannot be deleted is logged; the next start-up deletes it.
        """
        files = [path for log in self for path in log.deleted_files.take_due(now_ms)]
        folders = [folder for due_ms, folder in self._deleted_folders if due_ms <= now_ms]
        if not files and not folders:
            return None
        self._deleted_folders = [entry for entry in self._deleted_folders if entry[0] > now_ms]
        return partial(self._delete_all, files, folders)

    def _delete_all(self, files: list[str], folders: list[str]) -> None:
        for delete, paths in ((self._file_system.delete, files), (self.delete_folder, folders)):
            for path in paths:
                try:
                    delete(path)
                except OSError as error:
                    logger.warning("%s: %s", path, error)

    def remove_expired_producers(self, now_ms: int) -> dict[str, int]:
        """Remove the expired producers of every log. Returns their number, by topic partition, where there are any."""
        removed = {log.topic_partition: log.producers.remove_expired(now_ms) for log in self}
        return {name: count for name, count in removed.items() if count}

    def highest_producer_id(self) -> int:
        """Return the greatest producer id in the producer state of any log; -1 without producers."""
        return max((log.producers.highest_producer_id for log in self), default=-1)

    def checkpoint(self, name: str) -> bytes:
        """Return the current content of one of OFFSET_CHECKPOINTS."""
        logs = self._logs.items()
        if name == RECOVERY_POINT_CHECKPOINT:
            return encode_offsets({name: log.recovery_point for name, log in logs})
        if name == REPLICATION_OFFSET_CHECKPOINT:
            return encode_offsets({name: log.high_watermark for name, log in logs})
        assert name == LOG_START_OFFSET_CHECKPOINT, f"{name} is not an offset checkpoint"
        # A log that starts with its first segment needs no entry.
        inside = [(name, log) for name, log in logs if log.log_start_offset > log.segments.first_base_offset]
        return encode_offsets({name: log.log_start_offset for name, log in inside})

    def checkpoints(self) -> dict[str, bytes]:
        """Return the current content of the checkpoint files, by file name."""
        return {name: self.checkpoint(name) for name in OFFSET_CHECKPOINTS}

    def write_checkpoints(self, checkpoints: Mapping[str, bytes] | None = None, *, is_synced: bool = True) -> None:
        """Write the given checkpoint files, or the current ones. Any thread; raises OSError."""
        for name, content in (self.checkpoints() if checkpoints is None else checkpoints).items():
            self._file_system.replace(name, content, is_synced=is_synced)

    def close(self, run_all: Callable[[Iterable[Callable[[], None]]], None] = _run_sequentially) -> None:
        """Shut down cleanly: close all logs, write the checkpoints, then the clean-shutdown mark.

        run_all: runs one step per log, perhaps in several threads, and raises the exception of a failed step.
        Raises OSError; the mark is then not written.
        """
        run_all([log.close for log in self])
        self.write_checkpoints()
        self._file_system.replace(CLEAN_SHUTDOWN, encode_clean_shutdown(BROKER_EPOCH), is_synced=True)
