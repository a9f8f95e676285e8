"""What logs keep to, worked out once for all topics that have the same configs, which most topics have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .topic_config import log_config_of

if TYPE_CHECKING:
    from ...storage.log_config import LogConfig
    from ..config.broker_config import BrokerConfig

# What was worked out is forgotten when so many kinds of topics were met.
KEPT_MAX = 1_000


class LogConfigs:
    """What logs keep to, by what their topics have set."""

    __slots__ = ("_config", "_kept")

    def __init__(self, config: BrokerConfig) -> None:
        """Know none. config: what holds where a topic has nothing set."""
        self._config = config
        self._kept: dict[frozenset[tuple[str, str]], LogConfig] = {}

    def of(self, config: BrokerConfig, overrides: Mapping[str, str]) -> LogConfig:
        """Return what the logs of a topic with overrides keep to. Raises ConfigError, see log_config_of."""
        if config is not self._config or len(self._kept) >= KEPT_MAX:
            self._kept.clear()
            self._config = config
        key = frozenset(overrides.items())
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = log_config_of(config, overrides)
        return found
