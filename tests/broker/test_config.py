"""Broker configs, and the topic configs that inherit from them."""

import re
from pathlib import Path

import pytest

from fauxka.broker.config.broker_config import TOPIC_KEYS_WITHOUT_EFFECT, BrokerConfig, Setting, keys_with_effect
from fauxka.broker.config.config_keys import TOPIC_KEYS
from fauxka.broker.config.config_types import ConfigError, UnknownConfigKey
from fauxka.broker.metadata.topic_config import log_config_of, topic_value_of, validate_topic_configs
from fauxka.protocol.batches.record_batch import Compression, TimestampType
from fauxka.storage.log_config import CleanupPolicy, LogConfig, RecordValidation

DEFAULTS = BrokerConfig.from_entries({})


def test_without_entries_everything_is_as_kafka_has_it() -> None:
    assert DEFAULTS.num_partitions == 1
    assert DEFAULTS.auto_create_topics_enable is True
    assert DEFAULTS.socket_request_max_bytes == 104_857_600
    assert DEFAULTS.log_directory == "/tmp/kafka-logs"
    assert DEFAULTS.broker_rack is None


def test_entry_replaces_the_default() -> None:
    config = BrokerConfig.from_entries({"num.partitions": "3", "broker.rack": "a", "log.dirs": "/x,/y"})

    assert config.num_partitions == 3
    assert config.broker_rack == "a"
    assert config.log_directory == "/x"


def test_broker_id_is_an_older_name_of_node_id() -> None:
    assert BrokerConfig.from_entries({"broker.id": "7"}).node_id == 7
    assert BrokerConfig.from_entries({"broker.id": "7", "node.id": "8"}).node_id == 8


def test_unknown_key_is_refused() -> None:
    with pytest.raises(UnknownConfigKey, match=r"num\.partition$"):
        BrokerConfig.from_entries({"num.partition": "3"})


def test_topic_key_is_not_a_broker_key() -> None:
    with pytest.raises(UnknownConfigKey):
        BrokerConfig.from_entries({"retention.ms": "3"})


def test_value_that_kafka_refuses_is_refused_at_once() -> None:
    with pytest.raises(
        ConfigError, match=r"^Invalid value 0 for configuration num\.partitions: Value must be at least 1$"
    ):
        BrokerConfig.from_entries({"num.partitions": "0"})


def test_change_makes_a_new_configuration_and_leaves_the_old_one_alone() -> None:
    before = BrokerConfig.from_entries({"message.max.bytes": "100", "num.partitions": "3"})

    after = before.with_entries({"message.max.bytes": "200", "num.partitions": None})

    assert (before.value_of("message.max.bytes"), before.num_partitions) == (100, 3)
    assert (after.value_of("message.max.bytes"), after.num_partitions) == (200, 1)
    assert not after.is_set("num.partitions")


def test_key_without_effect_is_kept() -> None:
    config = BrokerConfig.from_entries({"num.io.threads": "3"})

    assert config.value_of("num.io.threads") == 3
    assert "num.io.threads" not in keys_with_effect()


def test_log_of_a_topic_without_settings_is_as_kafka_has_it() -> None:
    assert log_config_of(DEFAULTS, {}) == LogConfig()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({}, 604_800_000),
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.ms": "-1"}, -1),
    ],
)
def test_retention_comes_from_the_finest_unit_that_is_set(entries: dict[str, str], expected: int) -> None:
    assert log_config_of(BrokerConfig.from_entries(entries), {}).retention_ms == expected


def test_setting_of_the_topic_goes_before_the_broker() -> None:
    config = BrokerConfig.from_entries({"message.max.bytes": "100", "compression.type": "gzip"})

    log_config = log_config_of(config, {"max.message.bytes": "200"})

    assert log_config.max_message_bytes == 200
    assert log_config.compression_type is Compression.GZIP


def test_string_configs_of_a_topic_become_enums_of_its_log_config() -> None:
    overrides = {
        "cleanup.policy": "compact,delete",
        "compression.type": "uncompressed",
        "message.timestamp.type": "LogAppendTime",
        "unclean.leader.election.enable": "true",
        "internal.segment.bytes": "100",
    }

    log_config = log_config_of(BrokerConfig.from_entries({"fauxka.record.validation": "batch"}), overrides)

    assert log_config == LogConfig(
        cleanup_policies=frozenset(CleanupPolicy),
        compression_type=Compression.NONE,
        message_timestamp_type=TimestampType.LOG_APPEND_TIME,
        unclean_leader_election_enable=True,
        segment_bytes=100,
        record_validation=RecordValidation.BATCH,
    )


def test_topic_key_without_a_broker_key_has_its_own_default() -> None:
    assert topic_value_of(DEFAULTS, {}, "remote.storage.enable") is False


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"nope": "1"}, "Unknown topic config name: nope"),
        ({"retention.ms": "x"}, "Invalid value x for configuration retention.ms: Not a number of type LONG"),
        ({"retention.ms": None, "flush.ms": None}, "Null value not supported for topic configs: flush.ms,retention.ms"),
        (
            {"min.compaction.lag.ms": "100", "max.compaction.lag.ms": "10"},
            "conflict topic config setting min.compaction.lag.ms (100) > max.compaction.lag.ms (10)",
        ),
    ],
)
def test_invalid_topic_configs_are_refused_with_kafkas_message(overrides: dict[str, str | None], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        validate_topic_configs(DEFAULTS, overrides)

    assert str(raised.value) == message


def test_topic_settings_that_kafka_takes_pass() -> None:
    validate_topic_configs(DEFAULTS, {"retention.ms": "-1", "cleanup.policy": "compact"})


def product_source() -> str:
    """Return the source of all modules that may read configs, except the modules that define them."""
    root = Path(__file__).resolve().parent.parent.parent
    paths = [path for part in ("admin", "broker", "storage") for path in (root / part).rglob("*.py")]
    makers = ("config.py", "log_config.py", "topic_config.py")
    return "".join(path.read_text() for path in paths if path.name not in makers)


SOURCE = product_source()


@pytest.mark.parametrize(
    "attribute", [name for name, value in vars(BrokerConfig).items() if isinstance(value, Setting)]
)
def test_every_attribute_of_the_configuration_is_read_somewhere(attribute: str) -> None:
    is_read_by_log_config_of = attribute in ("producer_id_expiration_ms", "record_validation")

    assert is_read_by_log_config_of or re.search(rf"\.{attribute}\b", SOURCE)


@pytest.mark.parametrize("name", sorted(TOPIC_KEYS))
def test_documented_effect_of_a_topic_key_is_right(name: str) -> None:
    names = {
        "cleanup.policy": r"is_compacted|is_deleting",
        "errors.deadletterqueue.group.enable": "dead_letter_topic",
        "fauxka.generated.batch.records": "batch_records",
        "fauxka.generated.keys": "keys",
        "fauxka.generated.records": "count",
        "fauxka.generated.value.bytes": "value_bytes",
        "fauxka.records": "records",
        "internal.segment.bytes": "segment_bytes",
    }
    attribute = names.get(name, name.replace(".", "_"))

    is_read = re.search(rf"\.({attribute})\b", SOURCE) is not None

    assert is_read == (name not in TOPIC_KEYS_WITHOUT_EFFECT)
