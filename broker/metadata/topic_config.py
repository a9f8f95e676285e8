"""What a topic is configured to: its own values before the broker's, and what its logs keep to for that.

Loaded with the first topic: a broker that starts has none yet, and its start is to be short.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.batches.record_batch import Compression, TimestampType
from ...storage.log_config import CleanupPolicy, LogConfig, RecordValidation
from ..config.broker_config import BrokerConfig
from ..config.config_keys import ConfigKey, topic_key_of
from ..config.config_types import ConfigError, ConfigValue


def topic_value_of(config: BrokerConfig, overrides: Mapping[str, str], name: str) -> ConfigValue:
    """Return what a topic key is worth for a topic with overrides: its own value, or the default the broker gives.

    Raises UnknownConfigKey, and ConfigError for an override that Kafka refuses.
    """
    key = topic_key_of(name)
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
            # Whatever is below zero means no limit, in any unit (KafkaConfig.logRetentionTimeMillis).
            return value * synonym.factor if value >= 0 else -1
        return value
    return key.default_value


def validate_topic_configs(config: BrokerConfig, overrides: Mapping[str, str | None]) -> None:
    """Raise ConfigError, with Kafka's words, where Kafka would not give a topic these overrides.

    Source: ControllerConfigurationValidator.validate and LogConfig.validate, Kafka 4.3.0.
    """
    nulls = sorted(name for name, text in overrides.items() if text is None)
    if nulls:
        raise ConfigError(f"Null value not supported for topic configs: {','.join(nulls)}")
    texts = {name: text for name, text in overrides.items() if text is not None}
    for name in texts:
        topic_key_of(name)
    for name in texts:
        topic_value_of(config, texts, name)
    settings = TopicSettings(config, texts)
    minimum, maximum = settings.integer("min.compaction.lag.ms"), settings.integer("max.compaction.lag.ms")
    if minimum > maximum:
        pair = f"min.compaction.lag.ms ({minimum}) > max.compaction.lag.ms ({maximum})"
        raise ConfigError(f"conflict topic config setting {pair}")
    if settings.boolean("remote.storage.enable"):
        raise ConfigError(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )


class TopicSettings:
    """The values of a topic by their types; what was set for it goes before what the broker says."""

    def __init__(self, config: BrokerConfig, overrides: Mapping[str, str]) -> None:
        """Read nothing yet."""
        self._config = config
        self._overrides = overrides

    def integer(self, name: str) -> int:
        """Return the value of a key that is a whole number."""
        value = topic_value_of(self._config, self._overrides, name)
        assert isinstance(value, int), f"{name} is {value!r}"
        return value

    def number(self, name: str) -> float:
        """Return the value of a key that is a number."""
        value = topic_value_of(self._config, self._overrides, name)
        assert isinstance(value, int | float), f"{name} is {value!r}"
        return value

    def boolean(self, name: str) -> bool:
        """Return the value of a key that is true or false."""
        value = topic_value_of(self._config, self._overrides, name)
        assert isinstance(value, bool), f"{name} is {value!r}"
        return value

    def text(self, name: str) -> str:
        """Return the value of a key that is a word."""
        value = topic_value_of(self._config, self._overrides, name)
        assert isinstance(value, str), f"{name} is {value!r}"
        return value

    def words(self, name: str) -> list[str]:
        """Return the value of a key that is a list."""
        value = topic_value_of(self._config, self._overrides, name)
        assert isinstance(value, list), f"{name} is {value!r}"
        return value


TIMESTAMP_TYPES = {"CreateTime": TimestampType.CREATE_TIME, "LogAppendTime": TimestampType.LOG_APPEND_TIME}


def log_config_of(config: BrokerConfig, overrides: Mapping[str, str]) -> LogConfig:
    """Return what the logs of a topic with overrides keep to. Raises ConfigError as topic_value_of does."""
    settings = TopicSettings(config, overrides)
    integer = settings.integer
    # Kafka's own tests set a segment size below its minimum by this key (LogConfig.segmentSize).
    segment_key = "internal.segment.bytes" if "internal.segment.bytes" in overrides else "segment.bytes"
    return LogConfig(
        cleanup_policies=frozenset(CleanupPolicy(word) for word in settings.words("cleanup.policy")),
        compression_type=compression_of(settings.text("compression.type")),
        compression_gzip_level=integer("compression.gzip.level"),
        compression_lz4_level=integer("compression.lz4.level"),
        compression_zstd_level=integer("compression.zstd.level"),
        delete_retention_ms=integer("delete.retention.ms"),
        file_delete_delay_ms=integer("file.delete.delay.ms"),
        flush_messages=integer("flush.messages"),
        flush_ms=integer("flush.ms"),
        index_interval_bytes=integer("index.interval.bytes"),
        max_compaction_lag_ms=integer("max.compaction.lag.ms"),
        max_message_bytes=integer("max.message.bytes"),
        message_timestamp_after_max_ms=integer("message.timestamp.after.max.ms"),
        message_timestamp_before_max_ms=integer("message.timestamp.before.max.ms"),
        message_timestamp_type=TIMESTAMP_TYPES[settings.text("message.timestamp.type")],
        min_cleanable_dirty_ratio=settings.number("min.cleanable.dirty.ratio"),
        min_compaction_lag_ms=integer("min.compaction.lag.ms"),
        min_insync_replicas=integer("min.insync.replicas"),
        preallocate=settings.boolean("preallocate"),
        producer_id_expiration_ms=config.producer_id_expiration_ms,
        record_validation=RecordValidation(config.record_validation),
        retention_bytes=integer("retention.bytes"),
        retention_ms=integer("retention.ms"),
        segment_bytes=integer(segment_key),
        segment_index_bytes=integer("segment.index.bytes"),
        segment_jitter_ms=integer("segment.jitter.ms"),
        segment_ms=integer("segment.ms"),
        unclean_leader_election_enable=settings.boolean("unclean.leader.election.enable"),
    )


def compression_of(name: str) -> Compression | None:
    """Return the codec that compression.type names; None for "producer", which leaves batches as they came."""
    match name:
        case "producer":
            return None
        case "uncompressed":
            return Compression.NONE
        case _:
            return Compression[name.upper()]
