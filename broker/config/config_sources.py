"""Where the broker's configuration comes from: a properties file, the environment, the command line; the later wins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .broker_config import BrokerConfig, keys_with_effect
from .config_keys import BROKER_KEYS, TOPIC_KEYS, ConfigError, UnknownConfigKey

ENVIRONMENT_PREFIX = "KAFKA_"
# What the Kafka image reads for its scripts and its Java machine, and does not hand to the broker.
# Source: KafkaDockerWrapper.ExcludeServerPropsEnv and the image's scripts, Kafka 4.3.0.
IMAGE_VARIABLES = frozenset({
    "KAFKA_VERSION", "KAFKA_HOME", "KAFKA_HEAP_OPTS", "KAFKA_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_DEBUG",
    "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_JMX_OPTS", "KAFKA_JMX_PORT", "KAFKA_JMX_HOSTNAME",
    "KAFKA_LOG4J_OPTS", "KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_LOG4J_LOGGERS", "KAFKA_LOG4J_CMD_OPTS",
    "KAFKA_TOOLS_LOG4J_LOGLEVEL",
})  # fmt: skip
# Keys of one listener, of plug-ins: Kafka takes any that start so.
FREE_PREFIXES = ("listener.name.", "config.providers.", "rlmm.config.", "rsm.config.")
UNDERSCORES_MEAN = {1: ".", 2: "_", 3: "-"}


class GatheredConfig(NamedTuple):
    """A configuration, and what the user should be told about how it came to be, a line each."""

    config: BrokerConfig
    notes: list[str]


def gather_config(
    file_entries: Mapping[str, str], environment: Mapping[str, str], assignments: Sequence[str]
) -> GatheredConfig:
    """Return the configuration that the three sources make.

    assignments: "key=value" each, from the command line.
    Raises ConfigError, in one line, for an unknown key of the file or the command line and for any value that Kafka
    refuses. An unknown key of the environment is a note: images and orchestrators set many.
    """
    notes: list[str] = []
    from_file = without_free_keys(file_entries, notes)
    from_environment = known_entries(environment_entries(environment), notes)
    from_command_line = without_free_keys(dict(assignment_of(text) for text in assignments), notes)
    for name in (*from_file, *from_command_line):
        refuse_unknown(name)
    config = BrokerConfig.from_entries({**from_file, **from_environment, **from_command_line})
    idle = sorted(config.entries.keys() - keys_with_effect())
    if idle:
        notes.append(f"accepted, and without effect here: {', '.join(idle)}")
    return GatheredConfig(config, notes)


def assignment_of(text: str) -> tuple[str, str]:
    """Return key and value of "key=value"; raises ConfigError."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise ConfigError(f"expected key=value, got {text!r}")
    return name.strip(), value


def environment_entries(environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the keys that the environment sets, each with the variable's name and its value."""
    entries: dict[str, tuple[str, str]] = {}
    for variable, value in environment.items():
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in IMAGE_VARIABLES:
            entries[key_of_variable(variable)] = (variable, value)
    return entries


def key_of_variable(variable: str) -> str:
    """Return the key that a variable of the Kafka image stands for.

    KAFKA_LOG_RETENTION_MS is log.retention.ms; two underscores are one underscore, three are a dash.
    """
    name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
    return re.sub(r"_+", lambda run: UNDERSCORES_MEAN.get(len(run.group()), run.group()), name)


def known_entries(entries: Mapping[str, tuple[str, str]], notes: list[str]) -> dict[str, str]:
    """Return the entries that Kafka knows, with a note on each of the others."""
    for name, (variable, _) in entries.items():
        if name not in BROKER_KEYS:
            notes.append(f"ignored {variable} of the environment: Kafka has no key {name}")
    return {name: value for name, (_, value) in entries.items() if name in BROKER_KEYS}


def without_free_keys(entries: Mapping[str, str], notes: list[str]) -> dict[str, str]:
    """Return the entries without those of plug-ins and of single listeners, with a note on each of these."""
    for name in entries:
        if name.startswith(FREE_PREFIXES):
            notes.append(f"accepted, and without effect here: {name}")
    return {name: value for name, value in entries.items() if not name.startswith(FREE_PREFIXES)}


def refuse_unknown(name: str) -> None:
    """Raise UnknownConfigKey, with what may have been meant, if Kafka has no broker key of that name."""
    if name in BROKER_KEYS:
        return
    hint = likeliest_key(name)
    raise UnknownConfigKey(f"unknown configuration key {name}" + (f" (is {hint} meant?)" if hint else ""))


def likeliest_key(name: str) -> str | None:
    """Return the key that the user may have meant."""
    if name in TOPIC_KEYS and TOPIC_KEYS[name].synonyms:
        return TOPIC_KEYS[name].synonyms[0].name
    # Loaded only for the message: its import is a tenth of the start.
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, BROKER_KEYS, n=1)), None)
