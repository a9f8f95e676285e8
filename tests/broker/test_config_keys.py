"""Keys and values as Kafka 4.3.0 takes and refuses them.

config_values_4.3.0.jsonl was printed by programs/ConfigValues.java in a real Kafka's class path.
"""

import json
from pathlib import Path

import pytest

from fauxka.broker.config.broker_config import TOPIC_KEYS_WITHOUT_EFFECT, BrokerConfig, keys_with_effect
from fauxka.broker.config.config_documentation import documentation_of
from fauxka.broker.config.config_keys import (
    BROKER_KEYS,
    GROUP_KEYS,
    NEWEST_KEYS,
    NEWEST_RELEASE,
    TOPIC_KEYS,
    ConfigKey,
    ReleaseKeys,
    Scope,
    Synonym,
    keys_of_release,
)
from fauxka.broker.config.config_since import RELEASES
from fauxka.broker.config.config_types import ConfigError, ConfigType, UnknownConfigKey, java_text_of, text_of
from fauxka.broker.metadata.topic_config import log_config_of
from fauxka.protocol.apis.api import Release

from ..each_case import each_case

CAPTURED = Path(__file__).parent / "config_values_4.3.0.jsonl"
CASES: list[list[str]] = [json.loads(line) for line in CAPTURED.read_text().splitlines()]
ALL_KEYS = [*BROKER_KEYS.values(), *TOPIC_KEYS.values(), *GROUP_KEYS.values()]
KEYS_BY_RELEASE = [keys_of_release(release) for release in RELEASES]


# Of the groups' own keys without a synonym, those that the broker does not read.
GROUP_KEYS_WITHOUT_EFFECT = {"share.renew.acknowledge.enable"}


def name_of_key(key: ConfigKey) -> str:
    return f"{key.scope.value}-{key.name}"


@pytest.mark.parametrize(("scope", "name", "text", "verdict", "shown"), CASES)
def test_value_is_accepted_or_refused_with_kafkas_message(
    scope: str, name: str, text: str, verdict: str, shown: str
) -> None:
    key = (TOPIC_KEYS if scope == "topic" else BROKER_KEYS)[name]

    try:
        answer = ("ok", java_text_of(key.parse(text)))
    except ConfigError as error:
        answer = ("error", str(error))

    assert answer == (verdict, shown)


def name_of_release(keys: ReleaseKeys) -> str:
    return ".".join(map(str, keys.release))


@each_case(KEYS_BY_RELEASE, name_of_release)
def test_every_default_is_valid_for_its_key(keys: ReleaseKeys) -> None:
    for key in (*keys.broker.values(), *keys.topic.values(), *keys.group.values()):
        assert key.default is None or key.parse(key.default) == key.default_value, key.name


@each_case(KEYS_BY_RELEASE, name_of_release)
def test_every_synonym_is_a_broker_key(keys: ReleaseKeys) -> None:
    inheriting = (*keys.topic.values(), *keys.group.values())

    assert {synonym.name for key in inheriting for synonym in key.synonyms} <= keys.broker.keys()


def test_newest_release_is_the_one_of_the_table() -> None:
    assert RELEASES[-1] == NEWEST_RELEASE


@pytest.mark.parametrize(
    ("release", "default"), [((2, 1), "1000012"), ((2, 4), "1000012"), ((2, 5), "1048588"), ((4, 5), "1048588")]
)
def test_default_is_that_of_the_release(release: Release, default: str) -> None:
    assert keys_of_release(release).topic["max.message.bytes"].default == default


@pytest.mark.parametrize(
    ("name", "release", "releases"),
    [
        ("zookeeper.connect", (4, 3), "Kafka 4.3 does not have it, Kafka 2.1 to 3.9 do"),
        ("group.share.max.size", (2, 8), "Kafka 2.8 does not have it, Kafka 3.9 to 4.4 do"),
    ],
)
def test_key_of_another_release_is_refused_with_the_releases_that_have_it(
    name: str, release: Release, releases: str
) -> None:
    with pytest.raises(UnknownConfigKey, match=f"^Unknown configuration {name}: {releases}$"):
        BrokerConfig.from_entries({name: "1"}, keys_of_release(release))


def test_key_that_a_release_lacks_is_read_as_that_release_behaves() -> None:
    config = BrokerConfig.from_entries({"transactional.id.expiration.ms": "5"}, keys_of_release((2, 1)))

    assert config.producer_id_expiration_ms == 5
    assert log_config_of(config, {}).message_timestamp_after_max_ms == 2**63 - 1


def test_difference_of_timestamps_limits_both_directions_where_they_have_no_limit() -> None:
    entries = {"log.message.timestamp.difference.max.ms": "7", "log.message.timestamp.before.max.ms": "9"}

    log_config = log_config_of(BrokerConfig.from_entries(entries, keys_of_release((3, 9))), {})

    assert (log_config.message_timestamp_before_max_ms, log_config.message_timestamp_after_max_ms) == (9, 7)


@pytest.mark.parametrize(("text", "is_valid"), [("2.8", True), ("0.10.0-IV1", True), ("2.9", False), ("x", False)])
def test_message_format_is_a_version_up_to_the_release(text: str, is_valid: bool) -> None:
    key = keys_of_release((2, 8)).topic["message.format.version"]

    try:
        key.parse(text)
    except ConfigError as error:
        assert not is_valid and "is not a valid version" in str(error)
    else:
        assert is_valid


def test_synonyms_of_retention_ms_are_in_the_order_milliseconds_minutes_hours() -> None:
    assert TOPIC_KEYS["retention.ms"].synonyms == (
        Synonym("log.retention.ms", 1),
        Synonym("log.retention.minutes", 60_000),
        Synonym("log.retention.hours", 3_600_000),
    )


def test_only_passwords_are_sensitive() -> None:
    assert BROKER_KEYS["ssl.key.password"].is_sensitive
    assert not BROKER_KEYS["ssl.keystore.location"].is_sensitive


def test_unknown_topic_key_is_refused_with_kafkas_message() -> None:
    with pytest.raises(UnknownConfigKey, match=r"^Unknown topic config name: nope$"):
        NEWEST_KEYS.topic_key_of("nope")


def test_unknown_broker_key_is_refused() -> None:
    with pytest.raises(UnknownConfigKey, match="nope"):
        NEWEST_KEYS.broker_key_of("nope")


def test_number_of_more_digits_than_any_type_has_is_refused_without_being_read() -> None:
    with pytest.raises(ConfigError, match="Not a number of type LONG"):
        TOPIC_KEYS["retention.ms"].parse("9" * 100_000)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "true"),
        (None, None),
        (["a", "b"], "a,b"),
        (0.0005, "5.0E-4"),
        (12345678.5, "1.23456785E7"),
        (float("inf"), "Infinity"),
        (-2.0, "-2.0"),
    ],
)
def test_value_is_formatted_as_in_describe_configs(value: bool | float | list[str] | None, shown: str | None) -> None:
    assert text_of(value) == shown


def test_types_have_the_codes_of_describe_configs() -> None:
    assert [config_type.name for config_type in sorted(ConfigType)] == [
        "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD",
    ]  # fmt: skip


@each_case(ALL_KEYS, name_of_key)
def test_exactly_the_keys_with_an_effect_are_documented_in_one_line(key: ConfigKey) -> None:
    line = documentation_of(key)

    assert (line is not None) == has_effect(key)
    assert line is None or (line.endswith(".") and "\n" not in line and len(line) <= 200)


def has_effect(key: ConfigKey) -> bool:
    match key.scope:
        case Scope.TOPIC:
            return key.name not in TOPIC_KEYS_WITHOUT_EFFECT
        case Scope.BROKER:
            return key.name in keys_with_effect()
        case Scope.GROUP:
            is_read = not key.synonyms or key.synonyms[0].name in keys_with_effect()
            return is_read and key.name not in GROUP_KEYS_WITHOUT_EFFECT


def test_a_broker_key_in_hours_is_documented_with_its_unit() -> None:
    assert documentation_of(BROKER_KEYS["log.retention.hours"]) == (
        "The age at which records are deleted; -1 for no limit. In hours. For topics without retention.ms."
    )


def test_a_bound_for_groups_names_the_bounded_key() -> None:
    assert documentation_of(BROKER_KEYS["group.share.max.partition.max.record.locks"]) == (
        "The highest value of group.share.partition.max.record.locks, also for single groups."
    )
