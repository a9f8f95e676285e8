"""Loads topics with all their logs on one node: creates missing partition folders and renames unknown ones.

Source: LogManager.loadLogs and the stray partitions of BrokerMetadataPublisher, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Container, Iterable, Mapping

from ...protocol.kafka_uuid import new_uuid
from ...storage.checkpoints.checkpoint_files import PARTITION_METADATA, encode_partition_metadata
from ...storage.log_config import LogConfig
from ...storage.log_files import partition_folder
from ...storage.log_manager import StoredPartition
from ...storage.partition_log import PartitionLog
from ..config.config_types import ConfigError
from ..metadata.cluster_metadata import TopicMetadata
from ..metadata.controller import new_partition
from ..metadata.metadata_image import TopicImage, is_internal_topic
from ..metadata.topic_config import log_config_of, validate_topic_configs
from ..node import Node
from ..runtime.clock import AdjustableClock
from .metadata_store import topics_of
from .stored_topics import belongs_to, is_damaged

logger = logging.getLogger(__name__)


class TopicLoader:
    """Loads topics with all their logs on one node. Creates missing partition folders and renames unknown ones."""

    def __init__(self, node: Node, clock: AdjustableClock) -> None:
        """Read the checkpoints of the node's logs; see LogManager.prepare_loading."""
        self._replicas = node.replicas
        self._controller = node.controller
        self._now_ms = clock.now_ms()
        # The files do not tell how far the clock was ahead at each append. The most makes no record older than it is.
        self._ahead_ms = clock.most_ahead_ms
        self.is_clean = node.replicas.logs.prepare_loading()
        self._log_configs: dict[tuple[tuple[str, str], ...], LogConfig] = {}

    def load(self, topics: Iterable[TopicMetadata]) -> None:
        """Load or create the logs of the topics. Rename the folders of other partitions.

        Raises OSError, CorruptFileError, and ConfigError if a topic has a config that Kafka would refuse.
        """
        by_name = {topic.name: topic for topic in topics}
        own = {topic.name: range(topic.partition_count) for topic in by_name.values()}
        stored = self._stored_partitions(by_name, own)
        for topic in by_name.values():
            self._restore(topic, self._load_logs(topic, range(topic.partition_count), stored))
        self._log_loaded(by_name.values())

    def load_replicas(self) -> None:
        """Load or create the logs of the node's replicas of the topics in the image. Raises as load."""
        self.add_replicas(self.load_logs())

    def load_logs(self) -> dict[str, list[PartitionLog | None]]:
        """Load or create the logs of the node's replicas, by topic, without adding them. Raises as load."""
        image = self._controller.image
        by_name = {topic.name: topic for topic in topics_of(image)}
        own = {
            topic.name: [each.index for each in topic.partitions if self._replicas.node_id in each.replicas]
            for topic in image.topics.values()
        }
        stored = self._stored_partitions(by_name, own)
        logs: dict[str, list[PartitionLog | None]] = {}
        for topic in by_name.values():
            indexes = own[topic.name]
            loaded = dict(zip(indexes, self._load_logs(topic, indexes, stored), strict=True))
            logs[topic.name] = [loaded.get(index) for index in range(topic.partition_count)]
        self._log_loaded(by_name.values())
        return logs

    def add_replicas(self, logs: Mapping[str, Iterable[PartitionLog | None]]) -> None:
        """Add partitions with the logs that load_logs returned, as they are registered now."""
        for name, of_topic in logs.items():
            self._replicas.load_partitions(self._controller.image.topics[name], of_topic)

    def _stored_partitions(
        self, by_name: Mapping[str, TopicMetadata], own: Mapping[str, Container[int]]
    ) -> dict[tuple[str, int], StoredPartition]:
        """Return the folders of the topics' partitions, and rename the others.

        own: the indexes of the partitions that have a replica on this node, by topic name.
        """
        stored: dict[tuple[str, int], StoredPartition] = {}
        for partition in self._replicas.logs.partitions_on_disk():
            topic = by_name.get(partition.topic_name)
            if topic is None or partition.partition not in own[topic.name] or not belongs_to(partition, topic.topic_id):
                self._rename_to_stray(partition)
            else:
                stored[partition.topic_name, partition.partition] = partition
        return stored

    def _load_logs(
        self, topic: TopicMetadata, indexes: Iterable[int], stored: Mapping[tuple[str, int], StoredPartition]
    ) -> list[PartitionLog | None]:
        log_config = self._log_config_of(topic)
        return [self._load_log(topic, index, log_config, stored.get((topic.name, index))) for index in indexes]

    def _log_loaded(self, topics: Collection[TopicMetadata]) -> None:
        if topics:
            how = "after a clean shutdown" if self.is_clean else "recovered after an unclean shutdown"
            partition_count = sum(topic.partition_count for topic in topics)
            logger.info("%d topics with %d partitions, %s", len(topics), partition_count, how)

    def _restore(self, topic: TopicMetadata, logs: list[PartitionLog | None]) -> None:
        """Add a stored topic to the image, and its logs to the replica manager.

        A new leader epoch begins where records may be missing, so that consumers detect the truncation. Kafka begins
        one with every start-up. The epoch never decreases: clients and logs would take its batches for older ones.
        """
        node_id = self._controller.image.brokers[0].node_id
        restored = TopicImage(topic.name, topic.topic_id, topic.configs)
        for index, log in enumerate(logs):
            latest_epoch = 0 if log is None else log.leader_epochs.latest_epoch
            epoch = max(0, latest_epoch if self.is_clean else latest_epoch + 1)
            restored.partitions.append(new_partition(index, [node_id], leader_epoch=epoch))
        self._replicas.load_partitions(restored, logs)
        self._controller.image.add_topic(restored)

    def _rename_to_stray(self, stored: StoredPartition) -> None:
        if not self._replicas.is_on_disk:
            # Kept on disk for a person to look at: in memory it would only take up space.
            self._replicas.file_system.delete_folder(partition_folder(stored.topic_name, stored.partition))
            return
        folder = self._replicas.logs.rename_to_stray(stored.topic_name, stored.partition, new_uuid())
        logger.warning(
            "%s belongs to no topic of the metadata file, and is renamed to %s",
            *(partition_folder(stored.topic_name, stored.partition), folder),
        )

    def _log_config_of(self, topic: TopicMetadata) -> LogConfig:
        """Return the LogConfig of the topic. Most topics have the same configs."""
        key = tuple(sorted(topic.configs.items()))
        if key not in self._log_configs:
            try:
                validate_topic_configs(self._replicas.config, topic.configs)
            except ConfigError as error:
                raise ConfigError(f"topic {topic.name}: {error}") from error
            self._log_configs[key] = log_config_of(self._replicas.config, topic.configs)
        return self._log_configs[key]

    def _load_log(
        self, topic: TopicMetadata, index: int, log_config: LogConfig, stored: StoredPartition | None
    ) -> PartitionLog | None:
        logs, now_ms = self._replicas.logs, self._now_ms
        folder = partition_folder(topic.name, index)
        if stored is None:
            if not self._replicas.is_on_disk:
                # In memory a log is created at its first use.
                return None
            logger.warning("%s has no folder; an empty log is created", folder)
            return logs.create(topic.name, index, log_config, now_ms=now_ms, topic_id=topic.topic_id)
        is_lost = stored.topic_id is None or is_damaged(stored, topic.topic_id)
        if is_lost and self._replicas.is_on_disk:
            logger.warning("%s has no readable %s; a new one is written", folder, PARTITION_METADATA)
            self._replicas.file_system.replace(
                f"{folder}/{PARTITION_METADATA}", encode_partition_metadata(topic.topic_id)
            )
        # Coordinators set the timestamps of their records by the broker's clock.
        ahead_ms = 0 if is_internal_topic(topic.name) else self._ahead_ms
        return logs.load(topic.name, index, log_config, now_ms=now_ms, ahead_ms=ahead_ms)
