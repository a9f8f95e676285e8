"""The broker's configuration: Kafka's keys as text, read once, as typed attributes.

An attribute is a key that something here reads; a key without one is accepted, kept and shown, and has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..protocol.record_batch import Compression, TimestampType
from ..storage.log_config import CleanupPolicy, LogConfig, RecordValidation
from .config_keys import (
    BROKER_KEYS,
    TOPIC_KEYS,
    ConfigError,
    ConfigKey,
    ConfigValue,
    UnknownConfigKey,
    broker_key_of,
    topic_key_of,
)
from .config_setting import Setting

__all__ = [
    "TOPIC_KEYS_WITHOUT_EFFECT",
    "BrokerConfig",
    "ConfigError",
    "UnknownConfigKey",
    "keys_with_effect",
    "log_config_of",
    "topic_default_of",
    "topic_value_of",
    "validate_topic_configs",
]


class BrokerConfig:
    """What a broker was told. Not changed after it was made: a dynamic change makes a new one (with_entries)."""

    # Identity and limits of the server
    node_id = Setting("node.id", int)
    socket_request_max_bytes = Setting("socket.request.max.bytes", int)
    fetch_max_bytes = Setting("fetch.max.bytes", int)
    max_incremental_fetch_session_cache_slots = Setting("max.incremental.fetch.session.cache.slots", int)
    # Topics
    num_partitions = Setting("num.partitions", int)
    default_replication_factor = Setting("default.replication.factor", int)
    auto_create_topics_enable = Setting("auto.create.topics.enable", bool)
    delete_topic_enable = Setting("delete.topic.enable", bool)
    max_request_partition_size_limit = Setting("max.request.partition.size.limit", int)
    log_retention_check_interval_ms = Setting("log.retention.check.interval.ms", int)
    # Logs on disk
    log_flush_offset_checkpoint_interval_ms = Setting("log.flush.offset.checkpoint.interval.ms", int)
    log_flush_scheduler_interval_ms = Setting("log.flush.scheduler.interval.ms", int)
    log_flush_start_offset_checkpoint_interval_ms = Setting("log.flush.start.offset.checkpoint.interval.ms", int)
    replica_high_watermark_checkpoint_interval_ms = Setting("replica.high.watermark.checkpoint.interval.ms", int)
    # Logs on disk, and their compaction
    log_cleaner_backoff_ms = Setting("log.cleaner.backoff.ms", int)
    log_cleaner_dedupe_buffer_size = Setting("log.cleaner.dedupe.buffer.size", int)
    log_cleaner_enable = Setting("log.cleaner.enable", bool)
    log_cleaner_io_buffer_load_factor = Setting("log.cleaner.io.buffer.load.factor", float)
    log_flush_offset_checkpoint_interval_ms = Setting("log.flush.offset.checkpoint.interval.ms", int)
    log_flush_scheduler_interval_ms = Setting("log.flush.scheduler.interval.ms", int)
    log_flush_start_offset_checkpoint_interval_ms = Setting("log.flush.start.offset.checkpoint.interval.ms", int)
    replica_high_watermark_checkpoint_interval_ms = Setting("replica.high.watermark.checkpoint.interval.ms", int)
    # Producers and transactions
    producer_id_expiration_ms = Setting("producer.id.expiration.ms", int)
    producer_id_expiration_check_interval_ms = Setting("producer.id.expiration.check.interval.ms", int)
    transaction_max_timeout_ms = Setting("transaction.max.timeout.ms", int)
    transaction_version = Setting("fauxka.transaction.version", int)
    transaction_abort_interval_ms = Setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", int)
    transaction_remove_expired_interval_ms = Setting("transaction.remove.expired.transaction.cleanup.interval.ms", int)
    transactional_id_expiration_ms = Setting("transactional.id.expiration.ms", int)
    # Groups
    group_initial_rebalance_delay_ms = Setting("group.initial.rebalance.delay.ms", int)
    group_min_session_timeout_ms = Setting("group.min.session.timeout.ms", int)
    group_max_session_timeout_ms = Setting("group.max.session.timeout.ms", int)
    group_max_size = Setting("group.max.size", int)
    offsets_retention_minutes = Setting("offsets.retention.minutes", int)
    offsets_retention_check_interval_ms = Setting("offsets.retention.check.interval.ms", int)
    offset_metadata_max_bytes = Setting("offset.metadata.max.bytes", int)
    # Groups of the consumer protocol
    group_consumer_assignment_interval_ms = Setting("group.consumer.assignment.interval.ms", int)
    group_consumer_min_assignment_interval_ms = Setting("group.consumer.min.assignment.interval.ms", int)
    group_consumer_max_assignment_interval_ms = Setting("group.consumer.max.assignment.interval.ms", int)
    group_consumer_heartbeat_interval_ms = Setting("group.consumer.heartbeat.interval.ms", int)
    group_consumer_min_heartbeat_interval_ms = Setting("group.consumer.min.heartbeat.interval.ms", int)
    group_consumer_max_heartbeat_interval_ms = Setting("group.consumer.max.heartbeat.interval.ms", int)
    group_consumer_session_timeout_ms = Setting("group.consumer.session.timeout.ms", int)
    group_consumer_min_session_timeout_ms = Setting("group.consumer.min.session.timeout.ms", int)
    group_consumer_max_session_timeout_ms = Setting("group.consumer.max.session.timeout.ms", int)
    group_consumer_max_size = Setting("group.consumer.max.size", int)
    group_consumer_migration_policy = Setting("group.consumer.migration.policy", str)
    group_consumer_regex_refresh_interval_ms = Setting("group.consumer.regex.refresh.interval.ms", int)
    # Ours
    busy_poll_us = Setting("fauxka.busy.poll.us", int)
    journal_requests_max = Setting("fauxka.journal.requests.max", int)
    record_validation = Setting("fauxka.record.validation", str)

    def __init__(self, entries: Mapping[str, str], values: Mapping[str, ConfigValue]) -> None:
        """Keep what from_entries read; use that."""
        self.entries = entries
        self._values = values

    @classmethod
    def from_entries(cls, entries: Mapping[str, str]) -> BrokerConfig:
        """Return the configuration that entries describe.

        Raises UnknownConfigKey for a key that neither Kafka nor we know, ConfigError for a value that Kafka refuses.
        A topic key (retention.ms) is not a broker key (log.retention.ms).
        """
        given = dict(entries)
        if "broker.id" in given:
            # The older name of the same thing (AbstractKafkaConfig.populateSynonyms).
            given.setdefault("node.id", given["broker.id"])
        return cls(given, {name: broker_key_of(name).parse(text) for name, text in given.items()})

    def with_entries(self, changes: Mapping[str, str | None]) -> BrokerConfig:
        """Return this configuration with changes; None takes a key back to its default. Raises as from_entries."""
        merged: dict[str, str | None] = {**self.entries, **changes}
        return BrokerConfig.from_entries({name: text for name, text in merged.items() if text is not None})

    def is_set(self, name: str) -> bool:
        """Whether the key was given."""
        return name in self._values

    def value_of(self, name: str) -> ConfigValue:
        """Return the value of a broker key, or its default; raises UnknownConfigKey."""
        if name in self._values:
            return self._values[name]
        return broker_key_of(name).default_value

    def list_of(self, name: str) -> list[str]:
        """Return the value of a broker key that is a list."""
        value = self.value_of(name)
        assert isinstance(value, list), f"{name} is {value!r}"
        return value

    @property
    def broker_rack(self) -> str | None:
        """The rack that Metadata tells, if any."""
        value = self.value_of("broker.rack")
        return value if isinstance(value, str) else None

    @property
    def log_directory(self) -> str:
        """The folder that DescribeLogDirs tells where there is no data folder; nothing is written there."""
        for value in (self.value_of("log.dirs"), self.value_of("log.dir")):
            if isinstance(value, list) and value:
                return value[0]
        raise AssertionError("log.dir has a default")


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


# Each with a least and a greatest value for single groups; read by coordinators.share_groups.settings.
_SHARE_GROUP_NAMES = (
    "assignment.interval.ms", "delivery.count.limit", "heartbeat.interval.ms", "partition.max.record.locks",
    "record.lock.duration.ms", "session.timeout.ms",
)  # fmt: skip
# Read by properties above, by coordinators, or before a broker is made.
READ_ELSEWHERE = {
    "advertised.listeners", "broker.id", "broker.rack", "group.consumer.assignors",
    "group.coordinator.rebalance.protocols", "listeners", "log.dir", "log.dirs",
    *(f"group.share.{bound}{name}" for name in _SHARE_GROUP_NAMES for bound in ("", "min.", "max.")),
    "group.share.max.share.sessions", "group.share.max.size",
    "share.coordinator.snapshot.update.records.per.snapshot",
}  # fmt: skip
# Topic keys that change nothing here: no log is replicated, and none is in remote storage.
TOPIC_KEYS_WITHOUT_EFFECT = frozenset({
    "follower.replication.throttled.replicas", "leader.replication.throttled.replicas",
    "local.retention.bytes", "local.retention.ms", "min.insync.replicas", "remote.log.copy.disable",
    "remote.log.delete.on.disable", "remote.storage.enable", "segment.jitter.ms", "unclean.leader.election.enable",
})  # fmt: skip


def keys_with_effect() -> frozenset[str]:
    """Return the broker keys that something here reads: the attributes above, and the defaults of topics."""
    own = {setting.name for setting in vars(BrokerConfig).values() if isinstance(setting, Setting)}
    topics = {
        synonym.name
        for name, key in TOPIC_KEYS.items()
        if name not in TOPIC_KEYS_WITHOUT_EFFECT
        for synonym in key.synonyms
    }
    return frozenset(own | topics | READ_ELSEWHERE)


assert TOPIC_KEYS.keys() >= TOPIC_KEYS_WITHOUT_EFFECT, "a topic key that Kafka does not have"
assert keys_with_effect() <= BROKER_KEYS.keys(), "an attribute of BrokerConfig names a key that Kafka does not have"
