"""The configuration of a partition's log as typed values with Kafka's defaults; broker/config parses the strings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..protocol.batches.record_batch import Compression, TimestampType

# Java's Long.MAX_VALUE, which Kafka's defaults use for "no bound".
LONG_MAX = 2**63 - 1
# The default of max.decompressed.message.bytes: no limit but that of arrays in Java.
DECOMPRESSED_MESSAGE_BYTES_MAX = 2**31 - 1 - 8


class CleanupPolicy(Enum):
    """cleanup.policy; a topic may have both."""

    DELETE = "delete"
    COMPACT = "compact"


class RecordValidation(Enum):
    """fauxka.record.validation: FULL checks each record, as Kafka does. BATCH trusts the header's count and timestamps.

    Both check CRC, sizes and producer state.
    """

    FULL = "full"
    BATCH = "batch"


class Records(Enum):
    """fauxka.records: STORED is Kafka's log; DISCARDED deletes all records below the high watermark at once.

    GENERATED has a made record at each offset, see generated_log.
    """

    STORED = "stored"
    DISCARDED = "discarded"
    GENERATED = "generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedRecords:
    """The records of a log with Records.GENERATED: fauxka.generated.*.

    count: of the partition, rounded up to whole batches. keys: 0 for null keys.
    """

    count: int = 1_000_000_000_000
    batch_records: int = 1000
    keys: int = 100
    value_bytes: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The configuration of one log; replaced as a whole when the topic is altered.

    compression_type: None is "producer": the received batch is stored unchanged.
    retention_ms, retention_bytes: -1 is no limit.
    compression_*_level: used only where the broker itself compresses.
    producer_id_expiration_ms, record_validation: broker settings, the same for all of its logs.
    Source: the defaults of LogConfig and TopicConfig, Kafka 4.3.0.
    """

    cleanup_policies: frozenset[CleanupPolicy] = frozenset({CleanupPolicy.DELETE})
    compression_type: Compression | None = None
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    delete_retention_ms: int = 86_400_000
    file_delete_delay_ms: int = 60_000
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    index_interval_bytes: int = 4096
    max_compaction_lag_ms: int = LONG_MAX
    max_decompressed_message_bytes: int = DECOMPRESSED_MESSAGE_BYTES_MAX
    max_message_bytes: int = 1_048_588
    message_timestamp_after_max_ms: int = 3_600_000
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    min_insync_replicas: int = 1
    preallocate: bool = False
    producer_id_expiration_ms: int = 86_400_000
    record_validation: RecordValidation = RecordValidation.FULL
    records: Records = Records.STORED
    generated: GeneratedRecords = GeneratedRecords()
    retention_bytes: int = -1
    retention_ms: int = 604_800_000
    segment_bytes: int = 1_073_741_824
    segment_index_bytes: int = 10_485_760
    segment_jitter_ms: int = 0
    segment_ms: int = 604_800_000
    unclean_leader_election_enable: bool = False

    @property
    def is_compacted(self) -> bool:
        """Whether the topic is compacted; every record then needs a key."""
        return CleanupPolicy.COMPACT in self.cleanup_policies

    @property
    def is_deleting(self) -> bool:
        """Whether retention_ms and retention_bytes delete segments."""
        return CleanupPolicy.DELETE in self.cleanup_policies
