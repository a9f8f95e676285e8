"""What files and brokers say about each partition, beside its batches: where its log begins, what cleaning may have
removed, and the start offsets of its leader epochs.

- The beginning of a log is missing if its first batch is behind the log start offset: a segment begins with the offset
  in the name of its file. DeleteRecords and retention move the log start offset; cleaning removes batches in front of
  the first dirty offset.
- A first segment that is missing leaves its offsets in the leader epoch checkpoint, or in that of the log start
  offsets: both begin at the log start offset when a broker has shut down cleanly. At any other time, and where
  segments are in remote storage, they can begin in front of it.
- The first batch is read here, not by the job: retention can delete a segment before the job reads it.

Source: UnifiedLog.maybeIncrementLogStartOffset, LogManager.checkpointLogStartOffsetsInDir, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...protocol.batches.record_batch import HEADER_SIZE, MAGIC_POSITION, MAGIC_V2, is_whole, parse_header
from ...storage.log_files import PartitionName
from ..read.segment_files import Segment
from .log_bounds import LogBounds
from .log_directories import LeaderEpochs, PartitionFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FACTS_SCHEMA = (
    "topic string, partition int, begins_at bigint, cleaned_before bigint,"
    " leader_epochs array<struct<leader_epoch:int,start_offset:bigint>>"
)


class LogFacts(NamedTuple):
    """begins_at: the offset at which the log must begin, if its first batch is behind it; None: it need not be known.

    cleaned_before: as in LogBounds. leader_epochs: of the checkpoint; empty if unknown.
    """

    topic: str
    partition: int
    begins_at: int | None
    cleaned_before: int
    leader_epochs: LeaderEpochs


def log_facts(bounds: Iterable[LogBounds], files: Sequence[PartitionFiles]) -> list[LogFacts]:
    """Return the facts of each partition. files: of a folder; empty for a broker. Raises OSError."""
    by_name = {one.name: one for one in files}
    found: list[LogFacts] = []
    for topic, partition, _, cleaned_before in bounds:
        of_partition = by_name.get(PartitionName(topic, partition))
        begins_at = None if of_partition is None else _missing_start(of_partition)
        epochs: LeaderEpochs = [] if of_partition is None else of_partition.leader_epochs
        found.append(LogFacts(topic, partition, begins_at, cleaned_before, epochs))
    return found


def facts_frame(spark: SparkSession, facts: list[LogFacts]) -> DataFrame:
    """Return the facts as a frame of FACTS_SCHEMA, one small row for each partition."""
    return spark.createDataFrame(facts, FACTS_SCHEMA)


def _missing_start(files: PartitionFiles) -> int | None:
    """Return the offset at which the log must begin; None if its first batch has it, or there is none."""
    first = _first_offset(files.segments)
    if first is None:
        return None
    begins_at = files.log_start
    if files.directory.is_clean and not files.directory.has_remote_storage:
        begins_at = min(files.directory.log_starts.get(files.name, begins_at), begins_at)
        begins_at = min([begins_at, *(start for _, start in files.leader_epochs[:1])])
    return begins_at if begins_at < first else None


def _first_offset(segments: Sequence[Segment]) -> int | None:
    """Return the offset of the first batch; None if the log does not begin with a whole batch of magic 2."""
    segment = next((segment for segment in segments if segment.size), None)
    if segment is None:
        return None
    try:
        with segment.store.open(segment.path) as file:
            head = file.read_at(0, HEADER_SIZE)
            size = file.size
    except FileNotFoundError:
        return None
    if len(head) < HEADER_SIZE or head[MAGIC_POSITION] != MAGIC_V2:
        return None
    header = parse_header(head)
    return header.base_offset if is_whole(header, size) else None
