"""Kafka's configs as a test gives them: texts, and numbers and booleans that are written as Kafka writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ..broker.config.config_keys import LISTENER_PREFIX, ReleaseKeys
from ..broker.config.config_sources import refuse_unknown
from ..broker.config.config_types import ConfigError, text_of

# A value of a config in Python. A list is a list of texts.
ConfigEntry = str | bool | int | float | list[str]


def config_entries(config: Mapping[str, ConfigEntry] | None, keys: ReleaseKeys) -> dict[str, str]:
    """Return the text of each config: "true" for True, "3" for 3, "a,b" for ["a", "b"].

    keys: those of the broker's release.
    Raises UnknownConfigKey for a key that does not exist, ConfigError for a value of another type.
    """
    given = cast("object", config)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"config: expected a dict of Kafka's keys, got {_shown(given)}")
    return {_key(name, keys): _text(name, value) for name, value in cast("Mapping[object, object]", given).items()}


def _key(name: object, keys: ReleaseKeys) -> str:
    if not isinstance(name, str):
        raise ConfigError(f"config: expected Kafka's keys as texts, got the key {_shown(name)}")
    if not name.startswith(LISTENER_PREFIX):
        refuse_unknown(name, keys)
    return name


def _text(name: object, value: object) -> str:
    shown = _shown(value)
    items = cast("list[object]", value) if isinstance(value, list) else []
    texts = [item for item in items if isinstance(item, str)]
    if isinstance(value, list) and len(texts) == len(items):
        return ",".join(texts)
    if not isinstance(value, str | bool | int | float):
        allowed = "a text, a number, a boolean or a list of texts"
        raise ConfigError(f"Invalid value {shown} for configuration {name}: expected {allowed}")
    text = text_of(value)
    assert text is not None, "only None has no text"
    return text


def _shown(value: object) -> str:
    return f"{value!r:.80} ({type(value).__name__})"
