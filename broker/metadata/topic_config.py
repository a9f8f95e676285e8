"""Topic configs: their values, their validation, and the LogConfig that they result in.

The topic's own configs take precedence over the broker's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ...protocol.batches.record_batch import Compression, TimestampType
from ...storage.log_config import CleanupPolicy, GeneratedRecords, LogConfig, Records, RecordValidation
from ..config.broker_config import BrokerConfig
from ..config.config_keys import OWN_TOPIC_ROWS, ConfigKey
from ..config.config_types import ConfigError, ConfigValue

# A log of discarded records is deleted segment by segment; one with more than this is rolled. It must have room for the
# largest batch.
DISCARDED_SEGMENT_BYTES = 1024 * 1024

# The key for both directions, until Kafka 3.9, and the value for no limit.
DIFFERENCE_MAX = "message.timestamp.difference.max.ms"
NO_LIMIT = 2**63 - 1

# The cache of LogConfigs is cleared at this size; most topics have the same configs.
CACHED_LOG_CONFIGS_MAX = 1_000

T = TypeVar("T")


def topic_value_of(config: BrokerConfig, overrides: Mapping[str, str], name: str) -> ConfigValue:
    """Return the value of a topic key: the topic's own, in overrides, or the broker's default.

    Raises UnknownConfigKey, and ConfigError for an override that Kafka refuses.
    """
    key = config.keys.readable_topic_key(name)
    return key.parse(overrides[name]) if name in overrides else topic_default_of(config, key)


def topic_default_of(config: BrokerConfig, key: ConfigKey) -> ConfigValue:
    """Return the default of a topic key: the first of its broker keys that has a value, else Kafka's.

    Milliseconds go before minutes, and minutes before hours. Source: KafkaConfig.extractLogConfigMap, Kafka 4.3.0.
    """
    for synonym in key.synonyms:
        value = config.value_of(synonym.name)
        if value is None:
            continue
        if isinstance(value, int) and synonym.factor != 1:
            # A negative value means no limit, in any unit (KafkaConfig.logRetentionTimeMillis).
            return value * synonym.factor if value >= 0 else -1
        return value
    return key.default_value


def validate_topic_configs(config: BrokerConfig, overrides: Mapping[str, str | None]) -> None:
    """Raise ConfigError, with Kafka's message, if Kafka would refuse these topic configs.

    Source: ControllerConfigurationValidator.validate and LogConfig.validate, Kafka 4.3.0.
    """
    nulls = sorted(name for name, text in overrides.items() if text is None)
    if nulls:
        raise ConfigError(f"Null value not supported for topic configs: {','.join(nulls)}")
    texts = {name: text for name, text in overrides.items() if text is not None}
    for name in texts:
        config.keys.topic_key_of(name)
    for name in texts:
        topic_value_of(config, texts, name)
    reader = TopicConfigReader(config, texts)
    minimum, maximum = reader.integer("min.compaction.lag.ms"), reader.integer("max.compaction.lag.ms")
    if minimum > maximum:
        pair = f"min.compaction.lag.ms ({minimum}) > max.compaction.lag.ms ({maximum})"
        raise ConfigError(f"conflict topic config setting {pair}")
    if reader.read("remote.storage.enable", bool):
        raise ConfigError(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )


def check_fixed_configs(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Raise ConfigError if a key of fauxka is altered: what a topic does with records is fixed at its creation."""
    for name, *_ in OWN_TOPIC_ROWS:
        if before.get(name) != after.get(name):
            raise ConfigError(f"{name} is fixed at the creation of the topic: it is {before.get(name, 'not set')}")


class TopicConfigReader:
    """Reads typed values of topic keys: the topic's own, or the broker's defaults."""

    def __init__(self, config: BrokerConfig, overrides: Mapping[str, str]) -> None:
        """config: the broker's configs. overrides: the topic's own."""
        self._config = config
        self._overrides = overrides

    def read(self, name: str, value_type: type[T]) -> T:
        """Return the value of a topic key of that type. Raises ConfigError."""
        value = topic_value_of(self._config, self._overrides, name)
        assert isinstance(value, value_type), f"{name} is {value!r}"
        return value

    def has_key(self, name: str) -> bool:
        """Whether the release has the topic key."""
        return name in self._config.keys.topic

    def integer(self, name: str) -> int:
        """Return the value of an integer key. Raises ConfigError."""
        return self.read(name, int)


TIMESTAMP_TYPES = {"CreateTime": TimestampType.CREATE_TIME, "LogAppendTime": TimestampType.LOG_APPEND_TIME}


def log_config_of(config: BrokerConfig, overrides: Mapping[str, str]) -> LogConfig:
    """Return the LogConfig of a topic with these overrides. Raises ConfigError as topic_value_of does."""
    reader = TopicConfigReader(config, overrides)
    integer = reader.integer
    policies = topic_value_of(config, overrides, "cleanup.policy")
    assert isinstance(policies, list), f"cleanup.policy is {policies!r}"
    records = Records(reader.read("fauxka.records", str))
    # The internal key allows segments below the minimum of segment.bytes (LogConfig.segmentSize).
    segment_key = "internal.segment.bytes" if "internal.segment.bytes" in overrides else "segment.bytes"
    max_message_bytes, segment_bytes = integer("max.message.bytes"), integer(segment_key)
    if records is Records.DISCARDED:
        segment_bytes = min(segment_bytes, max(DISCARDED_SEGMENT_BYTES, max_message_bytes))
    return LogConfig(
        cleanup_policies=frozenset(map(CleanupPolicy, policies)),
        compression_type=compression_of(reader.read("compression.type", str)),
        compression_gzip_level=integer("compression.gzip.level"),
        compression_lz4_level=integer("compression.lz4.level"),
        compression_zstd_level=integer("compression.zstd.level"),
        delete_retention_ms=integer("delete.retention.ms"),
        file_delete_delay_ms=0 if records is Records.DISCARDED else integer("file.delete.delay.ms"),
        flush_messages=integer("flush.messages"),
        flush_ms=integer("flush.ms"),
        index_interval_bytes=integer("index.interval.bytes"),
        max_compaction_lag_ms=integer("max.compaction.lag.ms"),
        max_decompressed_message_bytes=integer("max.decompressed.message.bytes"),
        max_message_bytes=max_message_bytes,
        message_timestamp_after_max_ms=timestamp_bound_of(reader, "message.timestamp.after.max.ms"),
        message_timestamp_before_max_ms=timestamp_bound_of(reader, "message.timestamp.before.max.ms"),
        message_timestamp_type=TIMESTAMP_TYPES[reader.read("message.timestamp.type", str)],
        min_cleanable_dirty_ratio=reader.read("min.cleanable.dirty.ratio", float),
        min_compaction_lag_ms=integer("min.compaction.lag.ms"),
        min_insync_replicas=integer("min.insync.replicas"),
        preallocate=reader.read("preallocate", bool),
        producer_id_expiration_ms=config.producer_id_expiration_ms,
        record_validation=RecordValidation(config.record_validation),
        records=records,
        generated=GeneratedRecords(
            count=integer("fauxka.generated.records"),
            batch_records=integer("fauxka.generated.batch.records"),
            keys=integer("fauxka.generated.keys"),
            value_bytes=integer("fauxka.generated.value.bytes"),
        ),
        retention_bytes=integer("retention.bytes"),
        retention_ms=integer("retention.ms"),
        segment_bytes=segment_bytes,
        segment_index_bytes=integer("segment.index.bytes"),
        segment_jitter_ms=integer("segment.jitter.ms"),
        segment_ms=integer("segment.ms"),
        unclean_leader_election_enable=reader.read("unclean.leader.election.enable", bool),
    )


def timestamp_bound_of(reader: TopicConfigReader, name: str) -> int:
    """Return how far a timestamp may be from the broker's clock. name: the key for one direction.

    Up to Kafka 3.9, message.timestamp.difference.max.ms limits both directions. From 3.6 on it does so where the key
    for one direction has no limit (LogConfig.getMessageTimestampBeforeMaxMs, Kafka 3.9.1).
    """
    bound = reader.integer(name)
    return reader.integer(DIFFERENCE_MAX) if bound == NO_LIMIT and reader.has_key(DIFFERENCE_MAX) else bound


def compression_of(name: str) -> Compression | None:
    """Return the codec of compression.type; None for "producer", which stores batches as they are received."""
    match name:
        case "producer":
            return None
        case "uncompressed":
            return Compression.NONE
        case _:
            return Compression[name.upper()]


class LogConfigCache:
    """The LogConfig of each set of topic configs."""

    __slots__ = ("_config", "_log_configs")

    def __init__(self, config: BrokerConfig) -> None:
        """config: the broker's configs."""
        self._config = config
        self._log_configs: dict[frozenset[tuple[str, str]], LogConfig] = {}

    def get(self, config: BrokerConfig, overrides: Mapping[str, str]) -> LogConfig:
        """Return the LogConfig of a topic with these overrides. Raises ConfigError."""
        if config is not self._config or len(self._log_configs) >= CACHED_LOG_CONFIGS_MAX:
            self._log_configs.clear()
            self._config = config
        key = frozenset(overrides.items())
        found = self._log_configs.get(key)
        if found is None:
            found = self._log_configs[key] = log_config_of(config, overrides)
        return found
