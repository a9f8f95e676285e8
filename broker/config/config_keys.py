"""Every configuration key that is known here: Kafka's own, and ours under "fauxka."."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from . import config_table
from .config_types import ConfigError, ConfigType, ConfigValue, UnknownConfigKey, parse_value
from .config_validators import check_value


class Scope(Enum):
    """Whom a key configures."""

    BROKER = "broker"
    TOPIC = "topic"
    GROUP = "group"


class Synonym(NamedTuple):
    """A broker key that a topic or group key takes its default from.

    factor: what one unit of it is worth in the key's own (log.retention.hours for retention.ms: 3600000).
    """

    name: str
    factor: int


class ConfigKey(NamedTuple):
    """What is known of one key; a tuple, because hundreds are made while a broker starts.

    default: as text; None where Kafka has none.
    validation: a rule of config_validators.
    dynamic_mode: "read-only", "per-broker" or "cluster-wide", for broker keys.
    synonyms: for topic and group keys, the broker keys asked for a default, first to last.
    is_internal: Kafka does not show the key in DescribeConfigs.
    """

    scope: Scope
    name: str
    config_type: ConfigType
    default: str | None
    validation: str
    dynamic_mode: str
    synonyms: tuple[Synonym, ...]
    is_internal: bool

    @property
    def is_sensitive(self) -> bool:
        """Whether DescribeConfigs keeps the value to itself."""
        return self.config_type is ConfigType.PASSWORD

    def parse(self, text: str) -> ConfigValue:
        """Return the value that text stands for; raises ConfigError."""
        value = parse_value(self.name, self.config_type, text)
        if self.name == "cleanup.policy" and isinstance(value, list):
            # Kafka forgives a repeated policy of a topic, and of nothing else (LogConfig).
            value = list(dict.fromkeys(value))
        check_value(self.name, value, self.validation)
        return value

    @property
    def default_value(self) -> ConfigValue:
        """The default, parsed."""
        return None if self.default is None else parse_value(self.name, self.config_type, self.default)


# Ours, where Kafka has no word for it.
OWN_ROWS: tuple[config_table.Row, ...] = (
    # How long after a request the broker looks for the next one before it sleeps, while they come closer than that.
    ("fauxka.busy.poll.us", "LONG", "200", "range 0 10000", "read-only", "", False),
    ("fauxka.journal.requests.max", "LONG", "10000", "range 1 10000000", "read-only", "", False),
    # full: every record of a batch is checked as Kafka does; batch: the header is trusted, which is faster.
    ("fauxka.record.validation", "STRING", "full", "in full,batch", "read-only", "", False),
    # The level of the feature transaction.version, which Kafka is given when its storage is formatted.
    ("fauxka.transaction.version", "INT", "2", "range 0 2", "read-only", "", False),
)

# Keys without a default in Kafka, where a broker that just starts needs one.
DEFAULTS_OF_OURS = {"node.id": "1", "process.roles": "broker,controller", "controller.listener.names": "CONTROLLER"}


def keys_of(scope: Scope, rows: Iterable[config_table.Row]) -> dict[str, ConfigKey]:
    """Return the keys of table rows by their name."""
    keys: dict[str, ConfigKey] = {}
    for name, type_name, default, validation, mode, synonyms, internal in rows:
        keys[name] = ConfigKey(
            scope=scope,
            name=name,
            config_type=ConfigType[type_name],
            default=DEFAULTS_OF_OURS.get(name, default),
            validation=validation,
            dynamic_mode=mode,
            synonyms=tuple(synonym_of(text) for text in synonyms.split()),
            is_internal=internal,
        )
    return keys


def synonym_of(text: str) -> Synonym:
    """Return the synonym that "log.roll.hours*3600000" stands for."""
    name, _, factor = text.partition("*")
    return Synonym(name, int(factor))


BROKER_KEYS = keys_of(Scope.BROKER, (*config_table.BROKER_ROWS, *OWN_ROWS))
TOPIC_KEYS = keys_of(Scope.TOPIC, config_table.TOPIC_ROWS)
GROUP_KEYS = keys_of(Scope.GROUP, config_table.GROUP_ROWS)


def broker_key_of(name: str) -> ConfigKey:
    """Return the broker key called name; raises UnknownConfigKey."""
    key = BROKER_KEYS.get(name)
    if key is None:
        raise UnknownConfigKey(f"Unknown configuration {name}")
    return key


def topic_key_of(name: str) -> ConfigKey:
    """Return the topic key called name; raises UnknownConfigKey with Kafka's words (LogConfig.validateNames)."""
    key = TOPIC_KEYS.get(name)
    if key is None:
        raise UnknownConfigKey(f"Unknown topic config name: {name}")
    return key


__all__ = [
    "BROKER_KEYS",
    "GROUP_KEYS",
    "TOPIC_KEYS",
    "ConfigError",
    "ConfigKey",
    "ConfigType",
    "ConfigValue",
    "Scope",
    "Synonym",
    "UnknownConfigKey",
    "broker_key_of",
    "topic_key_of",
]
