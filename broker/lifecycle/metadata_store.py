"""Keeps what a cluster is on disk: the metadata file follows every change, and the logs are closed at the end.

A change is in force in memory at once, and the file is replaced right after it. Where every append is flushed before
it is acknowledged, the file and its folder are, too; that takes a disk's time, so it is done in another thread, and
who asked for the change waits for its answer. Changes that come meanwhile go into the next file together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ...protocol.error_codes import ErrorCode, KafkaError
from ..metadata.cluster_metadata import METADATA_FILE, ClusterMetadata, ConfigsMetadata, TopicMetadata, encode_metadata
from ..runtime.deferred import Deferred

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.controller import Controller
    from ..runtime.disk_executor import StepDone
    from .data_directory import DataDirectory

logger = logging.getLogger(__name__)

# How long after a file could not be written it is tried again: a full disk has room when somebody has made some.
RETRY_MS = 1000

Response = TypeVar("Response")


class MetadataFileStore:
    """The data folder of a cluster; its metadata file is always on its way to what the cluster is."""

    def __init__(self, cluster: Cluster, directory: DataDirectory) -> None:
        """Take what the file says to be what the cluster is; write_now makes it so."""
        self._controller = cluster.controller
        self._replicas = cluster.node.replicas
        self.directory = directory
        self._change = 0
        self._saved_change = 0
        self._is_busy = False
        self._is_due = False
        self._waiting: list[tuple[int, StepDone]] = []

    @property
    def folder(self) -> str:
        """The data folder, as an absolute path."""
        return self.directory.folder

    def changed(self) -> None:
        """The cluster is no longer what the file says; it is written when the request in hand is done with."""
        self._change += 1
        self._write_later(0)

    @property
    def is_saved(self) -> bool:
        """Whether all changes so far are in the file."""
        return self._saved_change == self._change

    def when_saved(self, answer: Callable[[KafkaError | None], Response]) -> Response | Deferred[Response]:
        """Return answer(None) when all changes so far are in the file.

        Where the file cannot be written it is answer(KAFKA_STORAGE_ERROR).
        """
        if self.is_saved:
            return answer(None)
        deferred: Deferred[Response] = Deferred()
        self._waiting.append((self._change, lambda error: deferred.complete(answer(_storage_error(error)))))
        self.write()
        response = deferred.response()
        return deferred if response is None else response

    def write(self) -> None:
        """Begin to write the file if it is behind."""
        if self._is_busy or self.is_saved:
            return
        self._is_busy = True
        state = metadata_of(self._controller)
        content = encode_metadata(state)
        ended = partial(self._ended, self._change, state.next_producer_id)
        if self._controller.image.configs.current.value_of("log.flush.interval.messages") == 1:
            self._replicas.disk_executor.run(partial(self._replace, content, is_synced=True), ended)
            return
        try:
            self._replace(content, is_synced=False)
        except OSError as error:
            ended(error)
        else:
            ended(None)

    def write_now(self) -> None:
        """Write the file, synced, on this thread; for a start and a stop. Raises OSError."""
        state = metadata_of(self._controller)
        self._replace(encode_metadata(state), is_synced=True)
        self._saved_change = self._change
        self._controller.producer_ids.block_saved(state.next_producer_id)

    def close(self) -> None:
        """Write what is behind and close the logs; a failure is logged, and recovered from by the next start."""
        try:
            if self._saved_change != self._change:
                self.write_now()
            self._replicas.logs.close(_run_together)
        except OSError as error:
            logger.error("cannot close %s cleanly: %s", self.folder, error)

    def _replace(self, content: bytes, *, is_synced: bool) -> None:
        self.directory.file_system.replace(METADATA_FILE, content, is_synced=is_synced)

    def _ended(self, change: int, next_producer_id: int, error: OSError | None) -> None:
        self._is_busy = False
        if error is None:
            self._saved_change = change
            self._controller.producer_ids.block_saved(next_producer_id)
        else:
            logger.error("cannot write %s: %s; trying again in %d ms", METADATA_FILE, error, RETRY_MS)
            self._write_later(RETRY_MS)
        answered = [done for waiting, done in self._waiting if waiting <= change]
        self._waiting = [each for each in self._waiting if each[0] > change]
        for done in answered:
            done(error)
        if error is None or self._waiting:
            # What was changed while the file was on its way.
            self.write()

    def _write_later(self, delay_ms: int) -> None:
        if not self._is_due:
            self._is_due = True
            self._replicas.clock.call_later(delay_ms, self._write_due)

    def _write_due(self) -> None:
        self._is_due = False
        self.write()


def metadata_of(controller: Controller) -> ClusterMetadata:
    """Return the content of the metadata file."""
    image, configs = controller.image, controller.image.configs
    return ClusterMetadata(
        image.cluster_id,
        controller.producer_ids.next_block_start,
        tuple(
            TopicMetadata(topic.name, topic.topic_id, len(topic.partitions), topic.configs)
            for topic in image.topics.values()
        ),
        ConfigsMetadata(
            configs.broker_configs,
            configs.default_broker_configs,
            configs.group_configs,
            configs.client_metrics_configs,
        ),
    )


def _storage_error(error: OSError | None) -> KafkaError | None:
    if error is None:
        return None
    return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot write {METADATA_FILE}: {error.strerror or error}")


def _run_together(steps: Iterable[Callable[[], None]]) -> None:
    """Run steps that wait for the disk, as many at a time as pay; raises what the first of those that failed failed by.

    A file system commits together what is flushed together: many logs close in half of the time or less, and the more
    so where others use the disk too.
    """
    # Loaded at the end, for a folder only.
    from concurrent.futures import ThreadPoolExecutor

    from ..runtime.disk_executor import STEP_THREADS_MAX

    with ThreadPoolExecutor(STEP_THREADS_MAX, "fauxka-close") as pool:
        for running in [pool.submit(step) for step in steps]:
            running.result()
