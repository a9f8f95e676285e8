"""Saves the cluster metadata to the metadata file of a data folder.

1. A change takes effect in memory at once. The file is replaced after the current request.
2. With log.flush.interval.messages=1 a disk thread writes and syncs the file, and the response of the request waits for
   it (`saved`). Otherwise the event loop writes the file without a sync.
3. Changes during a write go into the next write together.
4. After a failed write the store retries every RETRY_MS.
5. COPY_DELAY_MS after a write, a disk thread writes the same content to the copy (metadata_files). No response waits
   for it, so a change costs one write. A crash before leaves an older copy, which the next start-up replaces.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError
from ..metadata.cluster_metadata import ClusterMetadata, ConfigsMetadata, TopicMetadata, encode_metadata
from ..metadata.metadata_fields import METADATA_FILE
from ..runtime.deferred import Deferred
from ..runtime.disk_executor import STEP_THREADS_MAX, DiskExecutor
from .metadata_files import METADATA_COPY

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.dynamic_configs import DynamicConfigs
    from ..metadata.controller import Controller
    from ..metadata.metadata_image import MetadataImage
    from ..node import Node
    from ..runtime.disk_executor import StepDone
    from .data_directory import DataDirectory

logger = logging.getLogger(__name__)

# The delay before the next attempt after a failed write, for example on a full disk.
RETRY_MS = 1000
# The delay of the copy. Many changes in a row, such as the creation of many topics, are copied together.
COPY_DELAY_MS = 100


class MetadataFileStore:
    """A MetadataStore that writes the metadata file. `close` also closes the logs."""

    def __init__(self, cluster: Cluster, directory: DataDirectory) -> None:
        """Assume that the file is up to date; otherwise the caller calls write_now."""
        self._controller = cluster.controller
        self._clock = cluster.clock
        self._nodes = cluster.nodes
        self._membership = cluster.membership
        # One node writes the file in the threads of its logs; the controller of several nodes has its own.
        self._own_executor = None if cluster.membership is None else DiskExecutor("fauxka-controller")
        self.directory = directory
        self._change = 0
        self._saved_change = 0
        self._is_busy = False
        self._is_due = False
        self._waiting: list[tuple[int, StepDone]] = []
        # What the copy does not have yet.
        self._uncopied: bytes | None = None
        self._is_copying = False
        self._is_copy_failing = False

    @property
    def _disk_executor(self) -> DiskExecutor:
        return self._own_executor or self._nodes[0].replicas.disk_executor

    def changed(self) -> None:
        """Note a change, and write the file after the current request."""
        self._change += 1
        self._write_later(0)

    @property
    def is_saved(self) -> bool:
        """Whether the file has all changes so far."""
        return self._saved_change == self._change

    def saved(self) -> Deferred[KafkaError | None]:
        """Return what completes when the file has all changes so far: with None, or KAFKA_STORAGE_ERROR.

        The latter if the next write fails.
        """
        saved: Deferred[KafkaError | None] = Deferred()
        if self.is_saved:
            saved.complete(None)
        else:
            self._waiting.append((self._change, lambda error: saved.complete(_storage_error(error))))
            self.write()
        return saved

    def write(self) -> None:
        """Begin to write the file if there are changes."""
        if self._is_busy or self.is_saved:
            return
        self._is_busy = True
        state = metadata_of(self._controller)
        content = encode_metadata(state)
        ended = partial(self._ended, self._change, state.next_producer_id, content)
        if self._is_synced():
            self._disk_executor.run(partial(self._replace, content, is_synced=True), ended)
            return
        try:
            self._replace(content, is_synced=False)
        except OSError as error:
            ended(error)
        else:
            ended(None)

    def write_now(self) -> None:
        """Write and sync the file and its copy in this thread, at start-up and shutdown. Raises OSError."""
        state = metadata_of(self._controller)
        self._uncopied = encode_metadata(state)
        self._replace(self._uncopied, is_synced=True)
        self._saved_change = self._change
        self._controller.producer_ids.block_saved(state.next_producer_id)
        self.copy_now()

    def copy_now(self) -> None:
        """Write and sync the copy in this thread. An error is logged: the file itself has every change."""
        content = self._uncopied or encode_metadata(metadata_of(self._controller))
        try:
            self._replace_copy(content, is_synced=True)
        except OSError as error:
            logger.warning("cannot write %s: %s", METADATA_COPY, error)
        else:
            self._uncopied = None

    async def stop(self) -> None:
        """Wait for the writes of the controller of several nodes, and end its threads."""
        if self._own_executor is not None:
            await self._own_executor.stop()

    def close(self) -> None:
        """Write the changes and close the logs. Errors are logged; the next start-up recovers the logs of that node."""
        try:
            if self._saved_change != self._change:
                self.write_now()
            elif self._uncopied is not None:
                self.copy_now()
        except OSError as error:
            logger.error("cannot write the metadata to %s: %s", self.directory.folder, error)
        for node in self._nodes:
            # A node that was stopped has closed its logs, and the files of a crashed node stay as they are.
            if self._membership is None or self._membership.is_running(node.node_id):
                _close_logs(node)

    def _replace(self, content: bytes, *, is_synced: bool) -> None:
        self.directory.file_system.replace(METADATA_FILE, content, is_synced=is_synced)

    def _replace_copy(self, content: bytes, *, is_synced: bool) -> None:
        self.directory.file_system.replace(METADATA_COPY, content, is_synced=is_synced)

    def _is_synced(self) -> bool:
        return self._controller.image.configs.current.value_of("log.flush.interval.messages") == 1

    def _ended(self, change: int, next_producer_id: int, content: bytes, error: OSError | None) -> None:
        self._is_busy = False
        if error is None:
            self._saved_change = change
            if self._uncopied is None and not self._is_copying:
                self._copy_later(COPY_DELAY_MS)
            self._uncopied = content
            self._controller.producer_ids.block_saved(next_producer_id)
        else:
            logger.error("cannot write %s: %s; trying again in %d ms", METADATA_FILE, error, RETRY_MS)
            self._write_later(RETRY_MS)
        completed = [done for waiting, done in self._waiting if waiting <= change]
        self._waiting = [each for each in self._waiting if each[0] > change]
        for done in completed:
            done(error)
        if error is None or self._waiting:
            # Write the changes that were made during this write.
            self.write()

    def _copy_later(self, delay_ms: int) -> None:
        self._clock.call_later(delay_ms, self._copy)

    def _copy(self) -> None:
        content = self._uncopied
        if content is None or self._is_copying:
            return
        self._is_copying = True
        step = partial(self._replace_copy, content, is_synced=self._is_synced())
        self._disk_executor.run(step, partial(self._copied, content))

    def _copied(self, content: bytes, error: OSError | None) -> None:
        self._is_copying = False
        if error is not None and not self._is_copy_failing:
            logger.warning("cannot write %s: %s; trying again every %d ms", METADATA_COPY, error, RETRY_MS)
        self._is_copy_failing = error is not None
        if error is None and self._uncopied is content:
            self._uncopied = None
        else:
            self._copy_later(COPY_DELAY_MS if error is None else RETRY_MS)

    def _write_later(self, delay_ms: int) -> None:
        if not self._is_due:
            self._is_due = True
            self._clock.call_later(delay_ms, self._write_due)

    def _write_due(self) -> None:
        self._is_due = False
        self.write()


def topics_of(image: MetadataImage) -> list[TopicMetadata]:
    """Return the topics as the metadata file has them."""
    has_replicas = len(image.configs.nodes) > 1
    return [
        TopicMetadata(
            topic.name,
            topic.topic_id,
            len(topic.partitions),
            topic.configs,
            tuple(topic.partitions) if has_replicas else (),
        )
        for topic in image.topics.values()
    ]


def metadata_of(controller: Controller) -> ClusterMetadata:
    """Return the content of the metadata file."""
    image, configs = controller.image, controller.image.configs
    return ClusterMetadata(
        image.cluster_id,
        controller.producer_ids.next_block_start,
        tuple(topics_of(image)),
        ConfigsMetadata(
            configs.controller.broker_configs,
            configs.default_broker_configs,
            configs.group_configs,
            configs.client_metrics_configs,
            node_configs_of(configs),
        ),
        image.offset,
        dict(image.features.updated),
        image.security if image.has_security else None,
        image.client_quotas if image.has_client_quotas else None,
    )


def save_from_now_on(cluster: Cluster, directory: DataDirectory) -> None:
    """Give a cluster that was loaded from a data folder its store, and write what differs from the files there.

    Raises OSError.
    """
    cluster.controller.store = store = MetadataFileStore(cluster, directory)
    if directory.is_metadata_from_copy or metadata_of(cluster.controller) != directory.metadata:
        store.write_now()
    elif directory.is_metadata_copy_due:
        store.copy_now()


def restore_settings(cluster: Cluster, metadata: ClusterMetadata) -> None:
    """Apply the features, ACLs, credentials, tokens and dynamic configs of the metadata file. Raises ConfigError."""
    cluster.image.features.restore(metadata.features)
    # Clients take over a feature level only in a later epoch, which is the offset.
    cluster.image.offset = max(cluster.image.offset, metadata.metadata_offset)
    cluster.image.replace_security(metadata.security)
    cluster.image.replace_client_quotas(metadata.client_quotas)
    cluster.controller.apply_client_quotas()
    configs = metadata.configs
    if configs is None:
        return
    dynamic = cluster.image.configs
    if len(dynamic.nodes) == 1:
        dynamic.controller.broker_configs = configs.broker_configs
    else:
        for node_id, node in dynamic.nodes.items():
            node.broker_configs = configs.node_configs.get(node_id, {})
    dynamic.replace_default_broker_configs(configs.default_broker_configs)
    dynamic.group_configs = configs.group_configs
    dynamic.client_metrics_configs = configs.client_metrics_configs
    dynamic.apply()


def node_configs_of(configs: DynamicConfigs) -> dict[int, dict[str, str]]:
    """Return the dynamic configs of each of several nodes that has some; those of one node are the controller's."""
    if len(configs.nodes) == 1:
        return {}
    return {node_id: node.broker_configs for node_id, node in configs.nodes.items() if node.broker_configs}


def _storage_error(error: OSError | None) -> KafkaError | None:
    if error is None:
        return None
    return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot write {METADATA_FILE}: {error.strerror or error}")


def _close_logs(node: Node) -> None:
    try:
        node.replicas.logs.close(_run_parallel)
    except OSError as error:
        logger.error("cannot close the logs of node %d cleanly: %s", node.node_id, error)


def _run_parallel(steps: Iterable[Callable[[], None]]) -> None:
    """Run blocking steps in parallel. Raises the exception of the first step that failed.

    File systems commit concurrent flushes together, so that many logs close in half of the time or less.
    """
    with ThreadPoolExecutor(STEP_THREADS_MAX, "fauxka-close") as pool:
        for running in [pool.submit(step) for step in steps]:
            running.result()
