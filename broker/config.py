"""The broker's configuration: Kafka's keys as text, read once, as typed attributes.

An attribute is a key that something here reads; a key without one is accepted, kept and shown, and has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar, overload

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

T = TypeVar("T")

__all__ = ["BrokerConfig", "ConfigError", "UnknownConfigKey", "keys_with_effect", "topic_default_of", "topic_value_of"]


class Setting(Generic[T]):
    """One key as an attribute; the value is kept in the instance at its first use."""

    def __init__(self, name: str, python_type: type[T]) -> None:
        """Tie the attribute to the key called name."""
        self.name = name
        self.python_type = python_type
        self.attribute = name.replace(".", "_")

    def __set_name__(self, owner: type, attribute: str) -> None:
        """Remember the attribute's name."""
        self.attribute = attribute

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...

    @overload
    def __get__(self, instance: BrokerConfig, owner: type) -> T: ...

    def __get__(self, instance: BrokerConfig | None, owner: type) -> T | Setting[T]:
        """Return the value; raises ConfigError never, as every value was read when the configuration was made."""
        if instance is None:
            return self
        value = instance.value_of(self.name)
        assert isinstance(value, self.python_type), f"{self.name} is {value!r}"
        # Found before this descriptor from now on, as it defines no __set__.
        vars(instance)[self.attribute] = value
        return value


class BrokerConfig:
    """What a broker was told. Not changed after it was made: a dynamic change makes a new one (with_entries)."""

    # Identity and limits of the server
    node_id = Setting("node.id", int)
    socket_request_max_bytes = Setting("socket.request.max.bytes", int)
    connections_max_idle_ms = Setting("connections.max.idle.ms", int)
    max_connections = Setting("max.connections", int)
    max_connections_per_ip = Setting("max.connections.per.ip", int)
    fetch_max_bytes = Setting("fetch.max.bytes", int)
    max_incremental_fetch_session_cache_slots = Setting("max.incremental.fetch.session.cache.slots", int)
    # Topics
    num_partitions = Setting("num.partitions", int)
    default_replication_factor = Setting("default.replication.factor", int)
    auto_create_topics_enable = Setting("auto.create.topics.enable", bool)
    delete_topic_enable = Setting("delete.topic.enable", bool)
    max_request_partition_size_limit = Setting("max.request.partition.size.limit", int)
    log_retention_check_interval_ms = Setting("log.retention.check.interval.ms", int)
    message_max_bytes = Setting("message.max.bytes", int)
    # Producers and transactions
    producer_id_expiration_ms = Setting("producer.id.expiration.ms", int)
    producer_id_expiration_check_interval_ms = Setting("producer.id.expiration.check.interval.ms", int)
    transactional_id_expiration_ms = Setting("transactional.id.expiration.ms", int)
    transaction_max_timeout_ms = Setting("transaction.max.timeout.ms", int)
    transaction_state_log_num_partitions = Setting("transaction.state.log.num.partitions", int)
    transaction_abort_timed_out_transaction_cleanup_interval_ms = Setting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", int
    )
    transaction_remove_expired_transaction_cleanup_interval_ms = Setting(
        "transaction.remove.expired.transaction.cleanup.interval.ms", int
    )
    transaction_partition_verification_enable = Setting("transaction.partition.verification.enable", bool)
    # Groups
    group_initial_rebalance_delay_ms = Setting("group.initial.rebalance.delay.ms", int)
    group_min_session_timeout_ms = Setting("group.min.session.timeout.ms", int)
    group_max_session_timeout_ms = Setting("group.max.session.timeout.ms", int)
    group_max_size = Setting("group.max.size", int)
    offsets_retention_minutes = Setting("offsets.retention.minutes", int)
    offsets_retention_check_interval_ms = Setting("offsets.retention.check.interval.ms", int)
    offset_metadata_max_bytes = Setting("offset.metadata.max.bytes", int)
    offsets_topic_num_partitions = Setting("offsets.topic.num.partitions", int)
    # Ours
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

    @property
    def broker_rack(self) -> str | None:
        """The rack that Metadata tells, if any."""
        value = self.value_of("broker.rack")
        return value if isinstance(value, str) else None

    @property
    def log_directory(self) -> str:
        """The folder that DescribeLogDirs tells; nothing is written there."""
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


# Read by properties above, or before a broker is made.
READ_ELSEWHERE = {"advertised.listeners", "broker.id", "broker.rack", "listeners", "log.dir", "log.dirs"}


def keys_with_effect() -> frozenset[str]:
    """Return the broker keys that something here reads: the attributes above, and the defaults of topics."""
    own = {setting.name for setting in vars(BrokerConfig).values() if isinstance(setting, Setting)}
    topics = {synonym.name for key in TOPIC_KEYS.values() for synonym in key.synonyms}
    return frozenset(own | topics | READ_ELSEWHERE)


assert keys_with_effect() <= BROKER_KEYS.keys(), "an attribute of BrokerConfig names a key that Kafka does not have"
