"""The broker's configuration: Kafka's keys, parsed once, as typed attributes.

An attribute is a key with an effect. A key without an attribute is accepted, stored and described, without an effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar, overload

from ...protocol.apis.api import Release
from .config_keys import BROKER_KEYS, NODE_ID, TOPIC_KEYS, ReleaseKeys, default_keys, keys_of_release
from .config_types import ConfigType, ConfigValue, parse_value
from .connection_overrides import check_connection_limits

T = TypeVar("T")


class Setting(Generic[T]):
    """A descriptor that reads one broker key. The instance caches the value at its first use."""

    def __init__(self, name: str, python_type: type[T]) -> None:
        """name: the broker key. python_type: the type of its value; a key without a default cannot be a Setting."""
        self.name = name
        self._python_type = python_type
        self._attribute = ""

    def __set_name__(self, owner: type, attribute: str) -> None:
        """Store the name under which the instance caches the value."""
        self._attribute = attribute

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...

    @overload
    def __get__(self, instance: BrokerConfig, owner: type) -> T: ...

    def __get__(self, instance: BrokerConfig | None, owner: type) -> T | Setting[T]:
        """Return the value, or the descriptor itself for the class."""
        if instance is None:
            return self
        value = instance.value_of(self.name)
        assert isinstance(value, self._python_type), f"{self.name} is {value!r}"
        # Without a __set__ the instance attribute takes precedence over this descriptor from now on.
        vars(instance)[self._attribute] = value
        return value


class BrokerConfig:
    """The configs of a broker. Immutable: a dynamic change creates a new one (`with_entries`)."""

    # Identity and request limits
    node_id = Setting("node.id", int)
    socket_request_max_bytes = Setting("socket.request.max.bytes", int)
    sasl_server_max_receive_size = Setting("sasl.server.max.receive.size", int)
    authorizer_class_name = Setting("authorizer.class.name", str)
    super_users = Setting("super.users", str)
    allow_everyone_if_no_acl_found = Setting("allow.everyone.if.no.acl.found", bool)
    delegation_token_max_lifetime_ms = Setting("delegation.token.max.lifetime.ms", int)
    delegation_token_expiry_time_ms = Setting("delegation.token.expiry.time.ms", int)
    delegation_token_expiry_check_interval_ms = Setting("delegation.token.expiry.check.interval.ms", int)
    fetch_max_bytes = Setting("fetch.max.bytes", int)
    max_incremental_fetch_session_cache_slots = Setting("max.incremental.fetch.session.cache.slots", int)
    # Connections
    socket_listen_backlog_size = Setting("socket.listen.backlog.size", int)
    connections_max_idle_ms = Setting("connections.max.idle.ms", int)
    connection_failed_authentication_delay_ms = Setting("connection.failed.authentication.delay.ms", int)
    max_connections = Setting("max.connections", int)
    max_connections_per_ip = Setting("max.connections.per.ip", int)
    max_connections_per_ip_overrides = Setting("max.connections.per.ip.overrides", str)
    quota_window_num = Setting("quota.window.num", int)
    quota_window_size_seconds = Setting("quota.window.size.seconds", int)
    controller_quota_window_num = Setting("controller.quota.window.num", int)
    controller_quota_window_size_seconds = Setting("controller.quota.window.size.seconds", int)
    # Topics
    num_partitions = Setting("num.partitions", int)
    default_replication_factor = Setting("default.replication.factor", int)
    auto_create_topics_enable = Setting("auto.create.topics.enable", bool)
    delete_topic_enable = Setting("delete.topic.enable", bool)
    max_request_partition_size_limit = Setting("max.request.partition.size.limit", int)
    log_retention_check_interval_ms = Setting("log.retention.check.interval.ms", int)
    # Logs on disk
    log_cleaner_backoff_ms = Setting("log.cleaner.backoff.ms", int)
    log_cleaner_dedupe_buffer_size = Setting("log.cleaner.dedupe.buffer.size", int)
    log_cleaner_enable = Setting("log.cleaner.enable", bool)
    log_cleaner_io_buffer_load_factor = Setting("log.cleaner.io.buffer.load.factor", float)
    log_flush_offset_checkpoint_interval_ms = Setting("log.flush.offset.checkpoint.interval.ms", int)
    log_flush_scheduler_interval_ms = Setting("log.flush.scheduler.interval.ms", int)
    log_flush_start_offset_checkpoint_interval_ms = Setting("log.flush.start.offset.checkpoint.interval.ms", int)
    # Replicas and brokers
    auto_leader_rebalance_enable = Setting("auto.leader.rebalance.enable", bool)
    broker_session_timeout_ms = Setting("broker.session.timeout.ms", int)
    leader_imbalance_check_interval_seconds = Setting("leader.imbalance.check.interval.seconds", int)
    offsets_commit_timeout_ms = Setting("offsets.commit.timeout.ms", int)
    request_timeout_ms = Setting("request.timeout.ms", int)
    replica_lag_time_max_ms = Setting("replica.lag.time.max.ms", int)
    replica_high_watermark_checkpoint_interval_ms = Setting("replica.high.watermark.checkpoint.interval.ms", int)
    # Producers and transactions
    producer_id_expiration_ms = Setting("producer.id.expiration.ms", int)
    producer_id_expiration_check_interval_ms = Setting("producer.id.expiration.check.interval.ms", int)
    transaction_max_timeout_ms = Setting("transaction.max.timeout.ms", int)
    transaction_partition_verification_enable = Setting("transaction.partition.verification.enable", bool)
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
    group_consumer_max_size = Setting("group.consumer.max.size", int)
    group_consumer_migration_policy = Setting("group.consumer.migration.policy", str)
    group_consumer_regex_refresh_interval_ms = Setting("group.consumer.regex.refresh.interval.ms", int)
    # Keys of fauxka
    busy_poll_us = Setting("fauxka.busy.poll.us", int)
    journal_bytes_max = Setting("fauxka.journal.bytes.max", int)
    journal_requests_max = Setting("fauxka.journal.requests.max", int)
    record_validation = Setting("fauxka.record.validation", str)
    response_delay_ms = Setting("fauxka.response.delay.ms", int)

    def __init__(self, entries: Mapping[str, str], values: Mapping[str, ConfigValue], keys: ReleaseKeys) -> None:
        """Use from_entries. entries: the text of each key that is set. values: the same, parsed.

        keys: those of the broker's release.
        """
        self.entries = entries
        self._values = values
        self.keys = keys

    def __deepcopy__(self, memo: object) -> BrokerConfig:
        """Return the configs themselves, because they never change."""
        return self

    @classmethod
    def from_entries(cls, entries: Mapping[str, str], keys: ReleaseKeys | None = None) -> BrokerConfig:
        """Parse entries: the text of each broker key. A topic key (retention.ms) is not a broker key.

        keys: those of the broker's release; of the default release by default.
        Raises UnknownConfigKey for a key that neither the release nor fauxka has, ConfigError for a value that Kafka
        refuses.
        """
        keys = keys or default_keys()
        given = dict(entries)
        if "broker.id" in given:
            # The older name of node.id (AbstractKafkaConfig.populateSynonyms).
            given.setdefault(NODE_ID, given["broker.id"])
        values = {name: keys.broker_key_of(name).parse(text) for name, text in given.items()}
        check_connection_limits(values.get("max.connections.per.ip"), values.get("max.connections.per.ip.overrides"))
        return cls(given, values, keys)

    def with_entries(self, changes: Mapping[str, str | None]) -> BrokerConfig:
        """Return these configs with changes; None resets a key to its default. Raises as from_entries."""
        merged: dict[str, str | None] = {**self.entries, **changes}
        return BrokerConfig.from_entries({name: text for name, text in merged.items() if text is not None}, self.keys)

    def in_release(self, release: Release) -> BrokerConfig:
        """Return these configs with the keys of a release. Raises as from_entries."""
        keys = keys_of_release(release)
        return self if keys is self.keys else BrokerConfig.from_entries(self.entries, keys)

    def is_set(self, name: str) -> bool:
        """Return whether the key is set explicitly."""
        return name in self._values

    def value_of(self, name: str) -> ConfigValue:
        """Return the value of a broker key, or its default; raises UnknownConfigKey.

        A key of the newest release that this release lacks has the value of a broker without it.
        """
        if name in self._values:
            return self._values[name]
        if name not in self.keys.broker and name in _EARLIER_NAMES:
            return self.value_of(_EARLIER_NAMES[name])
        return self.keys.readable_broker_key(name).default_value

    def list_of(self, name: str) -> list[str]:
        """Return the value of a broker key that is a list, or that is one since a later release."""
        value = self.value_of(name)
        if isinstance(value, str):
            value = parse_value(name, ConfigType.LIST, value)
        assert isinstance(value, list), f"{name} is {value!r}"
        return value

    @property
    def broker_rack(self) -> str | None:
        """The rack in Metadata responses, or None."""
        value = self.value_of("broker.rack")
        return value if isinstance(value, str) else None

    @property
    def inter_broker_listener_name(self) -> str | None:
        """The name of the listener between brokers, in upper case, or None."""
        value = self.value_of("inter.broker.listener.name")
        return value.upper() if isinstance(value, str) else None

    @property
    def delegation_token_secret_key(self) -> str | None:
        """The key of the HMACs of delegation tokens; None if there are no delegation tokens."""
        value = self.value_of("delegation.token.secret.key")
        return value if isinstance(value, str) and value else None

    @property
    def log_directory(self) -> str:
        """The folder that DescribeLogDirs returns without a data folder. Nothing is written there."""
        names = ("log.dirs", "log.dir")
        folders = next((found for name in names if self.value_of(name) and (found := self.list_of(name))), None)
        assert folders is not None, "log.dir has a default"
        return folders[0]


# The key that had the meaning of another one until that came.
_EARLIER_NAMES = {"producer.id.expiration.ms": "transactional.id.expiration.ms"}
# Each has a minimum and a maximum for the configs of single groups; coordinators/group/protocol_settings.py reads them.
_LIMITED_NAMES = (
    *(
        f"{protocol}.{{}}{name}"
        for protocol in ("consumer", "share", "streams")
        for name in ("assignment.interval.ms", "heartbeat.interval.ms", "session.timeout.ms")
    ),
    "share.{}delivery.count.limit", "share.{}partition.max.record.locks", "share.{}record.lock.duration.ms",
)  # fmt: skip
# Read by coordinators/streams/settings.py.
_STREAMS_GROUP_KEYS = (
    "group.streams.acceptable.recovery.lag", "group.streams.initial.rebalance.delay.ms", "group.streams.max.size",
    "group.streams.max.standby.replicas", "group.streams.min.task.offset.interval.ms",
    "group.streams.num.standby.replicas", "group.streams.rack.aware.assignment.tags",
    "group.streams.task.offset.interval.ms",
)  # fmt: skip
# Read by security/listener_security.py, for all listeners or for one.
_LISTENER_KEYS = (
    "connections.max.reauth.ms", "sasl.enabled.mechanisms",
    "sasl.oauthbearer.clock.skew.seconds", "sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms", "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name", "ssl.client.auth", "ssl.enabled.protocols",
    "ssl.key.password", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location",
    "ssl.keystore.password", "ssl.keystore.type", "ssl.principal.mapping.rules", "ssl.truststore.certificates",
    "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type",
)  # fmt: skip
# The end of each key of one listener with an effect: listener.name.NAME.KEY, or listener.name.NAME.MECHANISM.KEY.
_MECHANISM_KEYS = (
    "oauthbearer.sasl.jaas.config", "oauthbearer.sasl.server.callback.handler.class", "plain.sasl.jaas.config",
)  # fmt: skip
_ENDS_OF_LISTENER_KEYS = tuple(f".{key}" for key in (*_LISTENER_KEYS, *_MECHANISM_KEYS))
# Read by the properties above, by the coordinators, or before the broker is created.
READ_ELSEWHERE = {
    "advertised.listeners", "broker.id", "broker.rack", "delegation.token.secret.key", "group.consumer.assignors",
    "group.coordinator.rebalance.protocols", "inter.broker.listener.name", "listeners", "log.dir", "log.dirs",
    *(f"group.{name.format(bound)}" for name in _LIMITED_NAMES for bound in ("", "min.", "max.")),
    *_STREAMS_GROUP_KEYS,
    "errors.deadletterqueue.auto.create.topics.enable", "errors.deadletterqueue.topic.name.prefix",
    "controller.listener.names", "group.share.max.share.sessions", "group.share.max.size",
    "offsets.topic.num.partitions", "offsets.topic.replication.factor", "offsets.topic.segment.bytes",
    "replica.selector.class", "security.inter.broker.protocol", "share.coordinator.state.topic.min.isr",
    "share.coordinator.state.topic.num.partitions", "share.coordinator.state.topic.replication.factor",
    "share.coordinator.state.topic.segment.bytes", "ssl.allow.dn.changes", "ssl.allow.san.changes",
    "transaction.state.log.min.isr", "transaction.state.log.num.partitions",
    "transaction.state.log.replication.factor", "transaction.state.log.segment.bytes",
    "share.coordinator.snapshot.update.records.per.snapshot",
    "listener.security.protocol.map", *_LISTENER_KEYS,
}  # fmt: skip
# Keys of earlier releases with an effect.
_EARLIER_KEYS_WITH_EFFECT = frozenset({"log.message.timestamp.difference.max.ms"})
# Topic keys without an effect: no replication is throttled, and no log is in remote storage.
TOPIC_KEYS_WITHOUT_EFFECT = frozenset({
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas", "local.retention.bytes", "local.retention.ms",
    "remote.copy.lag.bytes", "remote.copy.lag.ms", "remote.log.copy.disable",
    "remote.log.delete.on.disable", "remote.storage.enable", "segment.jitter.ms",
})  # fmt: skip


def has_effect_on_listener(name: str) -> bool:
    """Return whether a key that begins with listener.name. has an effect."""
    return name.endswith(_ENDS_OF_LISTENER_KEYS)


def keys_with_effect() -> frozenset[str]:
    """Return the broker keys with an effect: the attributes above and the defaults of topic keys."""
    own = {setting.name for setting in vars(BrokerConfig).values() if isinstance(setting, Setting)}
    topics = {
        synonym.name
        for name, key in TOPIC_KEYS.items()
        if name not in TOPIC_KEYS_WITHOUT_EFFECT
        for synonym in key.synonyms
    }
    return frozenset(own | topics | READ_ELSEWHERE | _EARLIER_KEYS_WITH_EFFECT)


assert TOPIC_KEYS.keys() >= TOPIC_KEYS_WITHOUT_EFFECT, "a topic key that Kafka does not have"
assert keys_with_effect() - _EARLIER_KEYS_WITH_EFFECT <= BROKER_KEYS.keys(), (
    "an attribute of BrokerConfig names a key that Kafka does not have"
)
