"""Exports the data folder of a broker that is not running.

Segments are copied unchanged, with the producer snapshots, because batches of some producers may be deleted. Indexes
are left out: Kafka rebuilds them and truncates an incomplete batch at the end. Nothing is written to the data folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ....protocol.batches.record_batch import (
    HEADER_SIZE,
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_ID,
    parse_header,
)
from ....storage.checkpoints.checkpoint_files import LOG_START_OFFSET_CHECKPOINT, decode_offsets
from ....storage.corrupt_file import CorruptFileError
from ....storage.file_systems.path_problems import find_file_in_the_way
from ....storage.log_files import LOG_SUFFIX, SNAPSHOT_SUFFIX, SWAP_SUFFIX, PartitionName, base_offset_of, file_name
from ....storage.log_files import partition_folder as folder_name_of
from ....storage.producers.producer_snapshot import decode_snapshot
from ...metadata.cluster_metadata import METADATA_FILE, NewerMetadataError, TopicMetadata, decode_metadata
from ...metadata.metadata_image import is_internal_topic
from ..log_import import lock_shared
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


def export_data_folder(data_folder: Path, folder: KafkaFolder, report: Callable[[str], None]) -> ExportedCluster:
    """Copy all logs. Return the metadata for KafkaFolder.finish.

    report: called with a line for each topic.
    Raises ExportError, DataDirectoryError if a broker uses the folder, CorruptFileError and OSError.
    """
    if not (data_folder / METADATA_FILE).is_file():
        problem = f"{data_folder} has no {METADATA_FILE}: it is not a data folder of fauxka"
        if not data_folder.is_dir():
            problem = find_file_in_the_way(data_folder) or f"there is no folder {data_folder}"
        raise ExportError(problem)
    lock = lock_shared(str(data_folder))
    try:
        return _export_all(data_folder, folder, report)
    finally:
        if lock >= 0:
            os.close(lock)


def _export_all(data_folder: Path, folder: KafkaFolder, report: Callable[[str], None]) -> ExportedCluster:
    try:
        metadata = decode_metadata((data_folder / METADATA_FILE).read_bytes())
    except NewerMetadataError:
        raise
    except CorruptFileError as error:
        raise ExportError(f"{error}; `fauxka serve --data-dir {data_folder}` mends the file from its copy") from error
    starts_file = data_folder / LOG_START_OFFSET_CHECKPOINT
    starts = decode_offsets(starts_file.read_bytes()) if starts_file.exists() else {}
    topics: list[ExportedTopic] = []
    producer_id_end = metadata.next_producer_id
    for topic in sorted(metadata.topics, key=lambda topic: topic.name):
        exported, highest = _export_topic(data_folder, topic, folder, starts)
        if is_internal_topic(topic.name) and highest.total_bytes == 0:
            # Kafka creates it at its first use.
            for partition in exported.partitions:
                shutil.rmtree(folder.path / folder_name_of(topic.name, partition.index))
            continue
        report(f"{topic.name}: partitions {topic.partition_count}, bytes {highest.total_bytes}")
        topics.append(exported)
        producer_id_end = max(producer_id_end, highest.producer_id + 1)
    configs = metadata.configs
    settings = {} if configs is None else {**configs.default_broker_configs, **configs.broker_configs}
    return ExportedCluster(metadata.cluster_id, topics, producer_id_end, settings, metadata.features)


def _export_topic(
    data_folder: Path, topic: TopicMetadata, folder: KafkaFolder, starts: dict[PartitionName, int]
) -> tuple[ExportedTopic, SegmentTotals]:
    exported = ExportedTopic(topic.name, topic.topic_id, topic.configs)
    highest = SegmentTotals()
    for index in range(topic.partition_count):
        source = data_folder / folder_name_of(topic.name, index)
        target = folder.create_partition(topic.name, topic.topic_id, index)
        found = _copy_files(source, target)
        highest = highest.combined_with(found)
        bases = [
            base
            for file in source.glob(f"*{LOG_SUFFIX}")
            if (base := base_offset_of(file.name, LOG_SUFFIX)) is not None
        ]
        start = starts.get(PartitionName(topic.name, index), 0)
        first_base_offset = min(bases, default=start)
        if not bases:
            (target / file_name(start, LOG_SUFFIX)).touch()
        exported.partitions.append(
            ExportedPartition(index, max(found.leader_epoch, 0), max(start, first_base_offset), first_base_offset)
        )
    return exported, highest


def _copy_files(source: Path, target: Path) -> SegmentTotals:
    """Copy the files of a partition that Kafka needs. Return their totals."""
    highest = SegmentTotals()
    for file in sorted(source.iterdir()) if source.is_dir() else []:
        if file.name.endswith(COPIED_SUFFIXES):
            shutil.copyfile(file, target / file.name)
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
