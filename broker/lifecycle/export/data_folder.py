"""Exports the data folder of a broker that is not running.

Segments are copied unchanged, with the producer snapshots, because batches of some producers may be deleted. Indexes
are left out: Kafka rebuilds them and truncates an incomplete batch at the end. Nothing is written to the data folder.
Of several nodes each partition is copied from the folder of its leader, which has every acknowledged record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ....protocol.batches.record_batch import (
    HEADER_SIZE,
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_ID,
    parse_header,
)
from ....storage.checkpoints.checkpoint_files import LOG_START_OFFSET_CHECKPOINT, decode_offsets
from ....storage.corrupt_file import CorruptFileError
from ....storage.file_systems.own_folder import copy_file
from ....storage.file_systems.path_problems import find_file_in_the_way
from ....storage.log_files import (
    LOG_SUFFIX,
    SNAPSHOT_SUFFIX,
    SWAP_SUFFIX,
    PartitionName,
    base_offset_of,
    file_name,
    is_log_file,
)
from ....storage.log_files import partition_folder as folder_name_of
from ....storage.producers.producer_snapshot import decode_snapshot
from ...metadata.cluster_metadata import (
    ConfigsMetadata,
    NewerMetadataError,
    TopicMetadata,
    decode_metadata,
)
from ...metadata.metadata_fields import METADATA_FILE
from ...metadata.metadata_image import is_internal_topic
from ..log_import import lock_shared
from ..node_directories import node_folder
from ..storage_options import CONTROLLER_FOLDER
from .kafka_folder import ExportedCluster, ExportedPartition, ExportedTopic, ExportError, KafkaFolder

# A .swap file is a compacted segment that replaces others; Kafka completes the replacement at start-up.
COPIED_SUFFIXES = (LOG_SUFFIX, SNAPSHOT_SUFFIX, SWAP_SUFFIX)


@dataclass(frozen=True, slots=True)
class SegmentTotals:
    """The highest producer id and leader epoch in some segments, and their size."""

    producer_id: int = NO_PRODUCER_ID
    leader_epoch: int = NO_PARTITION_LEADER_EPOCH
    total_bytes: int = 0

    def combined_with(self, other: SegmentTotals) -> SegmentTotals:
        """Return the totals of both."""
        return SegmentTotals(
            max(self.producer_id, other.producer_id),
            max(self.leader_epoch, other.leader_epoch),
            self.total_bytes + other.total_bytes,
        )


class SourceFolders:
    """The data folder of one node, or the folders of several nodes and their controller in one."""

    def __init__(self, data_folder: Path, *, has_nodes: bool) -> None:
        """has_nodes: whether each node has a folder there."""
        self.data_folder = data_folder
        self._has_nodes = has_nodes
        self._log_starts: dict[Path, dict[PartitionName, int]] = {}

    @classmethod
    def of(cls, data_folder: Path) -> Self:
        """Find out which it is."""
        return cls(data_folder, has_nodes=(data_folder / CONTROLLER_FOLDER).is_dir())

    @property
    def metadata_file(self) -> Path:
        """The path of cluster-metadata.json."""
        return (self.data_folder / CONTROLLER_FOLDER if self._has_nodes else self.data_folder) / METADATA_FILE

    @property
    def options(self) -> str:
        """The option of `fauxka serve` for the number of nodes, and a space; empty for one node."""
        return f"--nodes {len(self._nodes())} " if self._has_nodes else ""

    def folders(self) -> list[Path]:
        """Return every folder that a running broker locks."""
        return [self.data_folder / CONTROLLER_FOLDER, *self._nodes()] if self._has_nodes else [self.data_folder]

    def folder_of(self, topic: TopicMetadata, index: int) -> Path:
        """Return the folder with the log of a partition that counts."""
        if not topic.partitions:
            return self.data_folder
        partition = topic.partitions[index]
        leaders = [partition.leader_id] if partition.has_leader else []
        # Without a leader the last members of the ISR are the first ones that may lead again.
        candidates = [*leaders, *partition.isr, *partition.elr, *partition.last_known_elr, *partition.replicas]
        return self.data_folder / node_folder(candidates[0])

    def log_starts(self, folder: Path) -> dict[PartitionName, int]:
        """Return the log start offsets in the checkpoint of a node's folder."""
        if folder not in self._log_starts:
            file = folder / LOG_START_OFFSET_CHECKPOINT
            self._log_starts[folder] = decode_offsets(file.read_bytes()) if file.exists() else {}
        return self._log_starts[folder]

    def _nodes(self) -> list[Path]:
        return sorted(folder for folder in self.data_folder.glob(node_folder("*")) if folder.is_dir())


def export_data_folder(data_folder: Path, folder: KafkaFolder, report: Callable[[str], None]) -> ExportedCluster:
    """Copy all logs. Return the metadata for KafkaFolder.finish.

    report: called with a line for each topic.
    Raises ExportError, DataDirectoryError if a broker uses the folder, CorruptFileError and OSError.
    """
    source = SourceFolders.of(data_folder)
    if not source.metadata_file.is_file():
        problem = f"{data_folder} has no {METADATA_FILE}: it is not a data folder of fauxka"
        if not data_folder.is_dir():
            problem = find_file_in_the_way(data_folder) or f"there is no folder {data_folder}"
        raise ExportError(problem)
    with ExitStack() as locked:
        for each in source.folders():
            if (lock := lock_shared(str(each))) >= 0:
                locked.callback(os.close, lock)
        return _export_all(source, folder, report)


def _export_all(source: SourceFolders, folder: KafkaFolder, report: Callable[[str], None]) -> ExportedCluster:
    try:
        metadata = decode_metadata(source.metadata_file.read_bytes())
    except NewerMetadataError:
        raise
    except CorruptFileError as error:
        command = f"fauxka serve {source.options}--data-dir {source.data_folder}"
        raise ExportError(f"{error}; `{command}` mends the file from its copy") from error
    topics: list[ExportedTopic] = []
    producer_id_end = metadata.next_producer_id
    for topic in sorted(metadata.topics, key=lambda topic: topic.name):
        exported, highest = _export_topic(source, topic, folder)
        if is_internal_topic(topic.name) and highest.total_bytes == 0:
            # Kafka creates it at its first use.
            for partition in exported.partitions:
                folder.delete_partition(folder.path / folder_name_of(topic.name, partition.index))
            continue
        report(f"{topic.name}: partitions {topic.partition_count}, bytes {highest.total_bytes}")
        topics.append(exported)
        producer_id_end = max(producer_id_end, highest.producer_id + 1)
    configs = metadata.configs
    settings = {} if configs is None else {**configs.default_broker_configs, **_configs_of_first_node(configs)}
    return ExportedCluster(metadata.cluster_id, topics, producer_id_end, settings, metadata.features)


def _configs_of_first_node(configs: ConfigsMetadata) -> Mapping[str, str]:
    """Return the dynamic configs of the only node, or of the first one that has some."""
    return configs.node_configs[min(configs.node_configs)] if configs.node_configs else configs.broker_configs


def _export_topic(
    sources: SourceFolders, topic: TopicMetadata, folder: KafkaFolder
) -> tuple[ExportedTopic, SegmentTotals]:
    exported = ExportedTopic(topic.name, topic.topic_id, topic.configs)
    highest = SegmentTotals()
    for index in range(topic.partition_count):
        node_folder = sources.folder_of(topic, index)
        source = node_folder / folder_name_of(topic.name, index)
        target = folder.create_partition(topic.name, topic.topic_id, index)
        found = _copy_files(source, target)
        highest = highest.combined_with(found)
        bases = [
            base
            for file in source.glob(f"*{LOG_SUFFIX}")
            if (base := base_offset_of(file.name, LOG_SUFFIX)) is not None
        ]
        start = sources.log_starts(node_folder).get(PartitionName(topic.name, index), 0)
        first_base_offset = min(bases, default=start)
        if not bases:
            (target / file_name(start, LOG_SUFFIX)).touch(exist_ok=False)
        exported.partitions.append(
            ExportedPartition(index, max(found.leader_epoch, 0), max(start, first_base_offset), first_base_offset)
        )
    return exported, highest


def _copy_files(source: Path, target: Path) -> SegmentTotals:
    """Copy the files of a partition that Kafka needs. Return their totals."""
    highest = SegmentTotals()
    for file in sorted(source.iterdir()) if source.is_dir() else []:
        if not is_log_file(file.name):
            continue
        if file.name.endswith(COPIED_SUFFIXES):
            copy_file(file, target / file.name)
        if file.name.endswith((LOG_SUFFIX, LOG_SUFFIX + SWAP_SUFFIX)):
            highest = highest.combined_with(_highest_in(file))
        if file.name.endswith(SNAPSHOT_SUFFIX):
            highest = highest.combined_with(_highest_in_snapshot(file))
    return highest


def _highest_in(segment: Path) -> SegmentTotals:
    """Read the batch headers of a segment, up to the first invalid one."""
    producer_id, leader_epoch, position = NO_PRODUCER_ID, NO_PARTITION_LEADER_EPOCH, 0
    with segment.open("rb") as file:
        while len(data := file.read(HEADER_SIZE)) == HEADER_SIZE:
            header = parse_header(data)
            if header.magic != MAGIC_V2 or header.size < HEADER_SIZE:
                break
            producer_id = max(producer_id, header.producer_id)
            leader_epoch = max(leader_epoch, header.partition_leader_epoch)
            position = file.seek(position + header.size)
    return SegmentTotals(producer_id, leader_epoch, position)


def _highest_in_snapshot(snapshot: Path) -> SegmentTotals:
    try:
        entries = decode_snapshot(snapshot.read_bytes())
    except CorruptFileError:
        # Kafka deletes a damaged snapshot.
        return SegmentTotals()
    return SegmentTotals(producer_id=max((entry.producer_id for entry in entries), default=NO_PRODUCER_ID))
