"""Reads the broker's configs from a properties file, the environment and the command line; the later source wins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .broker_config import BrokerConfig, has_effect_on_listener, keys_with_effect
from .config_keys import LISTENER_PREFIX, ReleaseKeys, default_keys
from .config_types import ConfigError, UnknownConfigKey
from .environment_variables import KAFKA_PREFIX, is_service_link, reason_to_ignore, unknown_key_warning

# Variables for the scripts and the JVM of the Kafka image. They are not broker configs.
# Source: KafkaDockerWrapper.ExcludeServerPropsEnv and the image's scripts, Kafka 4.3.0.
IMAGE_VARIABLES = frozenset({
    "KAFKA_VERSION", "KAFKA_HOME", "KAFKA_HEAP_OPTS", "KAFKA_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_DEBUG",
    "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_JMX_OPTS", "KAFKA_JMX_PORT", "KAFKA_JMX_HOSTNAME",
    "KAFKA_LOG4J_OPTS", "KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_LOG4J_LOGGERS", "KAFKA_LOG4J_CMD_OPTS",
    "KAFKA_TOOLS_LOG4J_LOGLEVEL",
})  # fmt: skip
# Keys of plug-ins: Kafka accepts any key with these prefixes.
PLUG_IN_PREFIXES = ("config.providers.", "rlmm.config.", "rsm.config.")
SEPARATORS = {1: ".", 2: "_", 3: "-"}


class GatheredConfig(NamedTuple):
    """The configs, and lines for the log: notes on keys without an effect, warnings on variables that set nothing.

    of_listeners: the entries of single listeners, whose keys begin with listener.name.
    """

    config: BrokerConfig
    notes: list[str]
    warnings: list[str]
    of_listeners: dict[str, str]


def gather_config(
    file_entries: Mapping[str, str],
    environment: Mapping[str, str],
    assignments: Sequence[str],
    keys: ReleaseKeys | None = None,
) -> GatheredConfig:
    """Merge the three sources.

    assignments: "key=value" each, from the command line. keys: those of the broker's release; of the default release
    by default.
    Raises ConfigError, in one line, for an unknown key of the file or the command line, and for any value that Kafka
    refuses. An unknown key of the environment is a warning, because images and orchestrators set many.
    """
    keys = keys or default_keys()
    notes: list[str] = []
    warnings: list[str] = []
    from_file = without_plug_in_keys(file_entries, notes)
    from_environment = known_entries(environment_entries(environment), keys, notes, warnings)
    from_command_line = without_plug_in_keys(dict(assignment_of(text) for text in assignments), notes)
    entries = {**from_file, **from_environment, **from_command_line}
    of_listeners = take_listener_entries(entries)
    for name in entries:
        refuse_unknown(name, keys)
    config = BrokerConfig.from_entries(entries, keys)
    idle_of_listeners = (name for name in of_listeners if not has_effect_on_listener(name))
    idle = sorted([*(config.entries.keys() - keys_with_effect()), *idle_of_listeners])
    if idle:
        notes.append(f"accepted, and without effect here: {', '.join(idle)}")
    return GatheredConfig(config, notes, warnings, of_listeners)


def take_listener_entries(entries: dict[str, str]) -> dict[str, str]:
    """Take the keys of single listeners, which begin with listener.name., out of the entries and return them."""
    return {name: entries.pop(name) for name in list(entries) if name.startswith(LISTENER_PREFIX)}


def assignment_of(text: str) -> tuple[str, str]:
    """Return key and value of "key=value". Raises ConfigError."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise ConfigError(f"expected key=value, got {text!r}")
    return name.strip(), value


def environment_entries(environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the variable's name and value of each key that the environment sets."""
    entries: dict[str, tuple[str, str]] = {}
    for variable, value in environment.items():
        if variable.startswith(KAFKA_PREFIX) and variable not in IMAGE_VARIABLES:
            entries[key_of_variable(variable)] = (variable, value)
    return entries


def key_of_variable(variable: str) -> str:
    """Return the key that a variable of the Kafka image sets: log.retention.ms for KAFKA_LOG_RETENTION_MS.

    Two underscores are one underscore in the key, three are a dash.
    """
    name = variable.removeprefix(KAFKA_PREFIX).lower()
    return re.sub(r"_+", lambda run: SEPARATORS.get(len(run.group()), run.group()), name)


def known_entries(
    entries: Mapping[str, tuple[str, str]], keys: ReleaseKeys, notes: list[str], warnings: list[str]
) -> dict[str, str]:
    """Return the entries with known keys.

    Add a warning for each of the others, unless it has another reason than a mistake; then a note.
    """
    for name, (variable, value) in entries.items():
        if name in keys.broker or name.startswith(LISTENER_PREFIX):
            continue
        if name.startswith(PLUG_IN_PREFIXES):
            notes.append(f"accepted, and without effect here: {name}")
        elif is_service_link(variable, value):
            notes.append(f"ignored {variable} of the environment: Kafka has no key {name}")
        elif reason := reason_to_ignore(name):
            notes.append(f"ignored {variable} of the environment: {name} is {reason}")
        else:
            warnings.append(unknown_key_warning(variable, name, keys))
    return {
        name: value for name, (_, value) in entries.items() if name in keys.broker or name.startswith(LISTENER_PREFIX)
    }


def without_plug_in_keys(entries: Mapping[str, str], notes: list[str]) -> dict[str, str]:
    """Return the entries without those of plug-ins. Add a note for each of these."""
    for name in entries:
        if name.startswith(PLUG_IN_PREFIXES):
            notes.append(f"accepted, and without effect here: {name}")
    return {name: value for name, value in entries.items() if not name.startswith(PLUG_IN_PREFIXES)}


def refuse_unknown(name: str, keys: ReleaseKeys | None = None) -> None:
    """Raise UnknownConfigKey, with the likeliest correction, if there is no broker key of that name.

    keys: see gather_config.
    """
    keys = keys or default_keys()
    if name in keys.broker:
        return
    of_another = keys.hint_at_release(name)
    similar = None if of_another else keys.find_similar_key(name)
    hint = f"; did you mean {similar}?" if similar else ""
    raise UnknownConfigKey(f"unknown configuration key {name}{of_another}{hint}")
