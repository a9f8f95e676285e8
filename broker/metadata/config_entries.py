"""The entries of DescribeConfigs responses: value, source and synonyms of each key.

Source: ConfigHelper, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from itertools import dropwhile

from ...protocol.messages.describe_configs import DescribeConfigsResourceResult, DescribeConfigsSynonym
from .. import config
from ..config import broker_loggers
from ..config.config_keys import ConfigKey, ReleaseKeys, base_name_of
from ..config.config_resources import ResourceType
from ..config.config_types import ConfigType, ConfigValue, text_of
from ..config.dynamic_configs import UNITS_BY_KEY, NodeConfigs
from .topic_config import topic_value_of


class ConfigSource(IntEnum):
    """The source of a value (DescribeConfigsResponse.ConfigSource)."""

    TOPIC = 1
    BROKER = 2
    DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


# The first releases that return a key as read-only if only its other units can be changed, and that return the broker
# keys with the default of a group key.
_FIRST_WITH_READ_ONLY_UNITS = (2, 4)
_FLUSH_SCHEDULER = "log.flush.scheduler.interval.ms"
_FIRST_WITH_SYNONYMS_OF_GROUP_KEYS = (4, 3)
# The config type of an unknown key.
TYPE_UNKNOWN = 0
# The keys of client metrics subscriptions, with type and default.
CLIENT_METRICS_KEYS = {
    "interval.ms": (ConfigType.INT, "300000"),
    "match": (ConfigType.LIST, ""),
    "metrics": (ConfigType.LIST, ""),
}


def synonyms_of(configs: NodeConfigs, name: str, *, is_sensitive: bool = False) -> list[DescribeConfigsSynonym]:
    """Return the values of a broker key and of its other units, in the order of precedence.

    A key without a value has no synonyms, even if the same setting in a coarser unit has one.
    """
    names = UNITS_BY_KEY.get(name) or tuple(dict.fromkeys((name, base_name_of(name))))
    keys = configs.keys.broker
    defaults = {each: keys[each].default for each in names if each in keys}
    layers: tuple[tuple[Mapping[str, str | None], ConfigSource], ...] = (
        (configs.broker_configs, ConfigSource.BROKER),
        (configs.default_broker_configs, ConfigSource.DEFAULT_BROKER),
        (configs.static_texts(), ConfigSource.STATIC_BROKER),
        (defaults, ConfigSource.DEFAULT),
    )
    found = [
        DescribeConfigsSynonym(name=each, value=None if is_sensitive else texts[each], source=source)
        for texts, source in layers
        for each in names
        if texts.get(each) is not None
    ]
    return list(dropwhile(lambda synonym: synonym.name != name, found))


def _entry(
    name: str,
    value: ConfigValue,
    synonyms: list[DescribeConfigsSynonym],
    key: ConfigKey | None,
    *,
    read_only: bool = False,
) -> DescribeConfigsResourceResult:
    # The value of an unknown key may be a secret.
    is_sensitive = key is None or key.is_sensitive
    return DescribeConfigsResourceResult(
        name=name,
        value=None if is_sensitive else text_of(value),
        read_only=read_only,
        config_source=synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        is_sensitive=is_sensitive,
        synonyms=synonyms,
        config_type=TYPE_UNKNOWN if key is None else key.config_type,
        documentation=None,
    )


def topic_entries(configs: NodeConfigs, overrides: Mapping[str, str]) -> Iterable[DescribeConfigsResourceResult]:
    """Return the entries of a topic. configs: those of the broker. overrides: the topic's own."""
    for key in configs.keys.topic.values():
        if key.is_internal and key.name not in overrides:
            continue
        value = topic_value_of(configs.current, overrides, key.name)
        synonyms = synonyms_of(configs, key.synonyms[0].name) if key.synonyms else []
        if key.name in overrides:
            own = DescribeConfigsSynonym(name=key.name, value=text_of(value), source=ConfigSource.TOPIC)
            synonyms.insert(0, own)
        yield _entry(key.name, value, synonyms, key)


def broker_entries(configs: NodeConfigs, bound: Mapping[str, str]) -> Iterable[DescribeConfigsResourceResult]:
    """Return the entries of a broker, including unknown keys that were set dynamically.

    bound: the values of the listener keys as the broker has bound them, whatever their configured values are.
    """
    config = configs.current
    for key in configs.keys.broker.values():
        if key.is_internal:
            continue
        synonyms = synonyms_of(configs, key.name, is_sensitive=key.is_sensitive)
        value = config.node_id if key.name == "broker.id" else config.value_of(key.name)
        if key.name in bound:
            synonyms = _with_static_value(synonyms, key.name, bound[key.name])
            value = synonyms[0].value
        yield _entry(key.name, value, synonyms, key, read_only=_is_read_only(configs.keys, key))
    others = {**configs.listener_entries, **configs.default_broker_configs, **configs.broker_configs}
    for name in others.keys() - configs.keys.broker.keys():
        # A key of one listener is the only one of these that Kafka knows.
        listener_key = configs.keys.find_broker_key(name)
        is_sensitive = listener_key is None or listener_key.is_sensitive
        synonyms = synonyms_of(configs, name, is_sensitive=is_sensitive)
        yield _entry(name, synonyms[0].value, synonyms, listener_key, read_only=True)


def _is_read_only(keys: ReleaseKeys, key: ConfigKey) -> bool:
    """Whether a broker key cannot be changed dynamically; before 2.4, nor the same setting in a finer unit."""
    names: tuple[str, ...] = (key.name,)
    if keys.release < _FIRST_WITH_READ_ONLY_UNITS and key.name != _FLUSH_SCHEDULER:
        names = UNITS_BY_KEY.get(key.name, names)
    return all(keys.broker[name].dynamic_mode == "read-only" for name in names)


def _with_static_value(synonyms: list[DescribeConfigsSynonym], name: str, value: str) -> list[DescribeConfigsSynonym]:
    """Return the synonyms with another static value: after the dynamic values, before the default."""
    static = DescribeConfigsSynonym(name=name, value=value, source=ConfigSource.STATIC_BROKER)
    dynamic = [each for each in synonyms if each.source < ConfigSource.STATIC_BROKER]
    return [*dynamic, static, *(each for each in synonyms if each.source > ConfigSource.STATIC_BROKER)]


def add_documentation(keys: ReleaseKeys, resource_type: int, entries: Iterable[DescribeConfigsResourceResult]) -> None:
    """Add the line on its effect to each entry whose key has one. Other resource types have no documented keys."""
    by_resource_type: Mapping[int, Mapping[str, ConfigKey]] = {
        ResourceType.TOPIC: keys.topic,
        ResourceType.BROKER: keys.broker,
        ResourceType.GROUP: keys.group,
    }
    documented = by_resource_type.get(resource_type, {})
    for entry in entries:
        key = documented.get(entry.name)
        entry.documentation = None if key is None else config.config_documentation.documentation_of(key)


def default_broker_entries(configs: NodeConfigs) -> Iterable[DescribeConfigsResourceResult]:
    """Return the entries of the default broker resource: the dynamic configs of all brokers."""
    for name, text in configs.default_broker_configs.items():
        key = configs.keys.broker.get(name)
        is_sensitive = key is None or key.is_sensitive
        synonyms = [
            synonym
            for synonym in synonyms_of(configs, name, is_sensitive=is_sensitive)
            if synonym.source == ConfigSource.DEFAULT_BROKER
        ]
        yield _entry(name, text, synonyms, key, read_only=key is None or key.dynamic_mode == "read-only")


def group_entries(configs: NodeConfigs, overrides: Mapping[str, str]) -> Iterable[DescribeConfigsResourceResult]:
    """Return the entries of a group. As in Kafka, the group need not exist. overrides: the group's own configs."""
    for key in configs.keys.group.values():
        if key.is_internal and key.name not in overrides:
            continue
        default = configs.current.value_of(key.synonyms[0].name) if key.synonyms else key.default_value
        value = key.parse(overrides[key.name]) if key.name in overrides else default
        if key.synonyms and configs.keys.release >= _FIRST_WITH_SYNONYMS_OF_GROUP_KEYS:
            synonyms = synonyms_of(configs, key.synonyms[0].name)
        else:
            synonyms = [DescribeConfigsSynonym(name=key.name, value=text_of(default), source=ConfigSource.DEFAULT)]
        if key.name in overrides:
            own = DescribeConfigsSynonym(name=key.name, value=text_of(value), source=ConfigSource.GROUP)
            synonyms.insert(0, own)
        yield _entry(key.name, value, synonyms, key)


def client_metrics_entries(overrides: Mapping[str, str]) -> Iterable[DescribeConfigsResourceResult]:
    """Return the entries of a client metrics subscription with its own configs. It has no effect here."""
    for name, (config_type, default) in CLIENT_METRICS_KEYS.items():
        text = overrides.get(name, default)
        source = ConfigSource.CLIENT_METRICS if name in overrides else ConfigSource.DEFAULT
        yield DescribeConfigsResourceResult(
            name=name,
            value=text,
            config_source=source,
            synonyms=[DescribeConfigsSynonym(name=name, value=text, source=source)] if name in overrides else [],
            config_type=config_type,
            documentation=None,
        )


def logger_entries() -> Iterable[DescribeConfigsResourceResult]:
    """Return the entries of the broker's loggers."""
    for name, level in broker_loggers.levels().items():
        yield DescribeConfigsResourceResult(name=name, value=level, config_source=ConfigSource.BROKER_LOGGER)


def effective_topic_configs(
    configs: NodeConfigs, overrides: Mapping[str, str]
) -> Iterable[tuple[str, str | None, ConfigSource]]:
    """Return name, unparsed value and source of every key of a topic, for CreateTopics.

    configs: those of the controller. overrides: the topic's own.
    Source: KafkaConfigSchema.resolveEffectiveTopicConfigs, Kafka 4.3.0.
    """
    layers = (
        (configs.broker_configs, ConfigSource.BROKER),
        (configs.default_broker_configs, ConfigSource.DEFAULT_BROKER),
        (configs.static.entries, ConfigSource.STATIC_BROKER),
    )
    for key in configs.keys.topic.values():
        if key.name in overrides:
            yield key.name, overrides[key.name], ConfigSource.TOPIC
        elif not key.is_internal:
            yield _inherited(key, layers)


def _inherited(
    key: ConfigKey, layers: tuple[tuple[Mapping[str, str], ConfigSource], ...]
) -> tuple[str, str | None, ConfigSource]:
    for texts, source in layers:
        for synonym in key.synonyms:
            if synonym.name in texts:
                return key.name, _convert_unit(texts[synonym.name], synonym.factor), source
    return key.name, text_of(key.default_value), ConfigSource.DEFAULT


def _convert_unit(text: str, factor: int) -> str:
    return text if factor == 1 else str(int(text) * factor)
