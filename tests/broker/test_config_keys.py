"""Keys and values as Kafka 4.3.0 takes and refuses them.

config_values_4.3.0.jsonl was printed by programs/ConfigValues.java in a real Kafka's class path.
"""

import json
from pathlib import Path

import pytest

from fauxka.broker.config.broker_config import TOPIC_KEYS_WITHOUT_EFFECT, keys_with_effect
from fauxka.broker.config.config_documentation import documentation_of
from fauxka.broker.config.config_keys import (
    BROKER_KEYS,
    GROUP_KEYS,
    TOPIC_KEYS,
    ConfigKey,
    Scope,
    Synonym,
    broker_key_of,
    topic_key_of,
)
from fauxka.broker.config.config_types import ConfigError, ConfigType, UnknownConfigKey, java_text_of, text_of

from ..each_case import each_case

CAPTURED = Path(__file__).parent / "config_values_4.3.0.jsonl"
CASES: list[list[str]] = [json.loads(line) for line in CAPTURED.read_text().splitlines()]
ALL_KEYS = [*BROKER_KEYS.values(), *TOPIC_KEYS.values(), *GROUP_KEYS.values()]


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


@each_case(ALL_KEYS, name_of_key)
def test_every_default_is_valid_for_its_key(key: ConfigKey) -> None:
    assert key.default is None or key.parse(key.default) == key.default_value


@each_case([*TOPIC_KEYS.values(), *GROUP_KEYS.values()], name_of_key)
def test_every_synonym_is_a_broker_key(key: ConfigKey) -> None:
    assert [synonym.name for synonym in key.synonyms if synonym.name not in BROKER_KEYS] == []


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
        topic_key_of("nope")


def test_unknown_broker_key_is_refused() -> None:
    with pytest.raises(UnknownConfigKey, match="nope"):
        broker_key_of("nope")


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
            # Of the share groups' own keys, the broker does not read this one.
            is_read = not key.synonyms or key.synonyms[0].name in keys_with_effect()
            return is_read and key.name != "share.renew.acknowledge.enable"


def test_a_broker_key_in_hours_is_documented_with_its_unit() -> None:
    assert documentation_of(BROKER_KEYS["log.retention.hours"]) == (
        "The age at which records are deleted; -1 for no limit. In hours. For topics without retention.ms."
    )


def test_a_bound_for_groups_names_the_bounded_key() -> None:
    assert documentation_of(BROKER_KEYS["group.share.max.partition.max.record.locks"]) == (
        "The highest value of group.share.partition.max.record.locks, also for single groups."
    )
