"""All config keys: those of Kafka, and those of fauxka under "fauxka."."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from ...protocol.similar_names import find_similar
from . import config_table
from .config_types import ConfigType, ConfigValue, UnknownConfigKey, parse_value
from .config_validators import check_value

# Keys of single listeners: see broker/security/listener_keys.
LISTENER_PREFIX = "listener.name."


class Scope(Enum):
    """The kind of resource that a key configures."""

    BROKER = "broker"
    TOPIC = "topic"
    GROUP = "group"


class Synonym(NamedTuple):
    """A broker key with the default of a topic or group key.

    factor: one unit of the broker key in units of the other key (log.retention.hours for retention.ms: 3600000).
    """

    name: str
    factor: int


class ConfigKey(NamedTuple):
    """The definition of one key. A tuple, because start-up creates hundreds of them.

    default: as text; None if Kafka has none.
    validation: a rule of config_validators.
    dynamic_mode: of broker keys: "read-only", "per-broker" or "cluster-wide".
    synonyms: of topic and group keys: the broker keys with the default, in the order of precedence.
    is_internal: DescribeConfigs leaves the key out.
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
        """Whether DescribeConfigs returns null for the value."""
        return self.config_type is ConfigType.PASSWORD

    def parse(self, text: str) -> ConfigValue:
        """Return the parsed and validated value. Raises ConfigError."""
        value = parse_value(self.name, self.config_type, text)
        if isinstance(value, list):
            # Kafka removes duplicates, with a warning in its log (ConfigDef.parseValue).
            value = list(dict.fromkeys(value))
        check_value(self.name, value, self.validation)
        return value

    @property
    def default_value(self) -> ConfigValue:
        """The default, parsed."""
        return None if self.default is None else parse_value(self.name, self.config_type, self.default)


# The keys of fauxka.
OWN_ROWS: tuple[config_table.Row, ...] = (
    # How long the broker polls for the next request before it sleeps.
    ("fauxka.busy.poll.us", "LONG", "200", "range 0 10000", "read-only", "", False),
    ("fauxka.journal.bytes.max", "LONG", "104857600", "range 0 1099511627776", "read-only", "", False),
    ("fauxka.journal.requests.max", "LONG", "10000", "range 1 10000000", "read-only", "", False),
    # full: check every record of a batch, as Kafka does; batch: check the batch header only, which is faster.
    ("fauxka.record.validation", "STRING", "full", "in full,batch", "read-only", "", False),
    # A floor for the time of each response, for tests that need the latency of a network.
    ("fauxka.response.delay.ms", "LONG", "0", "range 0 60000", "read-only", "", False),
    # The level of the feature transaction.version; Kafka sets it when its storage is formatted.
    ("fauxka.transaction.version", "INT", "2", "range 0 2", "read-only", "", False),
)

# The topic keys of fauxka. DescribeConfigs returns them for topics that set them, as Kafka does with internal keys.
OWN_TOPIC_ROWS: tuple[config_table.Row, ...] = (
    # The records of a topic whose fauxka.records is generated.
    ("fauxka.generated.batch.records", "INT", "1000", "range 1 10000", "read-only", "", True),
    ("fauxka.generated.keys", "INT", "100", "range 0 10000", "read-only", "", True),
    ("fauxka.generated.records", "LONG", "1000000000000", "range 1 1000000000000000", "read-only", "", True),
    ("fauxka.generated.value.bytes", "INT", "100", "range 0 10000", "read-only", "", True),
    # discarded: batches are validated and acknowledged, and deleted at once. generated: any offset has a made record.
    ("fauxka.records", "STRING", "stored", "in stored,discarded,generated", "read-only", "", True),
)
OWN_PREFIX = "fauxka."

# The keys that Kafka hands to its StandardAuthorizer, and does not describe.
AUTHORIZER_ROWS: tuple[config_table.Row, ...] = (
    ("allow.everyone.if.no.acl.found", "BOOLEAN", "false", "", "read-only", "", True),
    ("super.users", "STRING", "", "", "read-only", "", True),
)

# Defaults for keys that Kafka requires in server.properties.
OWN_DEFAULTS = {"node.id": "1", "process.roles": "broker,controller", "controller.listener.names": "CONTROLLER"}


def keys_of(scope: Scope, rows: Iterable[config_table.Row]) -> dict[str, ConfigKey]:
    """Return the keys of table rows by name."""
    keys: dict[str, ConfigKey] = {}
    for name, type_name, default, validation, mode, synonyms, internal in rows:
        keys[name] = ConfigKey(
            scope=scope,
            name=name,
            config_type=ConfigType[type_name],
            default=OWN_DEFAULTS.get(name, default),
            validation=validation,
            dynamic_mode=mode,
            synonyms=tuple(synonym_of(text) for text in synonyms.split()),
            is_internal=internal,
        )
    return keys


def synonym_of(text: str) -> Synonym:
    """Parse a synonym, such as "log.roll.hours*3600000"."""
    name, _, factor = text.partition("*")
    return Synonym(name, int(factor))


BROKER_KEYS = keys_of(Scope.BROKER, (*config_table.BROKER_ROWS, *OWN_ROWS, *AUTHORIZER_ROWS))
TOPIC_KEYS = keys_of(Scope.TOPIC, (*config_table.TOPIC_ROWS, *OWN_TOPIC_ROWS))
GROUP_KEYS = keys_of(Scope.GROUP, config_table.GROUP_ROWS)


def broker_key_of(name: str) -> ConfigKey:
    """Return the broker key of that name. Raises UnknownConfigKey."""
    key = BROKER_KEYS.get(name)
    if key is None:
        raise UnknownConfigKey(f"Unknown configuration {name}")
    return key


def find_broker_key(name: str) -> ConfigKey | None:
    """Return the broker key of that name, or None. listener.name.NAME.KEY is KEY of one listener."""
    return BROKER_KEYS.get(base_name_of(name))


def base_name_of(name: str) -> str:
    """Return the key without the prefix of a listener, if it has one."""
    if not name.startswith(LISTENER_PREFIX):
        return name
    return name.removeprefix(LISTENER_PREFIX).partition(".")[2]


def find_similar_key(name: str) -> str | None:
    """Return the broker key that the user may have meant, or None; for a topic key, the one with its default."""
    if name in TOPIC_KEYS and TOPIC_KEYS[name].synonyms:
        return TOPIC_KEYS[name].synonyms[0].name
    return find_similar(name, BROKER_KEYS)


def topic_key_of(name: str) -> ConfigKey:
    """Return the topic key of that name. Raises UnknownConfigKey with Kafka's message (LogConfig.validateNames)."""
    key = TOPIC_KEYS.get(name)
    if key is None:
        raise UnknownConfigKey(f"Unknown topic config name: {name}")
    return key
