"""Bounds of a partition's log: its start, and the offset before which cleaning may have removed records.

A broker reports its log start offsets and the cleanup policy of its topics. A log directory has checkpoints of both. A
partition's folder alone has only the base offset of its first segment.
Source: LogManager (log-start-offset-checkpoint, cleaner-offset-checkpoint), Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...client.errors import BrokerError
from ...storage.checkpoints.checkpoint_files import CLEANER_OFFSET_CHECKPOINT
from ..decode.row_source import OFFSET_MAX
from ..read.broker_configs import topic_configs
from ..read.fetch_log import FetchLog
from ..read.log_starts import checkpointed_offsets, log_starts_of_files
from ..read.options import LogOptions
from ..read.segment_files import PartitionSegments

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CLEANUP_POLICY = "cleanup.policy"
_COMPACT = "compact"
# Topics that Kafka itself creates with that policy.
_COMPACTED_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})

BOUNDS_SCHEMA = "topic string, partition int, log_start bigint, cleaned_before bigint"


class LogBounds(NamedTuple):
    """Log start offset, and the offset before which cleaning may have removed records (0: it has not)."""

    topic: str
    partition: int
    log_start: int
    cleaned_before: int


def bounds_frame(spark: SparkSession, bounds: list[LogBounds]) -> DataFrame:
    """Return the bounds as a frame, for audit_ledger."""
    return spark.createDataFrame(bounds, BOUNDS_SCHEMA)


def bounds_of_files(segments: PartitionSegments) -> list[LogBounds]:
    """Return the bounds of partitions from segment files and the checkpoints of their log directories."""
    cleaned = checkpointed_offsets(segments, CLEANER_OFFSET_CHECKPOINT)
    # A follower copies what its leader has cleaned, and has no checkpoint of it.
    cleaned |= {name: OFFSET_MAX for name in segments if name.topic_name in _COMPACTED_TOPICS}
    starts = log_starts_of_files(segments)
    return [LogBounds(*name, start, cleaned.get(name, 0)) for name, start in starts.items()]


def bounds_on_broker(log: FetchLog, options: LogOptions) -> list[LogBounds]:
    """Return the bounds of a broker's partitions. It does not report how far a compacted topic has been cleaned."""
    starts = log.log_starts()
    compacted = _compacted_topics(options, {name.topic_name for name in starts})
    return [
        LogBounds(*name, start, OFFSET_MAX if name.topic_name in compacted else 0) for name, start in starts.items()
    ]


def _compacted_topics(options: LogOptions, topics: set[str]) -> set[str]:
    """Return the compacted topics; none if the broker rejects DescribeConfigs."""
    try:
        policies = topic_configs(options, topics, _CLEANUP_POLICY)
    except BrokerError:
        return set()
    return {topic for topic, policy in policies.items() if _COMPACT in (policy or "").split(",")}
