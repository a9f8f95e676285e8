"""A data folder for a real Kafka, 4.3 or later: identity, bootstrap.checkpoint and the logs of the partitions.

A partition needs only its .log files and partition.metadata: Kafka rebuilds the other files of a segment that has no
.index. meta.properties is written last, so that Kafka does not start on an incomplete folder.
Source: LogLoader.load and KafkaRaftServer.initializeLogDirs, Kafka 4.3.0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ....protocol.kafka_uuid import new_uuid
from ....protocol.stored_records.metadata_records import (
    ConfigRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    TopicRecord,
)
from ....storage.checkpoints.bootstrap_checkpoint import (
    BOOTSTRAP_CHECKPOINT,
    FEATURES_OF_4_3,
    BootstrapCheckpoint,
    encode_bootstrap_checkpoint,
)
from ....storage.checkpoints.checkpoint_files import (
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    MetaProperties,
    encode_meta_properties,
    encode_offsets,
    encode_partition_metadata,
)
from ....storage.file_systems.own_folder import delete_own_folder, identity_of
from ....storage.file_systems.path_problems import find_file_in_the_way
from ....storage.log_files import is_log_file, partition_folder
from ...config.config_keys import OWN_PREFIX
from .server_properties import NODE_ID, SERVER_PROPERTIES, server_properties

# The block size of Kafka's controller (ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE).
PRODUCER_ID_BLOCK = 1000
# The feature with a configurable level, and the key of fauxka for it.
TRANSACTION_FEATURE, TRANSACTION_LEVEL_KEY = "transaction.version", "fauxka.transaction.version"
MIN_INSYNC_REPLICAS = "min.insync.replicas"
# The last block of the controller ends here.
PRODUCER_ID_MAX = 2**63 - 1


class ExportError(Exception):
    """The export failed. The message is one line for the user."""


@dataclass(frozen=True, slots=True)
class ExportedPartition:
    """A partition. first_base_offset: the base offset of its first segment."""

    index: int
    leader_epoch: int
    log_start_offset: int
    first_base_offset: int


@dataclass(frozen=True, slots=True)
class ExportedTopic:
    """A topic and its own configs."""

    name: str
    topic_id: bytes
    configs: Mapping[str, str] = field(default_factory=dict[str, str])
    partitions: list[ExportedPartition] = field(default_factory=list[ExportedPartition])


@dataclass(frozen=True, slots=True)
class ExportedCluster:
    """The metadata of the export.

    producer_id_end: above every producer id that is in a log or was allocated.
    settings: the broker configs that were set, by key.
    features: the finalized levels by name, of the features whose level is known; 0 for none.
    """

    cluster_id: str
    topics: list[ExportedTopic]
    producer_id_end: int
    settings: Mapping[str, str]
    features: Mapping[str, int] = field(default_factory=dict[str, int])


class KafkaFolder:
    """The target folder of an export."""

    def __init__(self, path: Path, within: Path | None = None) -> None:
        """Create the folder unless it exists and is empty. Raises ExportError and OSError.

        within: a path without symbolic links; the folder must be inside it, wherever links in its own path lead.
        """
        if (problem := find_file_in_the_way(path)) is not None:
            raise ExportError(problem)
        if path.exists() and any(path.iterdir()):
            raise ExportError(f"{path} exists and is not an empty folder")
        # The folders that this export creates, innermost first.
        self._created = [each for each in [path, *path.parents] if not each.exists()]
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.resolve()
        # The identities of the partition folders, and the names of the other files, that this export creates.
        self._folders: dict[Path, int] = {}
        self._files: list[str] = []
        if within is not None and not self.path.is_relative_to(within):
            # A link replaced a folder after the path was checked. Only empty folders were created, and a deletion that
            # follows the link could delete more than these.
            raise ExportError(f"{path} leads out of {within}")

    def discard(self) -> None:
        """Delete what the export has created, because it failed; a folder with something else stays.

        Another export may use a folder around this one that this export has created; that one stays.
        """
        for folder in list(self._folders):
            with suppress(OSError):
                self.delete_partition(folder)
        for name in self._files:
            (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):
            for created in self._created:
                created.rmdir()

    def create_partition(self, topic_name: str, topic_id: bytes, index: int) -> Path:
        """Create the folder of a partition and return it. Raises OSError."""
        folder = self.path / partition_folder(topic_name, index)
        folder.mkdir()
        self._folders[folder] = identity_of(os.stat(folder, follow_symlinks=False))
        with (folder / PARTITION_METADATA).open("xb") as file:
            file.write(encode_partition_metadata(topic_id))
        return folder

    def delete_partition(self, folder: Path) -> None:
        """Delete the folder of a partition. What another process has placed there stays. Raises OSError."""
        delete_own_folder(folder, is_log_file, self._folders.pop(folder))

    def finish(self, cluster: ExportedCluster, now_ms: int) -> None:
        """Write all other files, after the logs. Raises OSError."""
        directory_id = new_uuid()
        log_starts = {
            (topic.name, partition.index): partition.log_start_offset
            for topic in cluster.topics
            for partition in topic.partitions
            if partition.log_start_offset > partition.first_base_offset
        }
        checkpoint = BootstrapCheckpoint(
            records=list(_records_of(cluster, directory_id)),
            header_timestamp=now_ms,
            records_timestamp=now_ms,
            footer_timestamp=now_ms,
        )
        self._write(LOG_START_OFFSET_CHECKPOINT, encode_offsets(log_starts))
        self._write(BOOTSTRAP_CHECKPOINT, encode_bootstrap_checkpoint(checkpoint))
        self._write(SERVER_PROPERTIES, server_properties(self.path, cluster.settings))
        identity = MetaProperties(cluster.cluster_id, NODE_ID, directory_id)
        self._write(META_PROPERTIES, encode_meta_properties(identity))

    def _write(self, name: str, content: bytes) -> None:
        # Fails at a link or a file that another process has placed here.
        with (self.path / name).open("xb") as file:
            self._files.append(name)
            file.write(content)


def _records_of(cluster: ExportedCluster, directory_id: bytes) -> Iterator[MetadataRecord]:
    for feature in FEATURES_OF_4_3:
        configured = cluster.settings.get(TRANSACTION_LEVEL_KEY) if feature.name == TRANSACTION_FEATURE else None
        level = feature.feature_level if configured is None else int(configured)
        # Kafka 4.3 does not start with a level above its own; a later Kafka starts with that, too.
        highest = feature.feature_level
        yield replace(feature, feature_level=min(highest, cluster.features.get(feature.name, level)))
    for topic in cluster.topics:
        yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
        for partition in topic.partitions:
            yield PartitionRecord(
                partition_id=partition.index,
                topic_id=topic.topic_id,
                replicas=[NODE_ID],
                isr=[NODE_ID],
                leader=NODE_ID,
                leader_epoch=partition.leader_epoch,
                directories=[directory_id],
            )
        for name, value in topic.configs.items():
            # A partition with one replica would take no batch with acks=all. Kafka has no keys of fauxka.
            if name != MIN_INSYNC_REPLICAS and not name.startswith(OWN_PREFIX):
                yield ConfigRecord(resource_name=topic.name, name=name, value=value)
    if cluster.producer_id_end > 0:
        # Without it Kafka allocates ids from 0 again, and takes batches of new producers for duplicates of old ones.
        yield ProducerIdsRecord(broker_id=NODE_ID, next_producer_id=_next_block(cluster.producer_id_end))


def _next_block(producer_id_end: int) -> int:
    """Return the start of the first block of producer ids at or above producer_id_end."""
    return min(-(-producer_id_end // PRODUCER_ID_BLOCK) * PRODUCER_ID_BLOCK, PRODUCER_ID_MAX - PRODUCER_ID_BLOCK)
