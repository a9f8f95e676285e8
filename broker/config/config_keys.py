"""The config keys of each release: those of Kafka, and those of fauxka under "fauxka.".

1. config_table.py has the keys of the newest release. config_since.py and config_history.py have what differs in the
   others; they are loaded for a broker of another release only.
2. Clients and users can set the keys of their release, and see these. The broker itself reads every key of the newest
   release: a key that its release lacks has a fixed value (`ReleaseKeys.readable`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from typing import NamedTuple

from ...protocol.apis.api import DEFAULT_RELEASE, Release
from ...protocol.similar_names import find_similar
from .. import config
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

# The values of keys that server.properties must have in Kafka, where they are not set.
OWN_DEFAULTS = {"node.id": "1", "process.roles": "broker,controller", "controller.listener.names": "CONTROLLER"}


def keys_of(scope: Scope, rows: Iterable[config_table.Row]) -> dict[str, ConfigKey]:
    """Return the keys of table rows by name."""
    keys: dict[str, ConfigKey] = {}
    for name, type_name, default, validation, mode, synonyms, internal in rows:
        keys[name] = ConfigKey(
            scope=scope,
            name=name,
            config_type=ConfigType[type_name],
            default=default,
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


# The release of config_table.py, and its keys.
NEWEST_RELEASE: Release = (4, 4)
BROKER_KEYS = keys_of(Scope.BROKER, (*config_table.BROKER_ROWS, *OWN_ROWS, *AUTHORIZER_ROWS))
TOPIC_KEYS = keys_of(Scope.TOPIC, (*config_table.TOPIC_ROWS, *OWN_TOPIC_ROWS))
GROUP_KEYS = keys_of(Scope.GROUP, config_table.GROUP_ROWS)

# What a broker does whose release lacks the key, where it is not the default of the newest release.
_VALUES_OF_LACKED_KEYS = {"log.message.timestamp.after.max.ms": str(2**63 - 1)}
NODE_ID = "node.id"


class ReleaseKeys(NamedTuple):
    """The keys of one release, by name."""

    release: Release
    broker: Mapping[str, ConfigKey]
    topic: Mapping[str, ConfigKey]
    group: Mapping[str, ConfigKey]

    def broker_key_of(self, name: str) -> ConfigKey:
        """Return the broker key of that name. Raises UnknownConfigKey."""
        key = self.broker.get(name)
        if key is None:
            raise UnknownConfigKey(f"Unknown configuration {name}{self.hint_at_release(name)}")
        return key

    def topic_key_of(self, name: str) -> ConfigKey:
        """Return the topic key of that name. Raises UnknownConfigKey with Kafka's message (LogConfig.validateNames)."""
        key = self.topic.get(name)
        if key is None:
            raise UnknownConfigKey(f"Unknown topic config name: {name}")
        return key

    def find_broker_key(self, name: str) -> ConfigKey | None:
        """Return the broker key of that name, or None. listener.name.NAME.KEY is KEY of one listener."""
        return self.broker.get(base_name_of(name))

    def readable_broker_key(self, name: str) -> ConfigKey:
        """Return the broker key as the broker reads it, also if the release lacks it. Raises UnknownConfigKey."""
        found = self.broker.get(name)
        if found is None and name in BROKER_KEYS:
            key = BROKER_KEYS[name]
            found = key._replace(default=_VALUES_OF_LACKED_KEYS.get(name, key.default))
        if found is None:
            return self.broker_key_of(name)
        return found._replace(default=OWN_DEFAULTS[name]) if name in OWN_DEFAULTS else found

    def readable_topic_key(self, name: str) -> ConfigKey:
        """Return the topic key as the broker reads it, also if the release lacks it. Raises UnknownConfigKey."""
        return self.topic_key_of(name) if name in self.topic or name not in TOPIC_KEYS else TOPIC_KEYS[name]

    def find_similar_key(self, name: str) -> str | None:
        """Return the broker key that the user may have meant, or None; for a topic key, the one with its default."""
        if name in self.topic and self.topic[name].synonyms:
            return self.topic[name].synonyms[0].name
        return find_similar(name, self.broker)

    def hint_at_release(self, name: str) -> str:
        """Return the end of a message on an unknown broker key: in which releases it exists; "" if in none."""
        if name in self.broker:
            return ""
        spans = _releases_with("broker", name)
        if not spans:
            return ""
        first, last = (".".join(map(str, release)) for release in (spans[0], spans[-1]))
        return f": Kafka {'.'.join(map(str, self.release))} does not have it, Kafka {first} to {last} do"


def _releases_with(scope: str, name: str) -> list[Release]:
    return [
        release for release in config.config_since.RELEASES if any(row[0] == name for row in rows_of(scope, release))
    ]


_NEWEST_ROWS: Mapping[str, tuple[config_table.Row, ...]] = {
    "broker": config_table.BROKER_ROWS,
    "topic": config_table.TOPIC_ROWS,
    "group": config_table.GROUP_ROWS,
}
NEWEST_KEYS = ReleaseKeys(NEWEST_RELEASE, BROKER_KEYS, TOPIC_KEYS, GROUP_KEYS)


def rows_of(scope: str, release: Release) -> list[config_table.Row]:
    """Return the rows of Kafka's keys in a release, sorted by name. scope: "broker", "topic" or "group"."""
    since = config.config_since.SINCE[scope]
    rows = [row for row in _NEWEST_ROWS[scope] if since.get(row[0], release) <= release]
    rows += [row for first, last, row in config.config_history.EARLIER_ROWS[scope] if first <= release <= last]
    return sorted(rows, key=lambda row: row[0])


@cache
def keys_of_release(release: Release) -> ReleaseKeys:
    """Return the keys of a release. One before 2.1 has those of 2.1, one after the newest has those of the newest."""
    if release >= NEWEST_RELEASE:
        return NEWEST_KEYS
    known = max(release, config.config_since.RELEASES[0])
    broker = _keys_in(Scope.BROKER, BROKER_KEYS, known)
    # Before 2.8 the name was broker.id. The broker reads the new one in every release.
    broker.setdefault(NODE_ID, BROKER_KEYS[NODE_ID]._replace(is_internal=True))
    topic, group = _keys_in(Scope.TOPIC, TOPIC_KEYS, known), _keys_in(Scope.GROUP, GROUP_KEYS, known)
    return ReleaseKeys(release, broker, topic, group)


def _keys_in(scope: Scope, newest: Mapping[str, ConfigKey], release: Release) -> dict[str, ConfigKey]:
    """Return the keys of a release. newest: those of the newest one, most of which are the same."""
    since, rows = config.config_since.SINCE[scope.value], config.config_history.EARLIER_ROWS[scope.value]
    keys = {name: key for name, key in newest.items() if since.get(name, release) <= release}
    earlier = keys_of(scope, (row for first, last, row in rows if first <= release <= last))
    return dict(sorted((keys | earlier).items())) if earlier else keys


def default_keys() -> ReleaseKeys:
    """Return the keys of the release that a broker follows by default."""
    return keys_of_release(DEFAULT_RELEASE)


def base_name_of(name: str) -> str:
    """Return the key without the prefix of a listener, if it has one."""
    if not name.startswith(LISTENER_PREFIX):
        return name
    return name.removeprefix(LISTENER_PREFIX).partition(".")[2]
